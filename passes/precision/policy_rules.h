// SPDX-License-Identifier: Apache-2.0
// The rules of a policy for single nodes, independent of the planner: by op, name or regular expression, and for the
// first and last layers.
#ifndef HALFTONE_PASSES_PRECISION_POLICY_RULES_H_
#define HALFTONE_PASSES_PRECISION_POLICY_RULES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "ir/target.h"

namespace halftone {

// A rule applies to the nodes that match all its conditions; the first rule that matches a node decides. Precisions are
// ordered: 8 bits < 16 bits (kBFloat16, kFloat16) < kFloat32. Either 16-bit type means the 16-bit type of the plan.
struct PolicyRule {
  std::string op;                     // canonical ("conv") or as spelled in the format ("Conv", "Conv2D"); "": any
  std::string name;                   // the whole name; "": any
  std::string match;                  // ECMAScript regular expression for the whole name; "": any
  std::optional<DataType> precision;  // exactly this
  std::optional<DataType> min_precision;  // the lowest allowed: a lower plan is raised to it
  std::optional<DataType> max_precision;  // the highest allowed: a higher plan is reduced to it
};

struct PolicyRules {
  std::vector<PolicyRule> nodes;
  bool keep_first = false;  // contractions and recurrent layers without a preceding one stay f32
  bool keep_last = false;   // those without a following one
  bool empty() const { return nodes.empty() && !keep_first && !keep_last; }
};

// The origin of a planned graph: a rule also matches the name and op of the imported node from which a node was made.
struct Ancestry {
  const Graph* graph = nullptr;      // the imported graph; nullptr: the planned graph itself
  std::map<NodeId, NodeId> origins;  // for nodes of the planned graph: the node in `graph`
};

// INVALID_ARGUMENT names the rule: an invalid regular expression, no condition, no precision, a min_precision above the
// max_precision, a type that is not a precision.
absl::Status CheckPolicyRules(const PolicyRules& rules);

// Edits `plan` of `graph` for a variant of `type` and returns the number of changed decisions. Applies keep_first and
// keep_last, then the rules, which override them. A node that is not a layer and reads only nodes that became f32 by
// this becomes f32 as well; both ends of a loop edge keep one type. If a node cannot have the precision of its rule
// (precision_obstacle.h), it stays f32, with the reason in its decision and in `warnings`. A rule that matches no node
// is a warning. Errors: those of CheckPolicyRules.
absl::StatusOr<int> ApplyPolicyRules(const Graph& graph, const Target& target, const PolicyRules& rules, DataType type,
                                     const Ancestry& ancestry, PrecisionPlan& plan, std::vector<std::string>& warnings);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_POLICY_RULES_H_
