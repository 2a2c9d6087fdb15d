// SPDX-License-Identifier: Apache-2.0
// Which of the instructions that loops are compiled for (targets.h) this CPU has.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CPU_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CPU_H_

namespace halftone::simd {

// Widths of vectors.
inline constexpr int kAvx2Bits = 256;
inline constexpr int kAvx512Bits = 512;

#if defined(__x86_64__)
inline bool HasAvx2() { return __builtin_cpu_supports("x86-64-v3") != 0; }    // and FMA
inline bool HasAvx512() { return __builtin_cpu_supports("x86-64-v4") != 0; }  // F, BW, CD, DQ, VL
inline bool HasAvx512Vnni() { return HasAvx512() && __builtin_cpu_supports("avx512vnni") != 0; }
inline bool HasAvx512Vbmi() { return HasAvx512() && __builtin_cpu_supports("avx512vbmi") != 0; }
inline bool HasAvx512Bf16() { return HasAvx512() && __builtin_cpu_supports("avx512bf16") != 0; }
#else
inline bool HasAvx2() { return false; }
inline bool HasAvx512() { return false; }
inline bool HasAvx512Vnni() { return false; }
inline bool HasAvx512Vbmi() { return false; }
inline bool HasAvx512Bf16() { return false; }
#endif

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CPU_H_
