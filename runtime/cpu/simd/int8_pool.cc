// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_pool.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 1 << 17;  // bytes read that are worth a thread

// The part of a window that lies inside, and how many elements count.
struct Span {
  int64_t begin, end, counted;
};
Span SpanOf(const PoolAxis& axis, int64_t at, bool include_pad) {
  const int64_t first = at * axis.stride - axis.pad_begin, last = first + axis.kernel;
  const int64_t begin = std::max<int64_t>(first, 0), end = std::max(begin, std::min(last, axis.in));
  return {begin, end, include_pad ? std::min(last, axis.in + axis.pad_end) - first : end - begin};
}

// As many bytes as a vector has, anywhere.
template <typename T, int kBytes>
struct VectorOf;
template <int kBytes>
struct VectorOf<uint8_t, kBytes> {
  using Type [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = uint8_t;
};
template <int kBytes>
struct VectorOf<int8_t, kBytes> {
  using Type [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = int8_t;
};

// y[i] = the largest of x[i], x[i + step], ... of `times` terms (kTimes, if that is not 0), i < count.
// REQUIRES: count >= kBytes
template <typename T, int kBytes, int kTimes>
HALFTONE_INLINE void LargestOf(const T* x, int64_t step, int64_t times, int64_t count, T* y) {
  using V = typename VectorOf<T, kBytes>::Type;
  const int64_t terms = kTimes > 0 ? kTimes : times;
  for (int64_t i = 0; i < count; i += kBytes) {
    const int64_t at = std::min<int64_t>(i, count - kBytes);  // the last vector does some again
    V most = *reinterpret_cast<const V*>(x + at);
    for (int64_t k = 1; k < terms; ++k) {
      const V next = *reinterpret_cast<const V*>(x + at + k * step);
      most = next > most ? next : most;
    }
    *reinterpret_cast<V*>(y + at) = most;
  }
}
template <typename T>
HALFTONE_INLINE void LargestOfFew(const T* x, int64_t step, int64_t times, int64_t count, T* y) {
  for (int64_t i = 0; i < count; ++i) {
    T most = x[i];
    for (int64_t k = 1; k < times; ++k) most = std::max(most, x[i + k * step]);
    y[i] = most;
  }
}

// The same for `pixels` runs of `count`, whose x lie x_step apart and whose y follow each other.
template <typename T, int kBytes>
HALFTONE_INLINE void LargestOfRuns(const T* x, int64_t x_step, int64_t pixels, int64_t step, int64_t times,
                                   int64_t count, T* y) {
  if (times == 2) {
    for (int64_t p = 0; p < pixels; ++p) LargestOf<T, kBytes, 2>(x + p * x_step, step, 2, count, y + p * count);
  } else if (times == 3) {
    for (int64_t p = 0; p < pixels; ++p) LargestOf<T, kBytes, 3>(x + p * x_step, step, 3, count, y + p * count);
  } else {
    for (int64_t p = 0; p < pixels; ++p) LargestOf<T, kBytes, 0>(x + p * x_step, step, times, count, y + p * count);
  }
}
template <typename T>
HALFTONE_INLINE void LargestOfAny(const T* x, int64_t x_step, int64_t pixels, int64_t step, int64_t times,
                                  int64_t count, T* y) {
  if (count >= 64) return LargestOfRuns<T, 64>(x, x_step, pixels, step, times, count, y);
  if (count >= 32) return LargestOfRuns<T, 32>(x, x_step, pixels, step, times, count, y);
  if (count >= 16) return LargestOfRuns<T, 16>(x, x_step, pixels, step, times, count, y);
  if (count >= 8) return LargestOfRuns<T, 8>(x, x_step, pixels, step, times, count, y);
  for (int64_t p = 0; p < pixels; ++p) LargestOfFew(x + p * x_step, step, times, count, y + p * count);
}

// Rows [first, last) of all images: rows of a window are made one, then its columns, many pixels at once where windows
// lie side by side.
template <typename T>
HALFTONE_INLINE void MaxBody(const Int8Pool& pool, const std::byte* x_bytes, std::byte* y_bytes, std::byte* joined,
                             int64_t first, int64_t last) {
  const int64_t channels = pool.channels, in_row = pool.columns.in * channels, out_row = pool.columns.out * channels;
  const auto* x = reinterpret_cast<const T*>(x_bytes);
  auto* y = reinterpret_cast<T*>(y_bytes);
  auto* row = reinterpret_cast<T*>(joined);
  const PoolAxis& c = pool.columns;
  for (int64_t i = first; i < last; ++i) {
    const Span rows = SpanOf(pool.rows, i % pool.rows.out, false);
    const T* from = x + (i / pool.rows.out * pool.rows.in + rows.begin) * in_row;
    LargestOfAny(from, 0, 1, in_row, rows.end - rows.begin, in_row, row);
    T* to = y + i * out_row;
    for (int64_t column = 0; column < c.out;) {
      const Span span = SpanOf(c, column, false);
      // Whole windows from here on: side by side they are one long run, else a run each.
      int64_t whole = 0;
      if (span.end - span.begin == c.kernel) whole = std::min(c.out - column, (c.in - span.end) / c.stride + 1);
      const bool together = whole > 0 && c.stride == 1;
      const int64_t pixels = together ? 1 : std::max<int64_t>(whole, 1), run = together ? whole : 1;
      LargestOfAny(row + span.begin * channels, c.stride * channels, pixels, channels, span.end - span.begin,
                   run * channels, to + column * channels);
      column += pixels * run;
    }
  }
}

template <typename T>
HALFTONE_INLINE void SumBody(const T* __restrict x, int64_t row_step, int64_t rows, int64_t columns, int64_t channels,
                             int32_t* __restrict sums) {
  for (int64_t c = 0; c < channels; ++c) sums[c] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < columns; ++k) {
      const T* __restrict pixel = x + r * row_step + k * channels;
      for (int64_t c = 0; c < channels; ++c) sums[c] += pixel[c];
    }
  }
}
HALFTONE_INLINE void MeanBody(const int32_t* __restrict sums, int32_t less, float factor, int64_t channels,
                              float* __restrict numbers) {
  for (int64_t c = 0; c < channels; ++c) numbers[c] = static_cast<float>(sums[c] - less) * factor;
}

template <typename T>
HALFTONE_INLINE void AverageBody(const Int8Pool& pool, const std::byte* x_bytes, std::byte* y, std::byte* scratch,
                                 int64_t first, int64_t last) {
  const int64_t channels = pool.channels, in_row = pool.columns.in * channels;
  const size_t pixel = static_cast<size_t>(channels) * ElementSize(pool.finish.type);
  const auto* x = reinterpret_cast<const T*>(x_bytes);
  auto* sums = reinterpret_cast<int32_t*>(scratch);
  auto* numbers = reinterpret_cast<float*>(sums + channels);
  for (int64_t i = first; i < last; ++i) {
    const Span rows = SpanOf(pool.rows, i % pool.rows.out, pool.include_pad);
    const T* from = x + (i / pool.rows.out * pool.rows.in + rows.begin) * in_row;
    for (int64_t column = 0; column < pool.columns.out; ++column) {
      const Span columns = SpanOf(pool.columns, column, pool.include_pad);
      const int64_t inside = (rows.end - rows.begin) * (columns.end - columns.begin);
      SumBody(from + columns.begin * channels, in_row, rows.end - rows.begin, columns.end - columns.begin, channels,
              sums);
      MeanBody(sums, static_cast<int32_t>(inside) * pool.zero_point,
               pool.scale / static_cast<float>(rows.counted * columns.counted), channels, numbers);
      FinishRow(pool.finish, numbers, channels, y + (i * pool.columns.out + column) * pixel);
    }
  }
}

using Loop = void (*)(const Int8Pool&, const std::byte*, std::byte*, std::byte*, int64_t, int64_t);
#define HALFTONE_LOOPS(Name, Body)                                                                                    \
  template <typename T>                                                                                               \
  struct Name {                                                                                                       \
    HALFTONE_FOR_AVX512 static void Avx512(const Int8Pool& p, const std::byte* x, std::byte* y, std::byte* s,         \
                                           int64_t first, int64_t last) {                                             \
      Body<T>(p, x, y, s, first, last);                                                                               \
    }                                                                                                                 \
    HALFTONE_FOR_AVX2 static void Avx2(const Int8Pool& p, const std::byte* x, std::byte* y, std::byte* s,             \
                                       int64_t first, int64_t last) {                                                 \
      Body<T>(p, x, y, s, first, last);                                                                               \
    }                                                                                                                 \
    static void Any(const Int8Pool& p, const std::byte* x, std::byte* y, std::byte* s, int64_t first, int64_t last) { \
      Body<T>(p, x, y, s, first, last);                                                                               \
    }                                                                                                                 \
    static Loop Choose() { return ForThisCpu<Loop>(Avx512, Avx2, Any); }                                              \
  };
HALFTONE_LOOPS(MaxLoops, MaxBody)
HALFTONE_LOOPS(AverageLoops, AverageBody)
#undef HALFTONE_LOOPS

size_t ScratchOfThread(const Int8Pool& pool) {
  const int64_t bytes =
      std::max<int64_t>(pool.columns.in * pool.channels, pool.channels * (sizeof(int32_t) + sizeof(float)));
  return (static_cast<size_t>(bytes) + 63) / 64 * 64;
}

void Run(const Int8Pool& pool, Loop loop, const std::byte* x, std::byte* y, std::byte* scratch) {
  const int64_t row = pool.columns.in * pool.channels * pool.rows.kernel;
  ParallelFor(pool.images * pool.rows.out, kGrain / std::max<int64_t>(row, 1) + 1, [&](int64_t first, int64_t last) {
    loop(pool, x, y, scratch + omp_get_thread_num() * ScratchOfThread(pool), first, last);
  });
}

}  // namespace

size_t Int8PoolScratch(const Int8Pool& pool, int threads) { return ScratchOfThread(pool) * threads; }

void MaxPoolInt8(const Int8Pool& pool, const std::byte* x, std::byte* y, std::byte* scratch) {
  static const Loop of_s8 = MaxLoops<int8_t>::Choose(), of_u8 = MaxLoops<uint8_t>::Choose();
  Run(pool, pool.src == DataType::kInt8 ? of_s8 : of_u8, x, y, scratch);
}

void AveragePoolInt8(const Int8Pool& pool, const std::byte* x, std::byte* y, std::byte* scratch) {
  static const Loop of_s8 = AverageLoops<int8_t>::Choose(), of_u8 = AverageLoops<uint8_t>::Choose();
  Run(pool, pool.src == DataType::kInt8 ? of_s8 : of_u8, x, y, scratch);
}

}  // namespace halftone::simd
