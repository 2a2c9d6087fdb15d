// SPDX-License-Identifier: Apache-2.0
// Equality of graphs by content.
#ifndef HALFTONE_IR_SAME_GRAPH_INTERNAL_H_
#define HALFTONE_IR_SAME_GRAPH_INTERNAL_H_

#include "ir/graph.h"

namespace halftone {

// Equal names, headers, inputs, outputs and nodes, in an order that follows from the edges; ids may differ. Recurses over
// nested graphs (nested.h bounds how deep they are).
bool SameGraphs(const Graph& a, const Graph& b);

}  // namespace halftone

#endif  // HALFTONE_IR_SAME_GRAPH_INTERNAL_H_
