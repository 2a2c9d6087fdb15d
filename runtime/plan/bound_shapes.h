// SPDX-License-Identifier: Apache-2.0
// Shapes of a graph as it is about to run: from those of its inputs and of what was computed already. Private to
// runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_BOUND_SHAPES_H_
#define HALFTONE_RUNTIME_PLAN_BOUND_SHAPES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

// Dimensions that are certain, by value.
using KnownDims = std::map<ValueId, std::vector<int64_t>>;

// Infers every shape from `known`. What the file says of others counts where it does not contradict that.
absl::Status InferFrom(const KnownDims& known, Graph& graph);

// Whether every value that is needed for an output has a known shape.
bool AllShapesKnown(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_BOUND_SHAPES_H_
