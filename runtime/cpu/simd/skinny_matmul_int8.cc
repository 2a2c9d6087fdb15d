// SPDX-License-Identifier: Apache-2.0
// skinny_matmul.h in int8: AVX-512 VNNI, which multiplies four bytes of u8 and s8 and adds them to sums in s32.
#include "runtime/cpu/simd/skinny_matmul_kinds.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "runtime/cpu/simd/int8_finish.h"
#include "runtime/cpu/simd/targets.h"

HALFTONE_BEGIN_WIDE(HALFTONE_AVX512_VNNI_FEATURES)
#include "runtime/cpu/simd/skinny_matmul_pass.h"

namespace halftone::simd {
namespace {

// `kFlipped`: x of s8 is read as u8, 128 more.
template <uint32_t kFlipped>
struct Int8Sums {
  using Element = uint8_t;
  using Numbers = __m512i;
  static constexpr int64_t kDepth = 4;
  static __m512i Load(const char* weights) { return _mm512_load_si512(weights); }
  static __m512i Spread(const uint8_t* x) {
    uint32_t four;
    std::memcpy(&four, x, sizeof(four));
    return _mm512_set1_epi32(static_cast<int>(four ^ kFlipped));
  }
  static __m512i Add(__m512i sum, __m512i x, __m512i w) { return _mm512_dpbusd_epi32(sum, x, w); }
  static void Store(float* to, __m512i sum) { _mm512_store_si512(to, sum); }
};

// 16 sums as real numbers, or as numbers of steps of the result's scale.
inline __m512 NumbersOf(const Int8Requantization& to, const float* sums, int64_t column) {
  const __m512i sum = _mm512_add_epi32(_mm512_load_si512(sums), _mm512_loadu_si512(to.starts.data() + column));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(to.factors.data() + column),
                         _mm512_loadu_ps(to.offsets.data() + column));
}

// Sums to integers between bounds.
void Clamp(const SkinnyMatMulTask& task, int64_t row, int rows, int64_t column, const Tile& tile) {
  const Int8Requantization& to = *task.requantization;
  const int32_t zero_point = to.finish.zero_point;
  const __m512 low = _mm512_set1_ps(static_cast<float>(to.bounds->low - zero_point));
  const __m512 high = _mm512_set1_ps(static_cast<float>(to.bounds->high - zero_point));
  const __m512i zero = _mm512_set1_epi32(zero_point);
  auto* y = static_cast<uint8_t*>(task.y) + row * task.columns;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t at = column + v * kLanes;
    const __mmask16 mask = MaskOf(task.columns, at);
    for (int r = 0; r < rows; ++r) {
      const __m512 number = NumbersOf(to, tile.numbers + r * kPanelColumns + v * kLanes, at);
      const __m512 clamped = _mm512_min_ps(_mm512_max_ps(number, low), high);
      const __m512i integer = _mm512_add_epi32(_mm512_cvtps_epi32(clamped), zero);
      _mm512_mask_cvtepi32_storeu_epi8(y + r * task.columns + at, mask, integer);
    }
  }
}

// numbers[i] += the residual's.
void AddResidualRow(const Int8Requantization& to, const std::byte* residual, int64_t count, float* numbers) {
  alignas(kLine) float addends[kPanelColumns] = {};
  DequantizeRow(residual, to.residual_type, to.residual_scale, to.residual_zero_point, count, addends);
  for (int64_t i = 0; i < kPanelColumns; ++i) numbers[i] += addends[i];
}

void FinishInt8(const SkinnyMatMulTask& task, int64_t row, int rows, int64_t column, Tile& tile) {
  const Int8Requantization& to = *task.requantization;
  if (to.bounds.has_value()) return Clamp(task, row, rows, column, tile);
  const int64_t count = std::min(kPanelColumns, task.columns - column);
  const auto y_size = static_cast<int64_t>(ElementSize(to.finish.type));
  const auto residual_size = static_cast<int64_t>(ElementSize(to.residual_type));
  for (int r = 0; r < rows; ++r) {
    float* numbers = tile.numbers + r * kPanelColumns;
    for (int v = 0; v < kVectors; ++v)
      _mm512_store_ps(numbers + v * kLanes, NumbersOf(to, numbers + v * kLanes, column + v * kLanes));
    if (task.residual != nullptr) {
      const int64_t at = (row + r) * task.residual_stride + column;
      AddResidualRow(to, static_cast<const std::byte*>(task.residual) + at * residual_size, count, numbers);
    }
    FinishRow(to.finish, numbers, count,
              static_cast<std::byte*>(task.y) + ((row + r) * task.columns + column) * y_size);
  }
}

template <typename Sums>
void Int8Panels(const SkinnyMatMulTask& task, int64_t first, int64_t last) {
  const auto y_size = static_cast<int64_t>(ElementSize(task.requantization->finish.type));
  const auto residual_size = static_cast<int64_t>(ElementSize(task.requantization->residual_type));
  Panels<Sums>(
      task, first, last,
      [&](int64_t row, int rows, int64_t column) { FetchRows(task, row, rows, column, y_size, residual_size); },
      [&](int64_t row, int rows, int64_t column, Tile& tile) { FinishInt8(task, row, rows, column, tile); });
}

}  // namespace

void SkinnyMatMulU8(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel) {
  Int8Panels<Int8Sums<0>>(task, first_panel, last_panel);
}

void SkinnyMatMulS8(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel) {
  Int8Panels<Int8Sums<0x80808080u>>(task, first_panel, last_panel);
}

}  // namespace halftone::simd
HALFTONE_END_WIDE
#endif
