// SPDX-License-Identifier: Apache-2.0
// Functions that are compiled for other instructions than the rest of the build, by GCC and by Clang, and the choice
// among them when the program runs (cpu.h). Which of them a build has: variants.h.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_TARGETS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_TARGETS_H_

#include "runtime/cpu/simd/cpu.h"

// For templates and functions that such a function calls: they must become part of it.
#define HALFTONE_INLINE inline __attribute__((always_inline))

#define HALFTONE_INLINE_LAMBDA __attribute__((always_inline))

#define HALFTONE_AVX2_FEATURES "avx2,fma,bmi,bmi2"
#define HALFTONE_AVX512_FEATURES "avx512f,avx512bw,avx512cd,avx512dq,avx512vl," HALFTONE_AVX2_FEATURES
#define HALFTONE_AVX512_BF16_FEATURES HALFTONE_AVX512_FEATURES ",avx512bf16"
#define HALFTONE_AVX512_VNNI_FEATURES HALFTONE_AVX512_FEATURES ",avx512vnni"
#define HALFTONE_AVX512_VBMI_FEATURES HALFTONE_AVX512_FEATURES ",avx512vbmi"
#define HALFTONE_AVX512_VNNI_VBMI_FEATURES HALFTONE_AVX512_VNNI_FEATURES ",avx512vbmi"

// HALFTONE_WIDE: a function for AVX-512 with vectors of 512 bits, which both compilers avoid unless told.
// HALFTONE_BEGIN_WIDE and HALFTONE_END_WIDE: all functions between them. Clang leaves out lambdas: HALFTONE_WIDE there.
#define HALFTONE_PRAGMA(tokens) _Pragma(#tokens)
#if !defined(__x86_64__)
#define HALFTONE_TARGET(features)
#define HALFTONE_WIDE(features)
#elif defined(__clang__)
#define HALFTONE_TARGET(features) __attribute__((target(features)))
#define HALFTONE_WIDE(features) __attribute__((target(features ",evex512"), min_vector_width(512)))
#define HALFTONE_BEGIN_WIDE(features) \
  HALFTONE_PRAGMA(clang attribute push(HALFTONE_WIDE(features), apply_to = function))
#define HALFTONE_END_WIDE HALFTONE_PRAGMA(clang attribute pop)
#else
#define HALFTONE_TARGET(features) __attribute__((target(features)))
#define HALFTONE_WIDE(features) __attribute__((target(features ",prefer-vector-width=512")))
#define HALFTONE_BEGIN_WIDE(features) \
  HALFTONE_PRAGMA(GCC push_options) HALFTONE_PRAGMA(GCC target(features ",prefer-vector-width=512"))
#define HALFTONE_END_WIDE HALFTONE_PRAGMA(GCC pop_options)
#endif

// Before a loop: its iterations do not depend on each other.
#if defined(__clang__)
#define HALFTONE_IVDEP HALFTONE_PRAGMA(clang loop vectorize(assume_safety))
#else
#define HALFTONE_IVDEP HALFTONE_PRAGMA(GCC ivdep)
#endif

#define HALFTONE_FOR_AVX2 HALFTONE_TARGET(HALFTONE_AVX2_FEATURES)
#define HALFTONE_FOR_AVX512 HALFTONE_WIDE(HALFTONE_AVX512_FEATURES)
#define HALFTONE_FOR_AVX512_BF16 HALFTONE_WIDE(HALFTONE_AVX512_BF16_FEATURES)
#define HALFTONE_FOR_AVX512_VBMI HALFTONE_WIDE(HALFTONE_AVX512_VBMI_FEATURES)

// Before a function that is not a template: compiled for AVX-512, AVX2 and the least CPU; the dynamic linker chooses. The
// sanitizers' start-up does not bear the dynamic linker's choice.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define HALFTONE_HAS_CLONES 1
#define HALFTONE_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HALFTONE_HAS_CLONES 0
#define HALFTONE_SIMD
#endif

namespace halftone::simd {

// The choice among three functions for this CPU.
template <typename T>
const T& ForThisCpu(const T& avx512, const T& avx2, const T& plain) {
  return HasAvx512() ? avx512 : HasAvx2() ? avx2 : plain;
}

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_TARGETS_H_
