// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/round_floats.h"

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::simd {
namespace {

HALFTONE_INLINE void Bf16Body(const float* __restrict x, uint16_t* __restrict y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = ToBf16(x[i]);
}
HALFTONE_INLINE void F16Rest(const float* x, uint16_t* y, int64_t first, int64_t count) {
  for (int64_t i = first; i < count; ++i) y[i] = Float16FromFloat(x[i]);
}

void Bf16Any(const float* x, uint16_t* y, int64_t count) { Bf16Body(x, y, count); }
void F16Any(const float* x, uint16_t* y, int64_t count) { F16Rest(x, y, 0, count); }
constexpr RoundFunctions kAny = {"any", Bf16Any, F16Any};

#if defined(__x86_64__)
#define HALFTONE_FOR_F16C HALFTONE_TARGET(HALFTONE_AVX2_FEATURES ",f16c")

HALFTONE_FOR_AVX2 void Bf16Avx2(const float* x, uint16_t* y, int64_t count) { Bf16Body(x, y, count); }
HALFTONE_FOR_AVX512 void Bf16Avx512(const float* x, uint16_t* y, int64_t count) { Bf16Body(x, y, count); }

// By the instruction that is made for it, but where it would make a zero of a denormal number.
HALFTONE_FOR_AVX512_BF16 void Bf16Native(const float* x, uint16_t* y, int64_t count) {
  constexpr int kIsDenormal = 0x20;
  constexpr int64_t kLanes = 32;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512 low = _mm512_loadu_ps(x + i), high = _mm512_loadu_ps(x + i + kLanes / 2);
    const __mmask16 small =
        _kor_mask16(_mm512_fpclass_ps_mask(low, kIsDenormal), _mm512_fpclass_ps_mask(high, kIsDenormal));
    if (small != 0) [[unlikely]] {
      Bf16Body(x + i, y + i, kLanes);
      continue;
    }
    const __m512bh both = _mm512_cvtne2ps_pbh(high, low);
    __builtin_memcpy(y + i, &both, sizeof(both));
  }
  for (; i + kLanes / 2 <= count; i += kLanes / 2) {
    const __m512 numbers = _mm512_loadu_ps(x + i);
    if (_mm512_fpclass_ps_mask(numbers, kIsDenormal) != 0) [[unlikely]] {
      Bf16Body(x + i, y + i, kLanes / 2);
      continue;
    }
    const __m256bh rounded = _mm512_cvtneps_pbh(numbers);
    __builtin_memcpy(y + i, &rounded, sizeof(rounded));
  }
  Bf16Body(x + i, y + i, count - i);
}

HALFTONE_FOR_F16C void F16Avx2(const float* x, uint16_t* y, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), halves);
  }
  F16Rest(x, y, i, count);
}
HALFTONE_FOR_AVX512 void F16Avx512(const float* x, uint16_t* y, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), halves);
  }
  F16Rest(x, y, i, count);
}

constexpr RoundFunctions kAll[] = {
    {"avx512_bf16", Bf16Native, F16Avx512}, {"avx512", Bf16Avx512, F16Avx512}, {"avx2", Bf16Avx2, F16Avx2}, kAny};

size_t FirstThatRuns() {
  if (!HasAvx2()) return 3;
  if (!HasAvx512()) return 2;
  return HasAvx512Bf16() ? 0 : 1;
}
#else
constexpr RoundFunctions kAll[] = {kAny};
size_t FirstThatRuns() { return 0; }
#endif

constexpr int64_t kGrain = 32 << 10;  // about 10 microseconds

}  // namespace

std::span<const RoundFunctions> RoundFunctionsForThisCpu() {
  static const size_t first = FirstThatRuns();
  return std::span<const RoundFunctions>(kAll).subspan(first);
}

void RoundFloats(const float* x, int64_t count, DataType to, uint16_t* y) {
  const RoundFunctions& functions = RoundFunctionsForThisCpu().front();
  const auto round = to == DataType::kBFloat16 ? functions.to_bf16 : functions.to_f16;
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) { round(x + first, y + first, last - first); });
}

}  // namespace halftone::simd
