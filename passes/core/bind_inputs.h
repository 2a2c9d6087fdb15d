// SPDX-License-Identifier: Apache-2.0
// Numbers for the dynamic dimensions of a graph, so that it can be run.
#ifndef HALFTONE_PASSES_CORE_BIND_INPUTS_H_
#define HALFTONE_PASSES_CORE_BIND_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

// Whether an input has an unknown dimension.
bool HasFreeInputs(const Graph& graph);

// Shapes for the graph's inputs, in order: a dynamic first dimension is `batch`, others are small numbers, the same for
// equal symbols. Tries several sets until shape inference accepts one. INVALID_ARGUMENT with the last error of shape
// inference, or if a rank is unknown.
absl::StatusOr<std::vector<Shape>> ChooseInputShapes(const Graph& graph, int64_t batch);

// A copy of the graph whose inputs have these shapes; the shapes of all other values are inferred from them.
absl::StatusOr<Graph> WithInputShapes(const Graph& graph, const std::vector<Shape>& shapes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_BIND_INPUTS_H_
