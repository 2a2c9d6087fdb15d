// SPDX-License-Identifier: Apache-2.0
// skinny_matmul.h in f32: AVX-512 F. The activations too, which are f32 for both types.
#include "runtime/cpu/simd/skinny_matmul_kinds.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "runtime/cpu/simd/targets.h"
#include "runtime/cpu/simd/vector_math.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

// With the tanh written as a sigmoid. `count` is a multiple of 16, as rows of a tile are.
HALFTONE_INLINE void GeluTanhOfVectors(float* numbers, int64_t count) {
  constexpr float kFactor = -1.5957691216f * kLog2E;  // -2 sqrt(2 / pi), for a power of 2
  for (int64_t i = 0; i < count; i += kLanesOf<Floats>) {
    const Floats x = LoadFloats(numbers + i);
    StoreFloats(numbers + i, x / (1.0f + Exp2<false>(kFactor * (x + 0.044715f * x * x * x))));
  }
}

}  // namespace
}  // namespace halftone::simd

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_FEATURES)
#include "runtime/cpu/simd/skinny_matmul_pass.h"

namespace halftone::simd {
namespace {

struct F32Sums {
  using Element = float;
  using Result = float;
  using Numbers = __m512;
  static constexpr int64_t kDepth = 1;
  static __m512 Load(const char* weights) { return _mm512_load_ps(weights); }
  static __m512 Spread(const float* x) { return _mm512_set1_ps(*x); }
  static __m512 Add(__m512 sum, __m512 x, __m512 w) { return _mm512_fmadd_ps(x, w, sum); }
  static void Store(float* to, __m512 sum) { _mm512_store_ps(to, sum); }
  static __m512 LoadRow(__mmask16 mask, const float* x) { return _mm512_maskz_loadu_ps(mask, x); }
  static void StoreRow(float* y, __mmask16 mask, __m512 numbers) { _mm512_mask_storeu_ps(y, mask, numbers); }
};

}  // namespace

void SkinnyMatMulF32(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel) {
  FloatPanels<F32Sums>(task, first_panel, last_panel);
}

void MultiplyF32(const BlockTask& task) { MultiplyRows<F32Sums>(task); }

void ReluOfRow(float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = numbers[i] < 0 ? 0 : numbers[i];
}
void GeluOfRow(float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = GeluOf(numbers[i]);
}
void TanhOfRow(float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = TanhOf(numbers[i]);
}
void SigmoidOfRow(float* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = SigmoidOf(numbers[i]);
}
void GeluTanhOfRow(float* numbers, int64_t count) { GeluTanhOfVectors(numbers, count); }

}  // namespace halftone::simd
HALFTONE_END_WIDE
#endif
