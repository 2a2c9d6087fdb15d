// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_panels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <utility>

#include "runtime/cpu/simd/vector_math.h"

#define HALFTONE_PART HALFTONE_FOR_AVX2 inline __attribute__((always_inline))

namespace halftone::simd {
namespace {

constexpr int64_t kWords = 16;  // of a vector

HALFTONE_PART __m256i Widened(const uint8_t* x) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
HALFTONE_PART __m256i Widened(const int8_t* x) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
HALFTONE_PART void Store(int16_t* to, __m256i words) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words); }

template <typename T>
HALFTONE_FOR_AVX2 void Rows(const T* x, const Int8Operand& operand, int64_t count, int64_t depth, int16_t* to) {
  const int64_t even = EvenDepth(depth);
  const auto zero = static_cast<int16_t>(operand.zero_point);
  for (int64_t i = 0; i < count; ++i, to += even) {
    const T* row = x + i * operand.stride;
    if (operand.step == 1) {
      for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(row[k] - zero);
    } else {
      for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(row[k * operand.step] - zero);
    }
    if (even > depth) to[depth] = 0;
  }
}

// Columns of one row of a window, [kernel][channels]; `row`: of the image, or null in the padding.
template <typename T>
HALFTONE_PART void RowOfWindow(const ConvWindows& w, const T* row, int16_t zero, int64_t column, int16_t* to) {
  const ConvWindows::Axis& c = w.columns;
  const int64_t begin = column * c.stride - c.pad_begin;
  for (int64_t k = 0; k < c.kernel; ++k) {
    const int64_t at = begin + k * c.dilation;
    const bool inside = row != nullptr && at >= 0 && at < c.in;
    // What lies next to each other is one run.
    const int64_t run = !inside || c.dilation > 1 ? 1 : std::min(c.kernel - k, c.in - at);
    const int64_t count = run * w.channels;
    if (inside) {
      const T* from = row + at * w.channels;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = 0;
    }
    to += count;
    k += run - 1;
  }
}

template <typename T>
HALFTONE_FOR_AVX2 void Windows(const T* x, const ConvWindows& w, int32_t zero_point, int64_t first, int64_t count,
                               int16_t* to) {
  const int64_t depth = w.depth(), even = EvenDepth(depth), row_size = w.columns.in * w.channels;
  const auto zero = static_cast<int16_t>(zero_point);
  for (int64_t i = first; i < first + count; ++i, to += even) {
    const int64_t column = i % w.columns.out, line = i / w.columns.out;
    const T* image = x + line / w.rows.out * w.rows.in * row_size;
    const int64_t begin = line % w.rows.out * w.rows.stride - w.rows.pad_begin;
    for (int64_t k = 0; k < w.rows.kernel; ++k) {
      const int64_t at = begin + k * w.rows.dilation;
      const T* row = at >= 0 && at < w.rows.in ? image + at * row_size : nullptr;
      RowOfWindow(w, row, zero, column, to + k * w.columns.kernel * w.channels);
    }
    if (even > depth) to[depth] = 0;
  }
}

// Any columns and pairs, number by number.
template <typename T>
void PanelByNumbers(const T* x, const Int8Operand& operand, int64_t columns, int64_t depth, int64_t first,
                    int16_t* to) {
  for (int64_t k = first; k < EvenDepth(depth); ++k) {
    for (int64_t j = 0; j < kInt8PanelColumns; ++j) {
      const bool inside = j < columns && k < depth;
      const int32_t number = inside ? x[j * operand.stride + k * operand.step] - operand.zero_point : 0;
      to[k / 2 * (2 * kInt8PanelColumns) + j * 2 + k % 2] = static_cast<int16_t>(number);
    }
  }
}

// Columns lie next to each other: two rows are interleaved.
template <typename T>
HALFTONE_FOR_AVX2 void PanelOfRows(const T* x, const Int8Operand& operand, int64_t depth, int16_t* to) {
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(operand.zero_point));
  for (int64_t k = 0; k < depth; k += 2, to += 2 * kWords) {
    const __m256i even = _mm256_sub_epi16(Widened(x + k * operand.step), zero);
    const __m256i odd =
        k + 1 < depth ? _mm256_sub_epi16(Widened(x + (k + 1) * operand.step), zero) : _mm256_setzero_si256();
    const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
    Store(to, _mm256_permute2x128_si256(low, high, 0x20));
    Store(to + kWords, _mm256_permute2x128_si256(low, high, 0x31));
  }
}

// x[i] has eight pairs of column i: afterwards x[k] has the pairs k of eight columns.
HALFTONE_PART void TransposePairs(__m256i (&x)[8]) {
  __m256i twos[8], fours[8];
  for (int i = 0; i < 8; i += 2) {
    twos[i] = _mm256_unpacklo_epi32(x[i], x[i + 1]);
    twos[i + 1] = _mm256_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm256_unpacklo_epi64(twos[i + j], twos[i + j + 2]);
      fours[i + 2 * j + 1] = _mm256_unpackhi_epi64(twos[i + j], twos[i + j + 2]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
    x[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
  }
}

// The depth lies next to each other: 16 of it of eight columns at a time. Returns how much of the depth is done.
template <typename T>
HALFTONE_FOR_AVX2 int64_t PanelOfColumns(const T* x, const Int8Operand& operand, int64_t depth, int16_t* to) {
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(operand.zero_point));
  int64_t k = 0;
  for (; k + kWords <= depth; k += kWords) {
    for (int64_t half = 0; half < 2; ++half) {
      __m256i pairs[8];
      for (int64_t i = 0; i < 8; ++i)
        pairs[i] = _mm256_sub_epi16(Widened(x + (half * 8 + i) * operand.stride + k), zero);
      TransposePairs(pairs);
      for (int64_t i = 0; i < 8; ++i) Store(to + (k / 2 + i) * 2 * kWords + half * kWords, pairs[i]);
    }
  }
  return k;
}

template <typename T>
void Panel(const T* x, const Int8Operand& operand, int64_t columns, int64_t depth, int16_t* to) {
  int64_t done = 0;
  if (columns == kInt8PanelColumns && operand.stride == 1) {
    PanelOfRows(x, operand, depth, to);
    return;
  }
  if (columns == kInt8PanelColumns && operand.step == 1) done = PanelOfColumns(x, operand, depth, to);
  PanelByNumbers(x, operand, columns, depth, done, to);
}

}  // namespace

void WidenRows(const Int8Operand& operand, const std::byte* data, int64_t count, int64_t depth, int16_t* to) {
  if (operand.type == DataType::kUInt8) {
    Rows(reinterpret_cast<const uint8_t*>(data), operand, count, depth, to);
  } else {
    Rows(reinterpret_cast<const int8_t*>(data), operand, count, depth, to);
  }
}

void WidenWindows(const ConvWindows& windows, const Int8Operand& operand, const std::byte* images, int64_t first,
                  int64_t count, int16_t* to) {
  if (operand.type == DataType::kUInt8) {
    Windows(reinterpret_cast<const uint8_t*>(images), windows, operand.zero_point, first, count, to);
  } else {
    Windows(reinterpret_cast<const int8_t*>(images), windows, operand.zero_point, first, count, to);
  }
}

void WidenPanel(const Int8Operand& operand, const std::byte* data, int64_t columns, int64_t depth, int16_t* to) {
  if (operand.type == DataType::kUInt8) {
    Panel(reinterpret_cast<const uint8_t*>(data), operand, columns, depth, to);
  } else {
    Panel(reinterpret_cast<const int8_t*>(data), operand, columns, depth, to);
  }
}

}  // namespace halftone::simd
#endif
