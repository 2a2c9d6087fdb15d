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

}  // namespace halftone::host

#endif  // HALFTONE_RUNTIME_HOST_VECTOR16_H_
