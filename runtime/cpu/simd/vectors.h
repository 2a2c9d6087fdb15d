// SPDX-License-Identifier: Apache-2.0
// Several numbers at once, from memory in f32 or bf16, for loops that are compiled for several kinds of CPU. Sixteen
// where nothing else is said; loops for smaller registers are faster with as many as one holds.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_VECTORS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_VECTORS_H_

#include <cstdint>
#include <cstring>

#include "runtime/cpu/simd/vector_math.h"

// Vectors are passed between functions that become one. (No std::bit_cast: Clang refuses it in code for AVX-512.)
#pragma GCC diagnostic ignored "-Wpsabi"

namespace halftone::simd {

template <int kLanes>
struct Vectors {
  using Floats [[gnu::vector_size(4 * kLanes)]] = float;
  using Ints [[gnu::vector_size(4 * kLanes)]] = int32_t;
  using Words [[gnu::vector_size(4 * kLanes)]] = uint32_t;
};
using Floats = Vectors<16>::Floats;
using Ints = Vectors<16>::Ints;
using Words = Vectors<16>::Words;

// Of floats: whole numbers in as many lanes.
template <typename F>
inline constexpr int kLanesOf = sizeof(F) / sizeof(float);
template <typename F>
using IntsOf = typename Vectors<kLanesOf<F>>::Ints;
template <typename F>
using WordsOf = typename Vectors<kLanesOf<F>>::Words;

template <typename F = Floats>
HALFTONE_INLINE F LoadFloats(const float* x) {
  F v;
  std::memcpy(&v, x, sizeof(v));
  return v;
}
template <typename F>
HALFTONE_INLINE void StoreFloats(float* x, F v) {
  std::memcpy(x, &v, sizeof(v));
}

// The same for bf16, of which two lie in a word: the even and the odd elements of twice as many.
template <typename F>
struct PairOf {
  F even, odd;
};
using Pair = PairOf<Floats>;
template <typename F = Floats>
HALFTONE_INLINE PairOf<F> LoadPair(const uint16_t* x) {
  WordsOf<F> words;
  std::memcpy(&words, x, sizeof(words));
  return {__builtin_bit_cast(F, words << 16), __builtin_bit_cast(F, words & 0xffff0000u)};
}
// Cuts the lower bits off: for numbers that are bf16.
template <typename F>
HALFTONE_INLINE void StoreExactPair(uint16_t* x, PairOf<F> pair) {
  const WordsOf<F> words =
      __builtin_bit_cast(WordsOf<F>, pair.even) >> 16 | (__builtin_bit_cast(WordsOf<F>, pair.odd) & 0xffff0000u);
  std::memcpy(x, &words, sizeof(words));
}
// In the upper 16 bits. To nearest even; NaN stays NaN.
template <typename F>
HALFTONE_INLINE F RoundToBf16(F v) {
  const WordsOf<F> bits = __builtin_bit_cast(WordsOf<F>, v);
  const WordsOf<F> rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return __builtin_bit_cast(F, v != v ? bits | 0x400000u : rounded);
}
template <typename F>
HALFTONE_INLINE void StorePair(uint16_t* x, PairOf<F> pair) {
  StoreExactPair<F>(x, {RoundToBf16(pair.even), RoundToBf16(pair.odd)});
}

inline constexpr float kLog2E = 1.44269504f;

// 2^t: 2^n times a polynomial of the rest. Relative errors of 1.2e-7 and 5e-4 (a sixth of bf16's last digit). Below 2^-127
// 0, from 2^128 on infinity.
template <bool kRough, typename F>
HALFTONE_INLINE F Exp2(F t) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  t = t < -127.0f ? F{} - 127.0f : t;
  t = t > 128.0f ? F{} + 128.0f : t;
  const F shifted = t + kShift;
  const F r = t - (shifted - kShift);
  F p;
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
  return __builtin_bit_cast(F, __builtin_bit_cast(IntsOf<F>, p) + (__builtin_bit_cast(IntsOf<F>, shifted) << 23));
}

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_VECTORS_H_
