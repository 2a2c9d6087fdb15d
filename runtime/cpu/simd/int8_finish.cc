// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_finish.h"

#include <cmath>
#include <cstring>

#include "ir/quantization.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, half to even

// Bounds of type u8 or s8 less the zero point, in f32.
struct FloatBounds {
  float low, high;
};
FloatBounds BoundsOfType(const Int8Finish& finish) {
  const IntegerRange range = *QuantizedRange(finish.type);
  return {static_cast<float>(range.low - finish.zero_point), static_cast<float>(range.high - finish.zero_point)};
}

// Divides: quantize_linear does, and both are to give the same.
template <typename To>
HALFTONE_INLINE void QuantizeBody(const float* __restrict x, float scale, FloatBounds bounds, int32_t zero_point,
                                  int64_t count, To* __restrict y) {
  for (int64_t i = 0; i < count; ++i) {
    float number = x[i] / scale;
    number = number != number ? static_cast<float>(-zero_point) : number;
    number = number < bounds.low ? bounds.low : number;
    number = number > bounds.high ? bounds.high : number;
    const int32_t rounded = std::bit_cast<int32_t>(number + kShift) - std::bit_cast<int32_t>(kShift);
    y[i] = static_cast<To>(rounded + zero_point);
  }
}

template <typename From>
HALFTONE_INLINE void DequantizeBody(const From* __restrict x, float scale, int32_t zero_point, int64_t count,
                                    float* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(static_cast<int32_t>(x[i]) - zero_point) * scale;
}

HALFTONE_INLINE void RoundBody(const float* __restrict x, int64_t count, uint16_t* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = ToBf16(x[i]);
}

template <typename T>
struct Loops {
  using Quantize = void (*)(const float*, float, FloatBounds, int32_t, int64_t, T*);
  using Dequantize = void (*)(const T*, float, int32_t, int64_t, float*);
  HALFTONE_FOR_AVX512 static void Q512(const float* x, float s, FloatBounds b, int32_t z, int64_t n, T* y) {
    QuantizeBody(x, s, b, z, n, y);
  }
  HALFTONE_FOR_AVX2 static void Q256(const float* x, float s, FloatBounds b, int32_t z, int64_t n, T* y) {
    QuantizeBody(x, s, b, z, n, y);
  }
  static void QAny(const float* x, float s, FloatBounds b, int32_t z, int64_t n, T* y) {
    QuantizeBody(x, s, b, z, n, y);
  }
  HALFTONE_FOR_AVX512 static void D512(const T* x, float s, int32_t z, int64_t n, float* y) {
    DequantizeBody(x, s, z, n, y);
  }
  HALFTONE_FOR_AVX2 static void D256(const T* x, float s, int32_t z, int64_t n, float* y) {
    DequantizeBody(x, s, z, n, y);
  }
  static void DAny(const T* x, float s, int32_t z, int64_t n, float* y) { DequantizeBody(x, s, z, n, y); }

  static void RunQuantize(const Int8Finish& finish, const float* x, int64_t count, std::byte* y) {
    static const Quantize loop = ForThisCpu<Quantize>(Q512, Q256, QAny);
    loop(x, finish.scale, BoundsOfType(finish), finish.zero_point, count, reinterpret_cast<T*>(y));
  }
  static void RunDequantize(const std::byte* x, float scale, int32_t zero_point, int64_t count, float* y) {
    static const Dequantize loop = ForThisCpu<Dequantize>(D512, D256, DAny);
    loop(reinterpret_cast<const T*>(x), scale, zero_point, count, y);
  }
};

using Round = void (*)(const float*, int64_t, uint16_t*);
HALFTONE_FOR_AVX512 void Round512(const float* x, int64_t n, uint16_t* y) { RoundBody(x, n, y); }
HALFTONE_FOR_AVX2 void Round256(const float* x, int64_t n, uint16_t* y) { RoundBody(x, n, y); }
void RoundAny(const float* x, int64_t n, uint16_t* y) { RoundBody(x, n, y); }

// saturate(round half to even(number / scale) + zero_point) of type u8 or s8; NaN gives the integer 0.
int32_t QuantizedNumber(float number, const Int8Finish& finish) {
  const FloatBounds bounds = BoundsOfType(finish);
  float scaled = number / finish.scale;
  if (scaled != scaled) scaled = static_cast<float>(-finish.zero_point);
  scaled = scaled < bounds.low ? bounds.low : scaled > bounds.high ? bounds.high : scaled;
  return static_cast<int32_t>(std::nearbyint(scaled)) + finish.zero_point;
}

}  // namespace

std::optional<IntegerBounds> BoundsOf(const Int8Finish& finish) {
  const std::optional<IntegerRange> range = QuantizedRange(finish.type);
  if (!range.has_value() || finish.type == DataType::kInt32) return std::nullopt;
  const IntegerBounds whole{static_cast<int32_t>(range->low), static_cast<int32_t>(range->high)};
  if (finish.activation == Activation::kNone) return whole;
  const std::optional<ActivationClamp> clamp = ClampOf(finish.activation, finish.alpha, finish.beta);
  if (!clamp.has_value()) return std::nullopt;
  return IntegerBounds{QuantizedNumber(clamp->low, finish), QuantizedNumber(clamp->high, finish)};
}

void QuantizeRow(const Int8Finish& finish, const float* x, int64_t count, std::byte* y) {
  (finish.type == DataType::kUInt8 ? Loops<uint8_t>::RunQuantize : Loops<int8_t>::RunQuantize)(finish, x, count, y);
}

void FinishRow(const Int8Finish& finish, float* numbers, int64_t count, std::byte* y) {
  if (finish.activation != Activation::kNone)
    RowActivation(finish.activation)(numbers, numbers, count, finish.alpha, finish.beta);
  if (finish.type == DataType::kUInt8 || finish.type == DataType::kInt8) {
    QuantizeRow(finish, numbers, count, y);
  } else if (finish.type == DataType::kBFloat16) {
    static const Round round = ForThisCpu<Round>(Round512, Round256, RoundAny);
    round(numbers, count, reinterpret_cast<uint16_t*>(y));
  } else {
    std::memcpy(y, numbers, static_cast<size_t>(count) * sizeof(float));
  }
}

void ShiftInt8(const std::byte* __restrict x, int64_t count, std::byte* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] ^ std::byte{128};
}

void DequantizeRow(const std::byte* x, DataType type, float scale, int32_t zero_point, int64_t count, float* numbers) {
  if (type == DataType::kFloat32) {
    std::memcpy(numbers, x, static_cast<size_t>(count) * sizeof(float));
  } else if (type == DataType::kBFloat16) {
    const auto* halves = reinterpret_cast<const uint16_t*>(x);
    for (int64_t i = 0; i < count; ++i) numbers[i] = FromBf16(halves[i]);
  } else {
    const auto loop = type == DataType::kUInt8 ? Loops<uint8_t>::RunDequantize : Loops<int8_t>::RunDequantize;
    loop(x, scale, zero_point, count, numbers);
  }
}

}  // namespace halftone::simd
