// SPDX-License-Identifier: Apache-2.0
// f32 to bf16 and f16, many numbers at once, rounded as ir/types.h does: to nearest even, NaN becomes quiet, denormals
// stay. AVX-512 BF16 alone makes denormals zeros, and oneDNN's reorders do so on every CPU.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ROUND_FLOATS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ROUND_FLOATS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/types.h"

namespace halftone::simd {

// For one kind of CPU, on the calling thread. `x` and `y` do not overlap.
struct RoundFunctions {
  std::string_view cpu;  // "avx512_bf16", "avx512", "avx2", "any"
  void (*to_bf16)(const float* x, uint16_t* y, int64_t count);
  void (*to_f16)(const float* x, uint16_t* y, int64_t count);
};

// Those that run on this CPU, the fastest first.
std::span<const RoundFunctions> RoundFunctionsForThisCpu();

// `count` numbers by the fastest, on the threads of the plan.
// REQUIRES: `to` is kBFloat16 or kFloat16; `x` and `y` do not overlap
void RoundFloats(const float* x, int64_t count, DataType to, uint16_t* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ROUND_FLOATS_H_
