// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/variants.h"

#include "runtime/cpu/simd/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace halftone::simd {
namespace {

// Each calls an intrinsic that only compiles where the attribute has its effect.

HALFTONE_FOR_AVX2 int Avx2() {
  const __m256i x = _mm256_abs_epi32(_mm256_set1_epi32(-17));
  return 8 * _mm256_extract_epi32(x, 0);
}

HALFTONE_FOR_AVX512 int Avx512() {
  return _mm512_reduce_add_epi32(_mm512_set_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
}

HALFTONE_FOR_AVX512_BF16 int Avx512Bf16() {
  const __m512bh twos = _mm512_cvtne2ps_pbh(_mm512_set1_ps(2), _mm512_set1_ps(2));
  return static_cast<int>(_mm512_reduce_add_ps(_mm512_dpbf16_ps(_mm512_set1_ps(0.5f), twos, twos)));
}

HALFTONE_FOR_AVX512_VBMI int Avx512Vbmi() {
  const __m512i bytes = _mm512_permutexvar_epi8(_mm512_setzero_si512(), _mm512_set1_epi8(17));
  return 8 * _mm_cvtsi128_si32(_mm512_castsi512_si128(_mm512_and_si512(bytes, _mm512_set1_epi32(0xff))));
}

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_VNNI_FEATURES)
int Avx512Vnni() {
  const __m512i sums = _mm512_dpbusd_epi32(_mm512_set1_epi32(1), _mm512_set1_epi8(15), _mm512_set1_epi8(1));
  return _mm512_reduce_add_epi32(sums) / 16 + 75;
}
HALFTONE_END_WIDE

#if HALFTONE_HAS_CLONES
HALFTONE_SIMD int Clones() { return kProbe; }
#endif

constexpr Variant kVariants[] = {
    {"AVX2", "elementwise, normalizations, softmax, attention, pools, copies, int8 matmul and depthwise", HasAvx2,
     Avx2},
    {"AVX-512", "the same but int8 matmul; skinny matmul and attention in f32", HasAvx512, Avx512},
    {"AVX-512 VNNI", "skinny matmul and depthwise in int8", HasAvx512Vnni, Avx512Vnni},
    {"AVX-512 VBMI", "int8 depthwise, tables and interleaved channels", HasAvx512Vbmi, Avx512Vbmi},
    {"AVX-512 BF16", "skinny matmul, attention, chains, activations and rounding in bf16", HasAvx512Bf16, Avx512Bf16},
#if HALFTONE_HAS_CLONES
    {"clones", "loops whose function the dynamic linker chooses (HALFTONE_SIMD)", [] { return true; }, Clones},
#endif
};

}  // namespace

std::span<const Variant> CompiledVariants() { return kVariants; }

}  // namespace halftone::simd

#else

namespace halftone::simd {
std::span<const Variant> CompiledVariants() { return {}; }
}  // namespace halftone::simd

#endif
