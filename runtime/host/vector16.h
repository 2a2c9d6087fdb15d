// Sixteen numbers at once, from memory in f32 or bf16, for loops that are compiled for several kinds of CPU.
#ifndef HALFTONE_RUNTIME_HOST_VECTOR16_H_
#define HALFTONE_RUNTIME_HOST_VECTOR16_H_

#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/host/vector_math.h"

// Vectors are passed between functions that become one.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace halftone::host {

using Floats [[gnu::vector_size(64)]] = float;
using Ints [[gnu::vector_size(64)]] = int32_t;
using Words [[gnu::vector_size(64)]] = uint32_t;

HALFTONE_INLINE Floats LoadFloats(const float* x) {
  Floats v;
  std::memcpy(&v, x, sizeof(v));
  return v;
}
HALFTONE_INLINE void StoreFloats(float* x, Floats v) { std::memcpy(x, &v, sizeof(v)); }

// The same for bf16, of which two lie in a word: the even and the odd elements of 32.
struct Pair {
  Floats even, odd;
};
HALFTONE_INLINE Pair LoadPair(const uint16_t* x) {
  Words words;
  std::memcpy(&words, x, sizeof(words));
  return {std::bit_cast<Floats>(words << 16), std::bit_cast<Floats>(words & 0xffff0000u)};
}
// Cuts the lower bits off: for numbers that are bf16.
HALFTONE_INLINE void StoreExactPair(uint16_t* x, Pair pair) {
  const Words words = std::bit_cast<Words>(pair.even) >> 16 | (std::bit_cast<Words>(pair.odd) & 0xffff0000u);
  std::memcpy(x, &words, sizeof(words));
}
// In the upper 16 bits. To nearest even; NaN stays NaN.
HALFTONE_INLINE Floats RoundToBf16(Floats v) {
  const Words bits = std::bit_cast<Words>(v);
  const Words rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return std::bit_cast<Floats>(v != v ? bits | 0x400000u : rounded);
}
HALFTONE_INLINE void StorePair(uint16_t* x, Pair pair) {
  StoreExactPair(x, {RoundToBf16(pair.even), RoundToBf16(pair.odd)});
}

inline constexpr float kLog2E = 1.44269504f;

// 2^t: 2^n times a polynomial of the rest. Relative errors of 1.2e-7 and 5e-4 (a sixth of bf16's last digit). Below 2^-127
// 0, from 2^128 on infinity.
template <bool kRough>
HALFTONE_INLINE Floats Exp2(Floats t) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  t = t < -127.0f ? Floats{} - 127.0f : t;
  t = t > 128.0f ? Floats{} + 128.0f : t;
  const Floats shifted = t + kShift;
  const Floats r = t - (shifted - kShift);
  Floats p;
  if constexpr (kRough) {
    p = 0.0555f * r + 0.2413f;
    p = p * r + 0.6932f;
  } else {
    p = 1.5403530e-4f * r + 1.33335581e-3f;
    p = p * r + 9.61812911e-3f;
    p = p * r + 5.55041087e-2f;
    p = p * r + 2.40226507e-1f;
    p = p * r + 6.93147182e-1f;
  }
  p = p * r + 1.0f;
  return std::bit_cast<Floats>(std::bit_cast<Ints>(p) + (std::bit_cast<Ints>(shifted) << 23));
}

}  // namespace halftone::host

#endif  // HALFTONE_RUNTIME_HOST_VECTOR16_H_
