// SPDX-License-Identifier: Apache-2.0
// Quantized values (ir/quantization.h) as int8 kernels read and write them. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_QUANTIZED_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_QUANTIZED_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/int8_finish.h"
#include "runtime/plan/quantized_node.h"

namespace halftone::onednn {

// A value of u8 or s8 with one scale, or of floats.
struct Element {
  DataType type = DataType::kUnknown;
  bool quantized = false;  // then:
  float scale = 1;
  int32_t zero_point = 0;
};
// UNIMPLEMENTED where it is neither. REQUIRES: present
absl::StatusOr<Element> InputElement(const NodeContext& context, int i);
absl::StatusOr<Element> OutputElement(const NodeContext& context);

// What a SIMD loop does with its sums: the activation, and the type and scale of the result (f16 is written as f32).
simd::Int8Finish FinishOf(const Element& output, const Epilogue& epilogue);

// Constant weights of s8 without zero points. u8 with zero points of 128 becomes that.
struct Int8Weights {
  Tensor tensor;
  std::vector<float> scales;  // one, or one for each index along `axis`
  int axis = 0;
};
absl::StatusOr<Int8Weights> WeightsOf(const NodeContext& context, int i);

// The real numbers of a constant input. nullopt: it is no constant, or of a type that has none.
std::optional<std::vector<float>> RealNumbers(const NodeContext& context, int i);

// The numbers [count], fixed, as an argument of a primitive.
absl::StatusOr<PrepackedMemory> PrepackedFloats(std::vector<float> numbers, const Desc& desc);

// Adds the zero point as an argument of the primitive, where it is not 0.
absl::Status AddZeroPoint(int argument, int32_t zero_point, PrimitiveStep& step);

// An image, [N, C, spatial] as oneDNN orders it, with channels last.
Desc ChannelsLastDesc(std::span<const int64_t> dims, DataType type);
// The same as a placement of a value whose own order may be the other one.
Placement ChannelsLast(std::span<const int64_t> dims, DataType type, bool value_has_channels_last);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_QUANTIZED_H_
