// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/activation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/row_activation.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vectors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int64_t kPiece = 2048;   // that stay in the nearest cache

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
  static HALFTONE_INLINE void Apply(const float* x, const float* residual, float* y, float alpha) {
    V v = F::template Of<false>(LoadFloats<V>(x), alpha);
    if constexpr (kAdds) v += LoadFloats<V>(residual);
    StoreFloats(y, v);
  }
};
template <typename V>
struct OfBf16 {
  using Stored = uint16_t;
  static constexpr int64_t kLanes = 2 * kLanesOf<V>;
  template <typename F, bool kAdds>
  static HALFTONE_INLINE void Apply(const uint16_t* x, const uint16_t* residual, uint16_t* y, float alpha) {
    const PairOf<V> pair = LoadPair<V>(x);
    PairOf<V> v = {F::template Of<true>(pair.even, alpha), F::template Of<true>(pair.odd, alpha)};
    if constexpr (kAdds) {
      const PairOf<V> addend = LoadPair<V>(residual);
      v = {v.even + addend.even, v.odd + addend.odd};
    }
    StorePair(y, v);
  }
};

template <typename F, typename T, bool kAdds>
HALFTONE_INLINE void Blocks(const typename T::Stored* x, const typename T::Stored* residual, typename T::Stored* y,
                            int64_t count, float alpha) {
  int64_t i = 0;
  for (; i + T::kLanes <= count; i += T::kLanes) {
    T::template Apply<F, kAdds>(x + i, kAdds ? residual + i : nullptr, y + i, alpha);
  }
  if (i == count) return;
  typename T::Stored rest[T::kLanes] = {}, rest_of_residual[T::kLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  if (kAdds) std::memcpy(rest_of_residual, residual + i, bytes);
  T::template Apply<F, kAdds>(rest, rest_of_residual, rest, alpha);
  std::memcpy(y + i, rest, bytes);
}
template <typename F, typename T>
HALFTONE_INLINE void Body(const typename T::Stored* x, const typename T::Stored* residual, typename T::Stored* y,
                          int64_t count, float alpha) {
  if (residual == nullptr) {
    Blocks<F, T, false>(x, residual, y, count, alpha);
  } else {
    Blocks<F, T, true>(x, residual, y, count, alpha);
  }
}

#if defined(__x86_64__)

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
HALFTONE_FOR_AVX512_BF16 inline void NativeSwishBlock(const uint16_t* x, const uint16_t* residual, uint16_t* y,
                                                      __m512 factor) {
  const __m512i both = _mm512_loadu_si512(x);
  __m512 low = NativeSwish(FromHalves(_mm512_castsi512_si256(both)), factor);
  __m512 high = NativeSwish(FromHalves(_mm512_extracti64x4_epi64(both, 1)), factor);
  if (residual != nullptr) {
    const __m512i addend = _mm512_loadu_si512(residual);
    low = _mm512_add_ps(low, FromHalves(_mm512_castsi512_si256(addend)));
    high = _mm512_add_ps(high, FromHalves(_mm512_extracti64x4_epi64(addend, 1)));
  }
  _mm512_storeu_si512(y, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}
HALFTONE_FOR_AVX512_BF16 void NativeSwishes(const uint16_t* x, const uint16_t* residual, uint16_t* y, int64_t count,
                                            float alpha) {
  const __m512 factor = _mm512_set1_ps(-kLog2E * alpha);
  int64_t i = 0;
  for (; i + kNativeLanes <= count; i += kNativeLanes)
    NativeSwishBlock(x + i, residual == nullptr ? nullptr : residual + i, y + i, factor);
  if (i == count) return;
  uint16_t rest[kNativeLanes] = {}, rest_of_residual[kNativeLanes] = {};
  const size_t bytes = static_cast<size_t>(count - i) * sizeof(rest[0]);
  std::memcpy(rest, x + i, bytes);
  if (residual != nullptr) std::memcpy(rest_of_residual, residual + i, bytes);
  NativeSwishBlock(rest, rest_of_residual, rest, factor);
  std::memcpy(y + i, rest, bytes);
}
#endif

template <typename F, template <typename V> typename T>
struct Loops {
  using Of512 = T<Vectors<16>::Floats>;
  using Of256 = T<Vectors<8>::Floats>;
  using Of128 = T<Vectors<4>::Floats>;
  using Stored = typename Of512::Stored;
  using Loop = void (*)(const Stored*, const Stored*, Stored*, int64_t, float);
  HALFTONE_FOR_AVX512 static void Avx512(const Stored* x, const Stored* r, Stored* y, int64_t n, float a) {
    Body<F, Of512>(x, r, y, n, a);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const Stored* x, const Stored* r, Stored* y, int64_t n, float a) {
    Body<F, Of256>(x, r, y, n, a);
  }
  static void Any(const Stored* x, const Stored* r, Stored* y, int64_t n, float a) { Body<F, Of128>(x, r, y, n, a); }
  static Loop Choose() {
#if defined(__x86_64__)
    if constexpr (std::is_same_v<F, Swish> && std::is_same_v<Stored, uint16_t>) {
      if (HasAvx512Bf16()) return NativeSwishes;
    }
#endif
    return ForThisCpu<Loop>(Avx512, Avx2, Any);
  }
  static void Run(const std::byte* x, const std::byte* residual, std::byte* y, int64_t count, float alpha, float) {
    static const Loop loop = Choose();
    const Stored* from = reinterpret_cast<const Stored*>(x);
    const Stored* addends = reinterpret_cast<const Stored*>(residual);
    Stored* to = reinterpret_cast<Stored*>(y);
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
      loop(from + first, addends == nullptr ? nullptr : addends + first, to + first, last - first, alpha);
    });
  }
};

Activate SwishOf(DataType type) {
  if (type == DataType::kFloat32) return Loops<Swish, OfF32>::Run;
  return type == DataType::kBFloat16 ? Loops<Swish, OfBf16>::Run : nullptr;
}

HALFTONE_SIMD void AddRow(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += x[i];
}

// In f32, by row_activation.h.
template <Activation kKind>
void RunRows(const std::byte* x, const std::byte* residual, std::byte* y, int64_t count, float alpha, float beta) {
  static const ActivateRow row = RowActivation(kKind);
  const float* from = reinterpret_cast<const float*>(x);
  const float* addends = reinterpret_cast<const float*>(residual);
  float* to = reinterpret_cast<float*>(y);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    if (addends == nullptr) return row(from + first, to + first, last - first, alpha, beta);
    for (int64_t i = first; i < last; i += kPiece) {
      const int64_t size = std::min(kPiece, last - i);
      row(from + i, to + i, size, alpha, beta);
      AddRow(addends + i, to + i, size);
    }
  });
}

// In bf16 the numbers from -0 to -infinity are the words from 0x8000 to 0xff80; above are NaN, which stay.
HALFTONE_SIMD void ReluRow(const uint16_t* x, uint16_t* y, int64_t count) {
  HALFTONE_IVDEP
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t below = static_cast<uint16_t>(x[i] - 0x8000u);
    y[i] = below <= 0x7f80u ? uint16_t{0} : x[i];
  }
}
// REQUIRES: no residual
void ReluOfBf16(const std::byte* x, const std::byte*, std::byte* y, int64_t count, float, float) {
  const uint16_t* from = reinterpret_cast<const uint16_t*>(x);
  uint16_t* to = reinterpret_cast<uint16_t*>(y);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) { ReluRow(from + first, to + first, last - first); });
}

Activate ReluOf(DataType type) {
  if (type == DataType::kFloat32) return RunRows<Activation::kRelu>;
  return type == DataType::kBFloat16 ? ReluOfBf16 : nullptr;
}

struct OnAvx2 {
  Activation activation;
  Activate alone, after;
};
template <Activation kKind>
constexpr OnAvx2 Alone() {
  return {kKind, RunRows<kKind>, nullptr};
}
// What wins there (x86-64-v3 without AVX-512), in f32.
constexpr OnAvx2 kOnAvx2[] = {
    Alone<Activation::kClip>(),      Alone<Activation::kLeakyRelu>(),
    Alone<Activation::kSigmoid>(),   Alone<Activation::kHardSigmoid>(),
    Alone<Activation::kHardSwish>(), {Activation::kTanh, RunRows<Activation::kTanh>, RunRows<Activation::kTanh>},
};

const OnAvx2* RowOf(Activation activation, DataType type) {
  if (type != DataType::kFloat32 || HasAvx512()) return nullptr;
  const auto* row = std::ranges::find(kOnAvx2, activation, &OnAvx2::activation);
  return row == std::end(kOnAvx2) ? nullptr : row;
}

}  // namespace

Activate ActivationAfter(Activation activation, DataType type) {
  if (!HasAvx2()) return nullptr;  // not measured there
  if (activation == Activation::kSwish) return SwishOf(type);
  const OnAvx2* row = RowOf(activation, type);
  return row == nullptr ? nullptr : row->after;
}

Activate ActivationAlone(Activation activation, DataType type) {
  if (!HasAvx2()) return nullptr;  // not measured there
  if (activation == Activation::kSwish) return SwishOf(type);
  if (activation == Activation::kRelu) return ReluOf(type);
  const OnAvx2* row = RowOf(activation, type);
  return row == nullptr ? nullptr : row->alone;
}

std::unique_ptr<Step> MakeActivateStep(Activate activate, int64_t count, float alpha, float beta) {
  return std::make_unique<LoopStep>([=](const Memory& m) {
    const std::byte* residual = m.inputs.size() > 1 ? m.inputs[1] : nullptr;
    activate(m.inputs[0], residual, m.outputs[0], count, alpha, beta);
    return absl::OkStatus();
  });
}

}  // namespace halftone::simd
