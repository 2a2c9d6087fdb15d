// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/channel_scale.h"

#include <algorithm>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

struct OfF32 {
  using Stored = float;
  using Value = Floats;
  static constexpr int64_t kLanes = 16;
  static HALFTONE_INLINE Value Product(const float* x, const float* scale) { return LoadFloats(x) * LoadFloats(scale); }
  static HALFTONE_INLINE void Store(float* y, Value v) { StoreFloats(y, v); }
};
struct OfBf16 {
  using Stored = uint16_t;
  using Value = Pair;
  static constexpr int64_t kLanes = 32;
  static HALFTONE_INLINE Value Product(const uint16_t* x, const uint16_t* scale) {
    const Pair a = LoadPair(x), b = LoadPair(scale);
    return {a.even * b.even, a.odd * b.odd};
  }
  static HALFTONE_INLINE void Store(uint16_t* y, Value v) { StorePair(y, v); }
};

template <typename T>
HALFTONE_INLINE void Body(const typename T::Stored* x, const typename T::Stored* scale, int64_t channels,
                          int64_t pixels, typename T::Stored* y) {
  const int64_t last = channels - T::kLanes;
  for (int64_t pixel = 0; pixel < pixels; ++pixel, x += channels, y += channels) {
    const typename T::Value end = T::Product(x + last, scale + last);  // before what it overlaps is written
    for (int64_t c = 0; c < last; c += T::kLanes) T::Store(y + c, T::Product(x + c, scale + c));
    T::Store(y + last, end);
  }
}

template <typename T>
struct Loops {
  using Stored = typename T::Stored;
  using Loop = void (*)(const Stored*, const Stored*, int64_t, int64_t, Stored*);
  HALFTONE_FOR_AVX512 static void Avx512(const Stored* x, const Stored* scale, int64_t channels, int64_t pixels,
                                         Stored* y) {
    Body<T>(x, scale, channels, pixels, y);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const Stored* x, const Stored* scale, int64_t channels, int64_t pixels,
                                     Stored* y) {
    Body<T>(x, scale, channels, pixels, y);
  }
  static void Any(const Stored* x, const Stored* scale, int64_t channels, int64_t pixels, Stored* y) {
    Body<T>(x, scale, channels, pixels, y);
  }
  static void Run(const std::byte* x, const std::byte* scale, int64_t channels, int64_t pixels, std::byte* y) {
    static const Loop loop = ForThisCpu<Loop>(Avx512, Avx2, Any);
    ParallelFor(pixels, std::max<int64_t>(1, kGrain / channels), [&](int64_t first, int64_t last) {
      loop(reinterpret_cast<const Stored*>(x) + first * channels, reinterpret_cast<const Stored*>(scale), channels,
           last - first, reinterpret_cast<Stored*>(y) + first * channels);
    });
  }
};

}  // namespace

void ScaleChannels(DataType type, const std::byte* x, const std::byte* scale, int64_t channels, int64_t pixels,
                   std::byte* y) {
  (type == DataType::kBFloat16 ? Loops<OfBf16>::Run : Loops<OfF32>::Run)(x, scale, channels, pixels, y);
}

}  // namespace halftone::simd
