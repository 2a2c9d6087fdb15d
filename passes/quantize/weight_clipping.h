// SPDX-License-Identifier: Apache-2.0
// Ranges of weights chosen by the error of the layer's result: for each scale the largest magnitude is tried, and
// fractions of it, and what has the least error is kept.
//
//   error(threshold) = sum over the weights of E[x_i^2] * (w - rounded and clipped w)^2
//
// which is the variance that the result gets where input channels are independent. E[x_i^2] is not kept by calibration:
// mean^2 + (magnitude / 3)^2 stands for it, and 1 where nothing is known of the channels. Clipped weights shift the
// mean of the result; correct_bias.h takes that back.
#ifndef HALFTONE_PASSES_QUANTIZE_WEIGHT_CLIPPING_H_
#define HALFTONE_PASSES_QUANTIZE_WEIGHT_CLIPPING_H_

#include <vector>

#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/value_ranges.h"

namespace halftone {

// The share of its range, above 0.4 and at most 1, that each scale of these weights shall reach over: one an output
// channel, one in all where `per_channel` is false. `weights`: f32, finite, the node's; `input`: its input 0 as
// calibration knew it; `limit`: the largest integer. Empty where the weights are not one matrix.
std::vector<float> KeptShares(const Graph& graph, NodeId contraction, ValueId input, const Tensor& weights,
                              bool per_channel, int limit, const ValueRanges& ranges);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_WEIGHT_CLIPPING_H_
