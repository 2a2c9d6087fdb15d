// SPDX-License-Identifier: Apache-2.0
// Smaller dimensions and simpler constants, for graphs that are being reduced.
#ifndef HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_
#define HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Numbers above 1 that are dimensions of inputs and constants, the largest first.
std::vector<int64_t> DimensionsOf(const Graph& graph);
// Candidates to replace `number`, the smallest first.
std::vector<int64_t> SmallerThan(int64_t number);

// Where a number is replaced: in shapes of inputs and constants; also in integer constants (target shapes); also in
// attributes (kernel sizes, groups).
enum class Replaced { kShapes, kShapesAndInts, kEverywhere };

// The graph with every dimension `from` replaced by `to`; constants keep their first elements. nullopt if the shapes
// are inconsistent then.
std::optional<Graph> WithNumber(const Graph& graph, int64_t from, int64_t to, Replaced what);

// The graph with this float constant replaced by ones. nullopt if it consists of ones already or has another type.
std::optional<Graph> WithOnes(const Graph& graph, NodeId constant);

}  // namespace halftone

#endif  // HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_
