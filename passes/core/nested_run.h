// A pass over a graph and everything nested in it.
#ifndef HALFTONE_PASSES_CORE_NESTED_RUN_H_
#define HALFTONE_PASSES_CORE_NESTED_RUN_H_

#include "absl/status/status.h"
#include "ir/editor.h"
#include "passes/core/pass.h"

namespace halftone {

// Runs `pass` on the graphs that the graph's nodes hold, the innermost first, then on the graph itself; nested graphs
// that it changed are put back. Inside there is no precision plan: plans know the nodes of the outermost graph only.
// What happens inside is logged under the node that holds the graph, as "loop/body/add".
// REQUIRES: CheckNesting holds. Recurses over nesting, of which that allows kMaxNestingDepth levels.
absl::Status RunEverywhere(const Pass& pass, GraphEditor& edit, PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_NESTED_RUN_H_
