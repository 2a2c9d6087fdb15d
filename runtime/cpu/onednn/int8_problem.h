// SPDX-License-Identifier: Apache-2.0
// What int8 conv, matmul and gemm by oneDNN share: scales, zero points, bias, residual and activation as attributes of
// the primitive. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_INT8_PROBLEM_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_INT8_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/matmul_operands.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/quantized.h"

namespace halftone::onednn {

// sums of (src - zero point) * weights, times their scales, plus bias; then as the Epilogue says, its residual read as
// `residual` is; then as dst is.
struct Int8Problem {
  Element src, dst;
  std::optional<Element> residual;
  Epilogue epilogue;               // of it: residual mode and descriptor, activation, activation_first
  int weights_mask = 0;            // over its dimensions: 0: one scale
  int32_t weights_zero_point = 0;  // of weights that are no constant
};

// The attributes of the primitive, and what its arguments are.
struct Int8Attributes {
  dnnl::primitive_attr attributes;
  // Sums times scales, and the bias, are divided by it: the scale of dst or of the residual, where that saves a
  // multiplication of each number.
  float unit = 1;
  bool dst_scale = false;     // dst's is an argument
  int residual_argument = 0;  // of ResidualMode::kBinary
};
Int8Attributes AttributesOf(const Int8Problem& problem);

// Adds the arguments of scales and zero points. `scales`: of the weights, one or one for each channel. UNIMPLEMENTED
// where their quotients are no numbers of f32.
absl::Status AddScales(const Int8Problem& problem, const Int8Attributes& attributes, const std::vector<float>& scales,
                       PrimitiveStep& step);

// The type in which the primitive reads src. On CPUs without VNNI oneDNN halves the weights where src is s8, so there
// it reads u8: with 128 added to each element and to the zero point the real numbers are the same.
Element ReadAs(const Element& src);
// Where that is another type than src has: before the step of `prepared`, whose first input is src, a pass adds 128.
void AddShift(const Element& src, std::span<const int64_t> dims, Prepared& prepared);

// Constant weights of matmul and gemm have one scale, or one per column of the result; else UNIMPLEMENTED.
absl::Status CheckScalesOfColumns(const NodeContext& context, const Int8Weights& weights);

// For SIMD loops: sum * factor + offset is the real number, before the residual is added.
struct ColumnNumbers {
  std::vector<float> factors, offsets;
};
// `scale`: of the left operand; `scales`: of the right one, one or one per column. UNIMPLEMENTED where gemm adds
// something else than a constant bias.
absl::StatusOr<ColumnNumbers> ColumnNumbersOf(const NodeContext& context, float scale, const std::vector<float>& scales,
                                              const MatMulOperands& operands);

// On a CPU with VNNI (HasNativeInt8): OK. On others: whether no pair of products of `node` can saturate, from the
// weights (ir/pair_sums.h); s8 is refused there, which ReadAs avoids.
absl::Status CannotSaturate(const Element& src, const Node& node, const Tensor& weights);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_INT8_PROBLEM_H_
