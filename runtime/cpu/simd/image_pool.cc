// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/image_pool.h"

#include <algorithm>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 32768;  // elements read that are worth a thread

// The part [begin, end) of a window that lies inside, and how many elements count.
struct Span {
  int64_t begin, end, counted;
};
Span SpanOf(const PoolAxis& axis, int64_t at, bool include_pad) {
  const int64_t first = at * axis.stride - axis.pad_begin, last = first + axis.kernel;
  const int64_t begin = std::max<int64_t>(first, 0), end = std::max(begin, std::min(last, axis.in));
  return {begin, end, include_pad ? std::min(last, axis.in + axis.pad_end) - first : end - begin};
}

// As many elements as are worked on at once, from memory and back. Sums are kept in f32, as they were loaded.
struct OfF32 {
  using Stored = float;
  using Value = Floats;
  static constexpr int64_t kLanes = 16;
  static HALFTONE_INLINE Value Load(const float* x) { return LoadFloats(x); }
  static HALFTONE_INLINE Value LoadSums(const float* x) { return LoadFloats(x); }
  static HALFTONE_INLINE void StoreSums(float* x, Value v) { StoreFloats(x, v); }
  static HALFTONE_INLINE void StoreMax(float* y, Value v) { StoreFloats(y, v); }
  static HALFTONE_INLINE void StoreMean(float* y, Value v, float factor) { StoreFloats(y, v * factor); }
};
struct OfBf16 {
  using Stored = uint16_t;
  using Value = Pair;
  static constexpr int64_t kLanes = 32;
  static HALFTONE_INLINE Value Load(const uint16_t* x) { return LoadPair(x); }
  static HALFTONE_INLINE Value LoadSums(const float* x) { return {LoadFloats(x), LoadFloats(x + 16)}; }
  static HALFTONE_INLINE void StoreSums(float* x, Value v) {
    StoreFloats(x, v.even);
    StoreFloats(x + 16, v.odd);
  }
  static HALFTONE_INLINE void StoreMax(uint16_t* y, Value v) { StoreExactPair(y, v); }
  static HALFTONE_INLINE void StoreMean(uint16_t* y, Value v, float factor) {
    StorePair<Floats>(y, {v.even * factor, v.odd * factor});
  }
};

template <bool kMax>
HALFTONE_INLINE Floats Join(Floats a, Floats b) {
  if constexpr (kMax) return a > b ? a : b;
  return a + b;
}
template <bool kMax>
HALFTONE_INLINE Pair Join(Pair a, Pair b) {
  return {Join<kMax>(a.even, b.even), Join<kMax>(a.odd, b.odd)};
}

// Sums of a pixel begin at multiples of kLanes: the last vector of a pixel does some channels again.
template <typename T>
HALFTONE_INLINE int64_t VectorsOf(int64_t channels) {
  return (channels + T::kLanes - 1) / T::kLanes;
}
template <typename T>
HALFTONE_INLINE int64_t ChannelOf(int64_t vector, int64_t channels) {
  return std::min(vector * T::kLanes, channels - T::kLanes);
}

// The rows of the window made one, column by column.
template <typename T, bool kMax>
HALFTONE_INLINE void JoinRows(const ImagePool& pool, const typename T::Stored* x, int64_t rows, float* sums) {
  const int64_t vectors = VectorsOf<T>(pool.channels);
  for (int64_t column = 0; column < pool.columns.in; ++column, x += pool.channels, sums += vectors * T::kLanes) {
    for (int64_t vector = 0; vector < vectors; ++vector) {
      const auto* at = x + ChannelOf<T>(vector, pool.channels);
      typename T::Value sum = T::Load(at);
      if (rows == 3) {
        sum = Join<kMax>(Join<kMax>(sum, T::Load(at + pool.row_step)), T::Load(at + 2 * pool.row_step));
      } else {
        for (int64_t row = 1; row < rows; ++row) sum = Join<kMax>(sum, T::Load(at + row * pool.row_step));
      }
      T::StoreSums(sums + vector * T::kLanes, sum);
    }
  }
}

// The columns of a window made one pixel of y.
template <typename T, bool kMax>
HALFTONE_INLINE void JoinColumns(const float* sums, int64_t columns, int64_t channels, float factor,
                                 typename T::Stored* y) {
  const int64_t vectors = VectorsOf<T>(channels), step = vectors * T::kLanes;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    const float* at = sums + vector * T::kLanes;
    typename T::Value sum = T::LoadSums(at);
    if (columns == 3) {
      sum = Join<kMax>(Join<kMax>(sum, T::LoadSums(at + step)), T::LoadSums(at + 2 * step));
    } else {
      for (int64_t column = 1; column < columns; ++column) sum = Join<kMax>(sum, T::LoadSums(at + column * step));
    }
    auto* to = y + ChannelOf<T>(vector, channels);
    if constexpr (kMax) {
      T::StoreMax(to, sum);
    } else {
      T::StoreMean(to, sum, factor);
    }
  }
}

// Rows [first, last) of all images.
template <typename T, bool kMax>
HALFTONE_INLINE void Body(const ImagePool& pool, const std::byte* x_bytes, std::byte* y_bytes, float* sums,
                          int64_t first, int64_t last) {
  const auto* x = reinterpret_cast<const typename T::Stored*>(x_bytes);
  auto* y = reinterpret_cast<typename T::Stored*>(y_bytes);
  for (int64_t i = first; i < last; ++i) {
    const Span rows = SpanOf(pool.rows, i % pool.rows.out, pool.include_pad);
    const auto* window = x + i / pool.rows.out * pool.image_step + rows.begin * pool.row_step;
    JoinRows<T, kMax>(pool, window, rows.end - rows.begin, sums);
    for (int64_t column = 0; column < pool.columns.out; ++column) {
      const Span columns = SpanOf(pool.columns, column, pool.include_pad);
      const float factor = 1.0f / static_cast<float>(rows.counted * columns.counted);
      JoinColumns<T, kMax>(sums + columns.begin * VectorsOf<T>(pool.channels) * T::kLanes, columns.end - columns.begin,
                           pool.channels, factor, y + (i * pool.columns.out + column) * pool.channels);
    }
  }
}

using Loop = void (*)(const ImagePool&, const std::byte*, std::byte*, float*, int64_t, int64_t);
template <typename T, bool kMax>
struct Loops {
  HALFTONE_FOR_AVX512 static void Avx512(const ImagePool& pool, const std::byte* x, std::byte* y, float* sums,
                                         int64_t first, int64_t last) {
    Body<T, kMax>(pool, x, y, sums, first, last);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const ImagePool& pool, const std::byte* x, std::byte* y, float* sums,
                                     int64_t first, int64_t last) {
    Body<T, kMax>(pool, x, y, sums, first, last);
  }
  static void Any(const ImagePool& pool, const std::byte* x, std::byte* y, float* sums, int64_t first, int64_t last) {
    Body<T, kMax>(pool, x, y, sums, first, last);
  }
  static Loop Choose() { return ForThisCpu<Loop>(Avx512, Avx2, Any); }
};

// Of one row of x.
int64_t SumsOf(const ImagePool& pool) { return pool.columns.in * VectorsOf<OfBf16>(pool.channels) * OfBf16::kLanes; }

Loop LoopFor(bool max, DataType type) {
  const bool narrow = type == DataType::kBFloat16;
  if (max) return narrow ? Loops<OfBf16, true>::Choose() : Loops<OfF32, true>::Choose();
  return narrow ? Loops<OfBf16, false>::Choose() : Loops<OfF32, false>::Choose();
}

}  // namespace

int64_t PoolLanes(DataType type) { return type == DataType::kBFloat16 ? OfBf16::kLanes : OfF32::kLanes; }

size_t PoolScratch(const ImagePool& pool, int threads) {
  return static_cast<size_t>(SumsOf(pool) * threads) * sizeof(float);
}

void PoolImages(const ImagePool& pool, DataType type, const std::byte* x, std::byte* y, std::byte* scratch) {
  const Loop loop = LoopFor(pool.max, type);
  const int64_t row = pool.columns.in * pool.channels * pool.rows.kernel;
  ParallelFor(pool.images * pool.rows.out, (kGrain + row - 1) / std::max<int64_t>(row, 1),
              [&](int64_t first, int64_t last) {
                auto* sums = reinterpret_cast<float*>(scratch) + omp_get_thread_num() * SumsOf(pool);
                loop(pool, x, y, sums, first, last);
              });
}

}  // namespace halftone::simd
