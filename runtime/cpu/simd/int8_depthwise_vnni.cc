// SPDX-License-Identifier: Apache-2.0
// int8_depthwise.h for AVX-512 VNNI: bytes are widened, put together and unpacked.
#include "runtime/cpu/simd/int8_depthwise_kinds.h"
#include "runtime/cpu/simd/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <type_traits>
#include <utility>

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_VNNI_FEATURES)
#include "runtime/cpu/simd/int8_depthwise_pass.h"

namespace halftone::simd {
namespace {

struct Vnni {
  static inline __attribute__((always_inline)) __m512i Pairs(__m256i a, __m256i b) {
    return _mm512_or_si512(_mm512_cvtepu8_epi16(a), _mm512_slli_epi16(_mm512_cvtepu8_epi16(b), 8));
  }
  static inline __attribute__((always_inline)) void Interleave(__m256i a, __m256i b, __m256i c, __m256i d,
                                                               __m512i& even, __m512i& odd) {
    const __m512i ab = Pairs(a, b), cd = Pairs(c, d);
    even = _mm512_unpacklo_epi16(ab, cd);
    odd = _mm512_unpackhi_epi16(ab, cd);
  }
};

}  // namespace

void DepthwiseVnni(const DepthwiseBand& band) { AnyBand<Vnni>(band); }

}  // namespace halftone::simd
HALFTONE_END_WIDE
#endif
