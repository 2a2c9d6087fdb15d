// SPDX-License-Identifier: Apache-2.0
// Inlines a nested graph: its nodes replace the node that holds it.
#ifndef HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_
#define HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_

#include <string>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// "" if the nested graph can replace node `id`, else the reason.
std::string ObstacleToInlining(const Graph& graph, NodeId id, const Graph& nested);

// Copies the nodes of `nested` into the graph and lets the consumers of node `id` read their results; `inputs` are
// values of the graph. A nested value loses its name if the graph already uses it. Outputs of the graph and values that
// subgraphs read keep their names. Node `id` has no consumers afterwards. REQUIRES: no obstacle
void InlineGraph(GraphEditor& edit, NodeId id, const Graph& nested, const std::vector<ValueId>& inputs);

}  // namespace halftone

#endif  // HALFTONE_PASSES_SIMPLIFY_INLINE_GRAPH_H_
