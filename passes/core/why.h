// SPDX-License-Identifier: Apache-2.0
// Why rules did not change nodes: queries each rule again on the final graph.
#ifndef HALFTONE_PASSES_CORE_WHY_H_
#define HALFTONE_PASSES_CORE_WHY_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "passes/core/pass.h"
#include "passes/core/pipeline.h"

namespace halftone {

struct RuleReason {
  std::string rule;
  std::string text;
  bool matched = false;  // the pattern matches
};
struct NodeReasons {
  std::string node;  // in a nested graph "loop/body/add"
  OpKind op;
  std::vector<RuleReason> reasons;  // matched ones first
};

// The results of the rules of the pipeline's fixed points for the nodes of `graph`, in topological order. If `glob` is
// the name of a rule: of that rule for all nodes; otherwise of all rules for the nodes whose labels match `glob`.
std::vector<NodeReasons> ExplainNodes(const Pipeline& pipeline, const Graph& graph, std::string_view glob,
                                      const PassContext& context);

// Text: one line per node, followed by its rules with their reasons.
std::string PrintReasons(const std::vector<NodeReasons>& nodes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_WHY_H_
