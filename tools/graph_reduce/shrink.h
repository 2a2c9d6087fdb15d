// Smaller dimensions and plainer constants, for graphs that are being reduced.
#ifndef HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_
#define HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Numbers above 1 that are dimensions of inputs and constants, the largest first.
std::vector<int64_t> DimensionsOf(const Graph& graph);
// What to try in the place of `number`, the smallest first.
std::vector<int64_t> SmallerThan(int64_t number);

// Where a number is replaced: in the shapes of inputs and constants; in constants of integers too (target shapes); in
// attributes too (kernels, groups).
enum class Replaced { kShapes, kShapesAndInts, kEverywhere };

// The graph with `to` for every dimension `from`; constants keep their first elements. nullopt where shapes do not fit
// then.
std::optional<Graph> WithNumber(const Graph& graph, int64_t from, int64_t to, Replaced what);

// The graph with ones in this constant of floats; nullopt where it has nothing else already, or is of another type.
std::optional<Graph> WithOnes(const Graph& graph, NodeId constant);

}  // namespace halftone

#endif  // HALFTONE_TOOLS_GRAPH_REDUCE_SHRINK_H_
