// SPDX-License-Identifier: Apache-2.0
// From the real numbers that an int8 loop has computed to the result in memory: an activation, and a scale with a zero
// point (ir/quantization.h) or a rounding.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_FINISH_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_FINISH_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ir/ops.h"
#include "ir/types.h"
#include "runtime/cpu/simd/row_activation.h"

namespace halftone::simd {

struct Int8Finish {
  DataType type = DataType::kUInt8;  // of the result: u8, s8, f32 or bf16
  float scale = 1;                   // of u8 and s8
  int32_t zero_point = 0;
  Activation activation = Activation::kNone;
  float alpha = 0, beta = 0;
};

// The smallest and the largest integer that may be written: where the activation is none, relu, relu6 or a clip, these
// bounds are all of it (rounding keeps the order). nullopt: another activation, or a result that is no integer.
struct IntegerBounds {
  int32_t low = 0, high = 0;
};
std::optional<IntegerBounds> BoundsOf(const Int8Finish& finish);

// y[i] = the activated and converted numbers[i], which is written over. Thread-safe.
void FinishRow(const Int8Finish& finish, float* numbers, int64_t count, std::byte* y);

// y[i] = saturate(round half to even(x[i] / finish.scale) + finish.zero_point), of type u8 or s8. Thread-safe.
void QuantizeRow(const Int8Finish& finish, const float* x, int64_t count, std::byte* y);

// y[i] = x[i] + 128: s8 as u8.
void ShiftInt8(const std::byte* x, int64_t count, std::byte* y);

// numbers[i] = (x[i] - zero_point) * scale, x of u8 or s8; x[i], of f32 or bf16.
void DequantizeRow(const std::byte* x, DataType type, float scale, int32_t zero_point, int64_t count, float* numbers);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_FINISH_H_
