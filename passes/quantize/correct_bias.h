// SPDX-License-Identifier: Apache-2.0
// Bias correction: what rounding the weights of a contraction does to the mean of each channel of its result, so that
// the bias can take it back.
//
//   shift[o] = sum over input channels i and taps t of (rounded - weights)[o, i, t] * E[x_i] * coverage[t]
//   bias[o]  = bias[o] - shift[o]
//
// coverage: the share of the windows whose tap t lies inside of the image, for zeros of the padding add no error.
// After M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019), 4.2;
// E[x] is what calibration saw, not a guess from a batch norm. The mean of the result is corrected before residual
// and activation. InsertQuantization does it where QuantizeOptions::correct_bias asks for it.
#ifndef HALFTONE_PASSES_QUANTIZE_CORRECT_BIAS_H_
#define HALFTONE_PASSES_QUANTIZE_CORRECT_BIAS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "ir/tensor.h"
#include "ir/value_ranges.h"

namespace halftone {

// One element an output channel. `weights` and `rounded`: f32, of the shape of the node's weights; `input`: its input 0
// as calibration knew it. Errors: FAILED_PRECONDITION with the reason: no means of the input's channels, weights of
// several matrices.
absl::StatusOr<std::vector<double>> BiasShift(const Graph& graph, NodeId contraction, ValueId input,
                                              const Tensor& weights, const Tensor& rounded, const ValueRanges& ranges);

// The node's bias less the shift; one that has none gets one, where the target has a kernel for it. Errors:
// FAILED_PRECONDITION or UNIMPLEMENTED with the reason: a bias that is no constant vector over the channels, products
// that are scaled before it is added, no such kernel.
absl::StatusOr<Tensor> CorrectedBias(const Graph& graph, NodeId contraction, const std::vector<double>& shift,
                                     const Target& target);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_CORRECT_BIAS_H_
