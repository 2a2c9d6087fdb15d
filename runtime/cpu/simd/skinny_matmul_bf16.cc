// SPDX-License-Identifier: Apache-2.0
// skinny_matmul.h in bf16: AVX-512 BF16, which multiplies pairs and adds them to sums in f32.
#include "runtime/cpu/simd/skinny_matmul_kinds.h"
#include "runtime/cpu/simd/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_BF16_FEATURES)
#include "runtime/cpu/simd/skinny_matmul_pass.h"

namespace halftone::simd {
namespace {

struct Bf16Sums {
  using Element = uint16_t;
  using Result = uint16_t;
  using Numbers = __m512;
  static constexpr int64_t kDepth = 2;
  static __m512bh Load(const char* weights) { return (__m512bh)_mm512_load_si512(weights); }
  static __m512bh Spread(const uint16_t* x) {
    int pair;
    std::memcpy(&pair, x, sizeof(pair));
    return (__m512bh)_mm512_set1_epi32(pair);
  }
  static __m512 Add(__m512 sum, __m512bh x, __m512bh w) { return _mm512_dpbf16_ps(sum, x, w); }
  static void Store(float* to, __m512 sum) { _mm512_store_ps(to, sum); }
  static __m512 LoadRow(__mmask16 mask, const uint16_t* x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x)), 16));
  }
  static void StoreRow(uint16_t* y, __mmask16 mask, __m512 numbers) {
    _mm256_mask_storeu_epi16(y, mask, (__m256i)_mm512_cvtneps_pbh(numbers));
  }
};

// With y and residual in f32.
struct Bf16ToF32Sums : Bf16Sums {
  using Result = float;
  static __m512 LoadRow(__mmask16 mask, const float* x) { return _mm512_maskz_loadu_ps(mask, x); }
  static void StoreRow(float* y, __mmask16 mask, __m512 numbers) { _mm512_mask_storeu_ps(y, mask, numbers); }
};

}  // namespace

void SkinnyMatMulBf16ToF32(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel) {
  FloatPanels<Bf16ToF32Sums>(task, first_panel, last_panel);
}

void SkinnyMatMulBf16(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel) {
  FloatPanels<Bf16Sums>(task, first_panel, last_panel);
}

void MultiplyBf16(const BlockTask& task) { MultiplyRows<Bf16Sums>(task); }

}  // namespace halftone::simd
HALFTONE_END_WIDE
#endif
