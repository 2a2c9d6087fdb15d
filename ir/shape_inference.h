// SPDX-License-Identifier: Apache-2.0
// Types and shapes of outputs from those of inputs: one rule an op.
#ifndef HALFTONE_IR_SHAPE_INFERENCE_H_
#define HALFTONE_IR_SHAPE_INFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// Types and shapes of the node's outputs. What cannot be known is kUnknown or an unknown dimension, not an error.
// Constant inputs (shapes, axes, pads) are read, also through small shape arithmetic (shape, gather, concat, slice, ...).
// Errors: INVALID_ARGUMENT that names the node and the shapes that do not fit.
absl::StatusOr<std::vector<ValueSpec>> InferNode(const Graph& graph, NodeId node);

// InferNode over the whole graph in topological order, written into the values. Where a rule knows less than what the value
// already says, the value keeps what it says; where they contradict each other, INVALID_ARGUMENT names the value.
absl::Status InferShapes(GraphEditor& edit);

// Binds every symbolic or unknown dimension of the inputs and infers again: `symbols` by name, an unknown first dimension of
// an input to `batch`. Declared shapes of computed values that hold unknowns are forgotten first.
// Errors: INVALID_ARGUMENT lists every dimension that is still free, by input and index.
absl::Status Specialize(GraphEditor& edit, const std::map<std::string, int64_t>& symbols, int64_t batch);

}  // namespace halftone

#endif  // HALFTONE_IR_SHAPE_INFERENCE_H_
