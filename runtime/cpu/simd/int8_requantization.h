// SPDX-License-Identifier: Apache-2.0
// From the int8 sums of skinny_matmul.h to the result: zero points, scales, bias, residual and activation, per column.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_REQUANTIZATION_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_REQUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/types.h"
#include "runtime/cpu/simd/int8_finish.h"

namespace halftone::simd {

// y = finish((start + sum) * factor + offset + residual).
struct Int8Requantization {
  // One for each column of whole panels of 64.
  std::vector<int32_t> starts;          // what zero points make of a column's weights
  std::vector<float> factors, offsets;  // in units of finish.scale, where there are bounds
  Int8Finish finish;
  // Where activation and rounding are a clamp to these; nullopt: another activation, a residual, or a result in floats.
  std::optional<IntegerBounds> bounds;
  // Of SkinnyMatMulTask::residual: f32, or bytes with a scale.
  DataType residual_type = DataType::kFloat32;
  float residual_scale = 1;
  int32_t residual_zero_point = 0;
};

// x(i, k) of type u8 or s8, times weights of s8, element (k, j) at [k * depth_stride + j * column_stride].
struct Int8RequantizationProblem {
  DataType type = DataType::kUInt8;
  int32_t zero_point = 0;
  int64_t depth = 0, columns = 0;
  int64_t depth_stride = 0, column_stride = 0;
  std::vector<float> factors, offsets;  // per column: real number = sum of (x - zero_point) w * factor + offset
  bool has_residual = false;
  Int8Finish finish;
};

// Without what concerns the residual. `weights`: null where nothing is to be run. UNIMPLEMENTED: sums may leave 32
// bits, factors are beyond f32.
absl::StatusOr<Int8Requantization> MakeInt8Requantization(Int8RequantizationProblem problem, const int8_t* weights);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_REQUANTIZATION_H_
