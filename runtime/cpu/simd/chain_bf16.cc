// SPDX-License-Identifier: Apache-2.0
// chain.h in bf16 by AVX-512 BF16, which rounds sixteen or 32 numbers at once.
#include "runtime/cpu/simd/chain_kinds.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "runtime/cpu/simd/simd.h"

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_BF16_FEATURES)
#include "runtime/cpu/simd/chain_loops.h"

namespace halftone::simd {
namespace {

struct OfNativeBf16 {
  using Stored = uint16_t;
  using Floats = simd::Floats;
  static constexpr int kLanes = 16;
  static constexpr int kVectors = 1;
  static constexpr int kMostVectors = 4;
  static constexpr bool kLoadsOne = false;
  // Of 32 numbers the even ones are a vector and the odd ones: cheaper than the first and the last 16.
  template <int V>
  static HALFTONE_INLINE void LoadAll(const uint16_t* x, Floats (&to)[V]) {
    int v = 0;
    for (; v + 2 <= V; v += 2) {
      const Pair pair = LoadPair(x + 16 * v);
      to[v] = pair.even;
      to[v + 1] = pair.odd;
    }
    if (v == V) return;
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + 16 * v));
    to[v] = __builtin_bit_cast(Floats, _mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
  template <int V>
  static HALFTONE_INLINE void StoreAll(uint16_t* y, const Floats (&from)[V]) {
    int v = 0;
    for (; v + 2 <= V; v += 2) {
      const __m512bh both =
          _mm512_cvtne2ps_pbh(__builtin_bit_cast(__m512, from[v + 1]), __builtin_bit_cast(__m512, from[v]));
      _mm512_storeu_si512(y + 16 * v, _mm512_permutexvar_epi16(InTurns(), __builtin_bit_cast(__m512i, both)));
    }
    if (v == V) return;
    const __m256bh last = _mm512_cvtneps_pbh(__builtin_bit_cast(__m512, from[v]));
    std::memcpy(y + 16 * v, &last, sizeof(last));
  }

 private:
  // Element i of the first half, then element i of the second.
  static HALFTONE_INLINE __m512i InTurns() {
    using Places [[gnu::vector_size(64)]] = uint16_t;
    Places places;
    for (uint16_t i = 0; i < 32; ++i) places[i] = static_cast<uint16_t>(i / 2 + i % 2 * 16);
    return __builtin_bit_cast(__m512i, places);
  }
};

void Rows(const ChainCode& chain, const ChainPieces& pieces) { Body<OfNativeBf16>(chain, pieces); }

}  // namespace

ChainRows NativeBf16Chain() { return HasAvx512Bf16() ? Rows : nullptr; }

}  // namespace halftone::simd
HALFTONE_END_WIDE
#else
namespace halftone::simd {
ChainRows NativeBf16Chain() { return nullptr; }
}  // namespace halftone::simd
#endif
