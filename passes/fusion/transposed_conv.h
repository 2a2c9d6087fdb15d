// What the rules about transposed convolutions ask of one.
#ifndef HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_
#define HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_

#include <cstdint>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// The input that says the whole shape of the result (TensorFlow's operator).
inline constexpr int kOutputShapeInput = 3;

// The first spatial dimension of the weights.
int FirstKernelAxis(const Graph& g, NodeId conv);

// Its pads in numbers, begins then ends, also where they follow from known sizes (auto_pad, output_shape). An end is
// negative where the result is longer than what the kernel reaches. Empty: not known.
std::vector<int64_t> TransposedPads(const Graph& g, NodeId conv);

// Gives `conv` these pads instead of what it says by other words.
void SetTransposedPads(GraphEditor& edit, NodeId conv, const std::vector<int64_t>& pads);

// Whether its operator has pads in numbers: TensorFlow's of three dimensions has none.
bool SaysTransposedPads(const Graph& g, NodeId conv);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_TRANSPOSED_CONV_H_
