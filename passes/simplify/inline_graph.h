// The nodes of a nested graph in place of the node that holds it.
#ifndef HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_
#define HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_

#include <string>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// "" if the nested graph can stand where node `id` is, else why not.
std::string ObstacleToInlining(const Graph& graph, NodeId id, const Graph& nested);

// Copies the nodes of `nested` beside node `id` and gives its users what they make; `inputs` are values of the graph.
// Names outside win: a value inside whose name is taken loses its own. Outputs of the graph and values that subgraphs
// read keep theirs. The node is left without users. REQUIRES: no obstacle
void InlineGraph(GraphEditor& edit, NodeId id, const Graph& nested, const std::vector<ValueId>& inputs);

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_
