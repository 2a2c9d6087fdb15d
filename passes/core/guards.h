// SPDX-License-Identifier: Apache-2.0
// The conditions that the driver checks for every rewrite rule.
#ifndef HALFTONE_PASSES_CORE_GUARDS_H_
#define HALFTONE_PASSES_CORE_GUARDS_H_

#include <string>

#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "passes/core/rewrite_rule.h"
#include "passes/core/rule_schedule.h"

namespace halftone {

// Describes a use of the value other than its one expected consumer; "" if there is none. Control edges do not count:
// the driver handles them.
std::string OtherNeed(const Graph& graph, ValueId value);

// "" if the match may be applied, else the reason. A match is refused if
//   - an intermediate value (of any matched node except the results) has a consumer outside the match or is an output,
//   - the device of a matched node differs from that of the root,
//   - a matched node has control edges, unless `rule` makes one node to which they can move (control_edges.h),
//   - the plan gives the matched nodes that compute (not those that only move values) different precisions.
// `schedule` is the graph's, or nullptr.
std::string GuardAgainst(const Graph& graph, const RewriteRule& rule, const Match& match, const PrecisionPlan* plan,
                         const RuleSchedule* schedule);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_GUARDS_H_
