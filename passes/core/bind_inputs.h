// Numbers for the free dimensions of a graph, so that it can be run.
#ifndef HALFTONE_PASSES_CORE_BIND_INPUTS_H_
#define HALFTONE_PASSES_CORE_BIND_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

// Whether an input has a dimension that is not known.
bool HasFreeInputs(const Graph& graph);

// Shapes for the graph's inputs, in order: free first dimensions are `batch`, the others small numbers, the same for
// equal symbols. Several sets are tried until shape inference takes one. INVALID_ARGUMENT with the reason of the last
// refusal, or where a rank is not known.
absl::StatusOr<std::vector<Shape>> ChooseInputShapes(const Graph& graph, int64_t batch);

// A copy whose inputs have these shapes, and all other values what follows from them.
absl::StatusOr<Graph> WithInputShapes(const Graph& graph, const std::vector<Shape>& shapes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_BIND_INPUTS_H_
