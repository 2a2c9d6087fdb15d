// SPDX-License-Identifier: Apache-2.0
// Elements of f32 and bf16 in the inner loops of this folder.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_SIMD_H_
#define HALFTONE_RUNTIME_CPU_SIMD_SIMD_H_

#include <bit>
#include <cstdint>

#include "runtime/cpu/simd/targets.h"

namespace halftone::simd {

// bf16 as types.h has it, but inlined into loops. Rounds to nearest even; NaN stays NaN.
HALFTONE_INLINE float FromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
HALFTONE_INLINE uint16_t ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40u;
  return static_cast<uint16_t>(value != value ? quiet : rounded);
}

// Elements as f32, by the type that lies in memory.
HALFTONE_INLINE float Load(const float* x) { return *x; }
HALFTONE_INLINE float Load(const uint16_t* x) { return FromBf16(*x); }
HALFTONE_INLINE void Store(float* y, float value) { *y = value; }
HALFTONE_INLINE void Store(uint16_t* y, float value) { *y = ToBf16(value); }

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_SIMD_H_
