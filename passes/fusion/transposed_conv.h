// SPDX-License-Identifier: Apache-2.0
// Helpers for the rules around a conv_transpose.
#ifndef HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_
#define HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_

#include <cstdint>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// The input that gives the output shape (TensorFlow's operator).
inline constexpr int kOutputShapeInput = 3;

// The first spatial dimension of the weights.
int FirstKernelAxis(const Graph& g, NodeId conv);

// Its explicit pads, begins then ends, also if they follow from known sizes (auto_pad, output_shape). An end is
// negative if the result is larger than the kernel reaches. Empty if they are unknown.
std::vector<int64_t> TransposedPads(const Graph& g, NodeId conv);

// Gives `conv` these explicit pads in place of auto_pad and output_shape.
void SetTransposedPads(GraphEditor& edit, NodeId conv, const std::vector<int64_t>& pads);

// Whether its operator has explicit pads: TensorFlow's with three spatial dimensions has none.
bool SaysTransposedPads(const Graph& g, NodeId conv);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_
