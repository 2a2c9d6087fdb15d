// SPDX-License-Identifier: Apache-2.0
// Weights, biases and other values as integers, followed by a dequantize_linear.
#ifndef HALFTONE_PASSES_QUANTIZE_WEIGHTS_QUANTIZER_H_
#define HALFTONE_PASSES_QUANTIZE_WEIGHTS_QUANTIZER_H_

#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// The symmetric s8 form of a constant of f32: from -limit to limit (127, or 63), with one scale an index along `axis`,
// one in all where axis is -1. A channel of zeros has scale 1. Errors: INVALID_ARGUMENT where elements are not finite.
// `shares`: empty, or for each scale the share of its range that it reaches over; what is beyond is clipped.
absl::StatusOr<Quantization> QuantizationOfWeights(const Tensor& weights, int axis, int limit,
                                                   std::span<const float> shares = {});

// s8 of f32, from -limit to limit.
Tensor QuantizedWeights(const Tensor& weights, const Quantization& quantization, int limit);

// A bias in steps of input_scale times the weights' scales, and their products as its quantization; nullopt where a
// step is no normal f32, the bias is not finite, or a number does not fit into 32 bits. `bias` has rank 1 and one
// element a scale, or the weights have one scale.
struct QuantizedBias {
  Tensor integers;  // s32
  Quantization quantization;
};
std::optional<QuantizedBias> QuantizeBias(const Tensor& bias, float input_scale, const Quantization& weights);

// A dequantize_linear of a new constant; the value that it makes. The zero point, where there is one, is a constant of
// the integers' type.
ValueId AddDequantized(GraphEditor& edit, Tensor integers, const Quantization& quantization);

// quantize_linear and dequantize_linear of a value; what comes out.
ValueId AddQuantizePair(GraphEditor& edit, ValueId value, DataType type, const Quantization& quantization);

// The scale as a constant: a scalar, or rank 1 where there are many.
Tensor ScaleTensor(const Quantization& quantization);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_WEIGHTS_QUANTIZER_H_
