// Why nodes were left as they are: each rule asked again, once nothing changes any more.
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
  bool matched = false;  // the pattern is here; else another pattern
};
struct NodeReasons {
  std::string node;  // in a nested graph "loop/body/add"
  OpKind op;
  std::vector<RuleReason> reasons;  // those of the pattern first
};

// What the rules of the pipeline's fixed points say of the nodes of `graph`, in topological order: of all nodes where
// `glob` is the name of a rule, of that rule alone, or of the nodes whose labels match it.
std::vector<NodeReasons> ExplainNodes(const Pipeline& pipeline, const Graph& graph, std::string_view glob,
                                      const PassContext& context);

// Lines of text: a node, then its rules, each with its reason.
std::string PrintReasons(const std::vector<NodeReasons>& nodes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_WHY_H_
