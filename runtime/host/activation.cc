#include "runtime/host/activation.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "runtime/host/parallel.h"
#include "runtime/host/vectors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::host {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

// x sigmoid(alpha x)
struct Swish {
  template <bool kRough, typename V>
  static HALFTONE_INLINE V Of(V x, float alpha) {
    return x / (1.0f + Exp2<kRough>(x * (-kLog2E * alpha)));
  }
};
// By vectors of type V.
template <typename V>
struct OfF32 {
  using Stored = float;
  static constexpr int64_t kLanes = kLanesOf<V>;
  template <typename F, bool kAdds>
  static HALFTONE_INLINE void Apply(float* x, const float* residual, float alpha) {
    V y = F::template Of<false>(LoadFloats<V>(x), alpha);
    if constexpr (kAdds) y += LoadFloats<V>(residual);
    StoreFloats(x, y);
  }
};
template <typename V>
struct OfBf16 {
  using Stored = uint16_t;
  static constexpr int64_t kLanes = 2 * kLanesOf<V>;
  template <typename F, bool kAdds>
  static HALFTONE_INLINE void Apply(uint16_t* x, const uint16_t* residual, float alpha) {
    const PairOf<V> pair = LoadPair<V>(x);
    PairOf<V> y = {F::template Of<true>(pair.even, alpha), F::template Of<true>(pair.odd, alpha)};
    if constexpr (kAdds) {
      const PairOf<V> addend = LoadPair<V>(residual);
      y = {y.even + addend.even, y.odd + addend.odd};
    }
    StorePair(x, y);
  }
};

template <typename F, typename T, bool kAdds>
HALFTONE_INLINE void Blocks(typename T::Stored* x, const typename T::Stored* residual, int64_t count, float alpha) {
  int64_t i = 0;
  for (; i + T::kLanes <= count; i += T::kLanes) {
    T::template Apply<F, kAdds>(x + i, kAdds ? residual + i : nullptr, alpha);
  }
  if (i == count) return;
  typename T::Stored rest[T::kLanes] = {}, rest_of_residual[T::kLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  if (kAdds) std::memcpy(rest_of_residual, residual + i, bytes);
  T::template Apply<F, kAdds>(rest, rest_of_residual, alpha);
  std::memcpy(x + i, rest, bytes);
}
template <typename F, typename T>
HALFTONE_INLINE void Body(typename T::Stored* x, const typename T::Stored* residual, int64_t count, float alpha) {
  if (residual == nullptr) {
    Blocks<F, T, false>(x, residual, count, alpha);
  } else {
    Blocks<F, T, true>(x, residual, count, alpha);
  }
}

#if defined(__x86_64__)
#define HALFTONE_FOR_AVX512_BF16 \
  __attribute__((                \
      target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16,avx2,fma,bmi,bmi2,prefer-vector-width=512")))

// Swish in bf16 by the instructions that are made for it: Exp2<true>, a reciprocal within 2^-14, the rounding.
constexpr int64_t kNativeLanes = 32;
HALFTONE_FOR_AVX512_BF16 inline __m512 FromHalves(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
HALFTONE_FOR_AVX512_BF16 inline __m512 NativeSwish(__m512 x, __m512 factor) {
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
HALFTONE_FOR_AVX512_BF16 inline void NativeSwishBlock(uint16_t* x, const uint16_t* residual, __m512 factor) {
  const __m512i both = _mm512_loadu_si512(x);
  __m512 low = NativeSwish(FromHalves(_mm512_castsi512_si256(both)), factor);
  __m512 high = NativeSwish(FromHalves(_mm512_extracti64x4_epi64(both, 1)), factor);
  if (residual != nullptr) {
    const __m512i addend = _mm512_loadu_si512(residual);
    low = _mm512_add_ps(low, FromHalves(_mm512_castsi512_si256(addend)));
    high = _mm512_add_ps(high, FromHalves(_mm512_extracti64x4_epi64(addend, 1)));
  }
  _mm512_storeu_si512(x, std::bit_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
}
HALFTONE_FOR_AVX512_BF16 void NativeSwishes(uint16_t* x, const uint16_t* residual, int64_t count, float alpha) {
  const __m512 factor = _mm512_set1_ps(-kLog2E * alpha);
  int64_t i = 0;
  for (; i + kNativeLanes <= count; i += kNativeLanes)
    NativeSwishBlock(x + i, residual == nullptr ? nullptr : residual + i, factor);
  if (i == count) return;
  uint16_t rest[kNativeLanes] = {}, rest_of_residual[kNativeLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  if (residual != nullptr) std::memcpy(rest_of_residual, residual + i, bytes);
  NativeSwishBlock(rest, rest_of_residual, factor);
  std::memcpy(x + i, rest, bytes);
}
#endif

template <typename F, template <typename V> typename T>
struct Loops {
  using Of512 = T<Vectors<16>::Floats>;
  using Of256 = T<Vectors<8>::Floats>;
  using Of128 = T<Vectors<4>::Floats>;
  using Stored = typename Of512::Stored;
  using Loop = void (*)(Stored*, const Stored*, int64_t, float);
  HALFTONE_FOR_AVX512 static void Avx512(Stored* x, const Stored* r, int64_t n, float a) { Body<F, Of512>(x, r, n, a); }
  HALFTONE_FOR_AVX2 static void Avx2(Stored* x, const Stored* r, int64_t n, float a) { Body<F, Of256>(x, r, n, a); }
  static void Any(Stored* x, const Stored* r, int64_t n, float a) { Body<F, Of128>(x, r, n, a); }
  static Loop Choose() {
#if defined(__x86_64__)
    if constexpr (std::is_same_v<F, Swish> && std::is_same_v<Stored, uint16_t>) {
      if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("x86-64-v4")) return NativeSwishes;
    }
#endif
    return ForThisCpu<Loop>(Avx512, Avx2, Any);
  }
  static void Run(std::byte* x, const std::byte* residual, int64_t count, float alpha) {
    static const Loop loop = Choose();
    Stored* elements = reinterpret_cast<Stored*>(x);
    const Stored* addends = reinterpret_cast<const Stored*>(residual);
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
      loop(elements + first, addends == nullptr ? nullptr : addends + first, last - first, alpha);
    });
  }
};

template <typename F>
Activate ForType(DataType type) {
  if (type == DataType::kFloat32) return Loops<F, OfF32>::Run;
  return type == DataType::kBFloat16 ? Loops<F, OfBf16>::Run : nullptr;
}

}  // namespace

Activate FastActivation(Activation activation, DataType type) {
  if (!__builtin_cpu_supports("x86-64-v3")) return nullptr;  // not measured there
  return activation == Activation::kSwish ? ForType<Swish>(type) : nullptr;
}

}  // namespace halftone::host
