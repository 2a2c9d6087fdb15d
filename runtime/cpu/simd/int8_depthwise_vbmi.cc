// SPDX-License-Identifier: Apache-2.0
// int8_depthwise.h for AVX-512 VNNI with VBMI: bytes are interleaved by one permutation of two registers.
#include "runtime/cpu/simd/int8_depthwise_kinds.h"
#include "runtime/cpu/simd/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <type_traits>
#include <utility>

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_VNNI_VBMI_FEATURES)
#include "runtime/cpu/simd/int8_depthwise_pass.h"

namespace halftone::simd {
namespace {

// Bytes of rows a and b in one register, c and d in the other: where the four bytes of each channel of a vector are.
struct Places {
  alignas(64) uint8_t at[2][64];
};
constexpr Places MakePlaces() {
  Places places{};
  for (int vector = 0; vector < 2; ++vector) {
    for (int i = 0; i < 16; ++i) {
      const int channel = i / 4 * 8 + vector * 4 + i % 4;
      for (int row = 0; row < 4; ++row) {
        const int place = row / 2 * 64 + row % 2 * 32 + channel;
        places.at[vector][i * 4 + row] = static_cast<uint8_t>(place);
      }
    }
  }
  return places;
}
constexpr Places kPlaces = MakePlaces();

struct Vbmi {
  static inline __attribute__((always_inline)) void Interleave(__m256i a, __m256i b, __m256i c, __m256i d,
                                                               __m512i& even, __m512i& odd) {
    const __m512i ab = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
    const __m512i cd = _mm512_inserti64x4(_mm512_castsi256_si512(c), d, 1);
    even = _mm512_permutex2var_epi8(ab, _mm512_load_si512(kPlaces.at[0]), cd);
    odd = _mm512_permutex2var_epi8(ab, _mm512_load_si512(kPlaces.at[1]), cd);
  }
};

}  // namespace

void DepthwiseVbmi(const DepthwiseBand& band) { AnyBand<Vbmi>(band); }

}  // namespace halftone::simd
HALFTONE_END_WIDE
#endif
