// SPDX-License-Identifier: Apache-2.0
// Functions of one f32 that compilers vectorize: inline into loops that are compiled for several kinds of CPU.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_VECTOR_MATH_H_
#define HALFTONE_RUNTIME_CPU_SIMD_VECTOR_MATH_H_

#include <bit>
#include <cstdint>

#include "runtime/cpu/simd/targets.h"

namespace halftone::simd {

// 2^n for the integer n nearest to x / ln 2, times the polynomial of the rest. Within 2 ulp; NaN stays NaN; below -87.3
// and above 88.3 as there.
HALFTONE_INLINE float ExpOf(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  x = x < -87.3f ? -87.3f : x;
  x = x > 88.3f ? 88.3f : x;
  const float shifted = x * kLog2E + kShift;
  const float n = shifted - kShift;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kShift);
  return p * std::bit_cast<float>((exponent + 127) << 23);
}

HALFTONE_INLINE float SigmoidOf(float x) { return 1.0f / (1.0f + ExpOf(-x)); }

// x P(x^2) / Q(x^2): as exact as 4e-7, of 1 and of the result. From the end on what it is there, 1 - 1.8e-7; after it
// the ratio would pass 1.
HALFTONE_INLINE float TanhOf(float x) {
  constexpr float kEnd = 8.1f;
  float z = x < -kEnd ? -kEnd : x;
  z = z > kEnd ? kEnd : z;
  const float t = z * z;
  float p = 1.42687207e-08f;
  p = p * t + 2.12507192e-05f;
  p = p * t + 0.00353400888f;
  p = p * t + 0.134132324f;
  p = p * t + 0.999999988f;
  float q = 8.14492801e-07f;
  q = q * t + 0.000334883413f;
  q = q * t + 0.0260226849f;
  q = q * t + 0.467465552f;
  q = q * t + 1.0f;
  return z * p / q;
}

// By that: as exact as 2e-7 of 1, but not of small results.
HALFTONE_INLINE float SigmoidByRatioOf(float x) {
  const float y = 0.5f + 0.5f * TanhOf(0.5f * x);
  return y < 0 ? 0.0f : y;
}

// x times the normal distribution's integral up to x, which is 0.5 + x P(x^2) / Q(x^2): within 2e-7 of it. Below -5.4
// it is 0, which is right to 2e-7.
HALFTONE_INLINE float GeluOf(float x) {
  constexpr float kEnd = 5.4f;
  float z = x < -kEnd ? -kEnd : x;
  z = z > kEnd ? kEnd : z;
  const float t = z * z;
  float p = 2.3386804e-08f;
  p = p * t + 6.35999675e-06f;
  p = p * t + 0.000164319905f;
  p = p * t + 0.00465084042f;
  p = p * t + 0.0333720655f;
  p = p * t + 0.398942245f;
  float q = 1.21659125e-06f;
  q = q * t + 7.23995491e-05f;
  q = q * t + 0.00185897155f;
  q = q * t + 0.028378592f;
  q = q * t + 0.250317452f;
  q = q * t + 1.0f;
  const float y = x * (0.5f + z * p / q);
  return x < -kEnd ? 0.0f : y;
}

// With the tanh written as a sigmoid: 0.5 (1 + tanh(u)) = sigmoid(2 u).
HALFTONE_INLINE float GeluTanhOf(float x) {
  constexpr float kTwiceRoot = 1.5957691216f;  // 2 sqrt(2 / pi)
  return x * SigmoidOf(kTwiceRoot * (x + 0.044715f * x * x * x));
}

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_VECTOR_MATH_H_
