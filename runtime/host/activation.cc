#include "runtime/host/activation.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "runtime/host/parallel.h"
#include "runtime/host/vector16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::host {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

// 2^n times a polynomial of the rest. Relative errors of 1.2e-7 and 5e-4 (a sixth of bf16's last digit). Below 2^-127
// 0, from 2^128 on infinity.
template <bool kRough>
HALFTONE_INLINE Floats Exp2(Floats t) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  t = t < -127.0f ? Floats{} - 127.0f : t;
  t = t > 128.0f ? Floats{} + 128.0f : t;
  const Floats shifted = t + kShift;
  const Floats r = t - (shifted - kShift);
  Floats p;
  if constexpr (kRough) {
    p = 0.0555f * r + 0.2413f;
    p = p * r + 0.6932f;
  } else {
    p = 1.5403530e-4f * r + 1.33335581e-3f;
    p = p * r + 9.61812911e-3f;
    p = p * r + 5.55041087e-2f;
    p = p * r + 2.40226507e-1f;
    p = p * r + 6.93147182e-1f;
  }
  p = p * r + 1.0f;
  return std::bit_cast<Floats>(std::bit_cast<Ints>(p) + (std::bit_cast<Ints>(shifted) << 23));
}

constexpr float kLog2E = 1.44269504f;

// x sigmoid(alpha x)
struct Swish {
  template <bool kRough>
  static HALFTONE_INLINE Floats Of(Floats x, float alpha) {
    return x / (1.0f + Exp2<kRough>(x * (-kLog2E * alpha)));
  }
};
struct OfF32 {
  using Stored = float;
  static constexpr bool kNarrow = false;
  static constexpr int64_t kLanes = 16;
  template <typename F>
  static HALFTONE_INLINE void Apply(float* x, float alpha) {
    StoreFloats(x, F::template Of<false>(LoadFloats(x), alpha));
  }
};
struct OfBf16 {
  using Stored = uint16_t;
  static constexpr bool kNarrow = true;
  static constexpr int64_t kLanes = 32;
  template <typename F>
  static HALFTONE_INLINE void Apply(uint16_t* x, float alpha) {
    const Pair pair = LoadPair(x);
    StorePair(x, {F::template Of<true>(pair.even, alpha), F::template Of<true>(pair.odd, alpha)});
  }
};

template <typename F, typename T>
HALFTONE_INLINE void Body(typename T::Stored* x, int64_t count, float alpha) {
  int64_t i = 0;
  for (; i + T::kLanes <= count; i += T::kLanes) T::template Apply<F>(x + i, alpha);
  if (i == count) return;
  typename T::Stored rest[T::kLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  T::template Apply<F>(rest, alpha);
  std::memcpy(x + i, rest, bytes);
}

#if defined(__x86_64__)
#define HALFTONE_FOR_AVX512_BF16 \
  __attribute__((                \
      target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16,avx2,fma,bmi,bmi2,prefer-vector-width=512")))

// Swish in bf16 by the instructions that are made for it: Exp2<true>, a reciprocal within 2^-14, the rounding.
HALFTONE_FOR_AVX512_BF16 inline __m512 NativeSwish(__m256i halves, __m512 factor) {
  const __m512 x = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  const __m512 scaled = _mm512_mul_ps(x, factor);
  const __m512 t = _mm512_min_ps(_mm512_set1_ps(128), _mm512_max_ps(_mm512_set1_ps(-127), scaled));
  const __m512 n = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT);
  const __m512 r = _mm512_sub_ps(t, n);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.0555f), r, _mm512_set1_ps(0.2413f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.6932f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  const __m512 d = _mm512_add_ps(_mm512_scalef_ps(p, n), _mm512_set1_ps(1.0f));
  return _mm512_mul_ps(x, _mm512_rcp14_ps(d));
}
HALFTONE_FOR_AVX512_BF16 void NativeSwishes(uint16_t* x, int64_t count, float alpha) {
  const __m512 factor = _mm512_set1_ps(-kLog2E * alpha);
  int64_t i = 0;
  for (; i + OfBf16::kLanes <= count; i += OfBf16::kLanes) {
    const __m512i both = _mm512_loadu_si512(x + i);
    const __m512 low = NativeSwish(_mm512_castsi512_si256(both), factor);
    const __m512 high = NativeSwish(_mm512_extracti64x4_epi64(both, 1), factor);
    _mm512_storeu_si512(x + i, std::bit_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  if (i == count) return;
  uint16_t rest[OfBf16::kLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  NativeSwishes(rest, OfBf16::kLanes, alpha);
  std::memcpy(x + i, rest, bytes);
}
#endif

template <typename F, typename T>
struct Loops {
  using Stored = typename T::Stored;
  using Loop = void (*)(Stored*, int64_t, float);
  HALFTONE_FOR_AVX512 static void Avx512(Stored* x, int64_t count, float alpha) { Body<F, T>(x, count, alpha); }
  HALFTONE_FOR_AVX2 static void Avx2(Stored* x, int64_t count, float alpha) { Body<F, T>(x, count, alpha); }
  static void Any(Stored* x, int64_t count, float alpha) { Body<F, T>(x, count, alpha); }
  static Loop Choose() {
#if defined(__x86_64__)
    if constexpr (std::is_same_v<F, Swish> && std::is_same_v<T, OfBf16>) {
      if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("x86-64-v4")) return NativeSwishes;
    }
#endif
    return ForThisCpu<Loop>(Avx512, Avx2, Any);
  }
  static void Run(std::byte* x, int64_t count, float alpha) {
    static const Loop loop = Choose();
    Stored* elements = reinterpret_cast<Stored*>(x);
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) { loop(elements + first, last - first, alpha); });
  }
};

template <typename F>
Activate ForType(DataType type) {
  if (type == DataType::kFloat32) return Loops<F, OfF32>::Run;
  return type == DataType::kBFloat16 ? Loops<F, OfBf16>::Run : nullptr;
}

}  // namespace

Activate FastActivation(Activation activation, DataType type) {
  if (!__builtin_cpu_supports("x86-64-v4")) return nullptr;  // not measured there
  return activation == Activation::kSwish ? ForType<Swish>(type) : nullptr;
}

}  // namespace halftone::host
