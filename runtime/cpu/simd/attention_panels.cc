// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/attention_panels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

constexpr int kLanes = 16;

// Rows i and i + W, for all i without bit W: the halves of blocks of 2 W columns change places.
template <int W, int... kLane>
HALFTONE_INLINE void SwapHalvesOf(Words (&rows)[kLanes], std::integer_sequence<int, kLane...>) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & W) != 0) continue;
    const Words a = rows[i], b = rows[i + W];
    rows[i] = __builtin_shufflevector(a, b, ((kLane & W) == 0 ? kLane : kLanes + kLane - W)...);
    rows[i + W] = __builtin_shufflevector(a, b, ((kLane & W) == 0 ? kLane + W : kLanes + kLane)...);
  }
}
template <int W>
HALFTONE_INLINE void SwapHalves(Words (&rows)[kLanes]) {
  SwapHalvesOf<W>(rows, std::make_integer_sequence<int, kLanes>());
}

// to [16][64] = the transpose of up to 16 rows of 16 words, and zeros.
HALFTONE_INLINE void Transpose16(const char* from, int64_t row_bytes, int64_t count, uint32_t* to) {
  Words rows[kLanes] = {};
  if (count == kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) std::memcpy(&rows[i], from + i * row_bytes, sizeof(Words));
  } else {
    for (int i = 0; i < count; ++i) std::memcpy(&rows[i], from + i * row_bytes, sizeof(Words));
  }
  SwapHalves<8>(rows);
  SwapHalves<4>(rows);
  SwapHalves<2>(rows);
  SwapHalves<1>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) std::memcpy(to + i * kPanelWidth, &rows[i], sizeof(Words));
}

// ---- One element as the panel has it: f32, or bf16 from bf16.

HALFTONE_INLINE float ElementAt(const MatrixView& m, int64_t row, int64_t column) {
  const int64_t at = row * m.row_stride + column * m.column_stride;
  return m.type == DataType::kFloat32 ? static_cast<const float*>(m.from)[at]
                                      : FromBf16(static_cast<const uint16_t*>(m.from)[at]);
}
HALFTONE_INLINE uint32_t BitsAt(const MatrixView& m, int64_t row, int64_t column) {
  if (row >= m.rows) return 0;
  return static_cast<const uint16_t*>(m.from)[row * m.row_stride + column * m.column_stride];
}

// A word of a step: one f32, or two bf16 of two rows.
HALFTONE_INLINE uint32_t WordAt(const MatrixView& m, bool pairs, int64_t step, int64_t column) {
  if (!pairs) return std::bit_cast<uint32_t>(ElementAt(m, step, column));
  return BitsAt(m, 2 * step, column) | BitsAt(m, 2 * step + 1, column) << 16;
}

HALFTONE_INLINE void PackWords(const MatrixView& m, bool pairs, int64_t first_step, int64_t last_step,
                               int64_t first_column, int64_t last_column, uint32_t* panel) {
  for (int64_t step = first_step; step < last_step; ++step) {
    for (int64_t c = first_column; c < last_column; ++c) {
      panel[step * kPanelWidth + c % kPanelWidth] = WordAt(m, pairs, step, c);
    }
  }
}

// Columns [first, last) of a matrix whose rows lie together, in 16 by 16 words where there are so many.
HALFTONE_INLINE void PackTransposed(const MatrixView& m, bool pairs, int64_t steps, int64_t first, int64_t last,
                                    uint32_t* panel) {
  const int64_t step_elements = pairs ? 2 : 1;
  const int64_t element_bytes = pairs ? sizeof(uint16_t) : sizeof(float);
  const int64_t whole_steps = m.rows / step_elements / kLanes * kLanes;
  for (int64_t c = first; c < last; c += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, last - c);
    const char* from = static_cast<const char*>(m.from) + c * m.column_stride * element_bytes;
    for (int64_t step = 0; step < whole_steps; step += kLanes) {
      Transpose16(from + step * sizeof(uint32_t), m.column_stride * element_bytes, count,
                  panel + step * kPanelWidth + c % kPanelWidth);
    }
    PackWords(m, pairs, whole_steps, steps, c, c + count, panel);
  }
}

// Columns [first, last) of a matrix whose columns lie together.
HALFTONE_INLINE void PackStraight(const MatrixView& m, bool pairs, int64_t steps, int64_t first, int64_t last,
                                  uint32_t* panel) {
  const int64_t count = last - first;
  for (int64_t step = 0; step < steps; ++step) {
    uint32_t* to = panel + step * kPanelWidth;
    if (!pairs) {
      std::memcpy(to, static_cast<const float*>(m.from) + step * m.row_stride + first, count * sizeof(float));
      continue;
    }
    const uint16_t* even = static_cast<const uint16_t*>(m.from) + 2 * step * m.row_stride + first;
    if (2 * step + 1 == m.rows) {
      for (int64_t i = 0; i < count; ++i) to[i] = even[i];
    } else {
      const uint16_t* odd = even + m.row_stride;
      for (int64_t i = 0; i < count; ++i) to[i] = even[i] | static_cast<uint32_t>(odd[i]) << 16;
    }
  }
}

// bf16 that is multiplied in f32 is packed element by element.
HALFTONE_INLINE void Pack(const MatrixView& m, const BlockMatMul& matmul, uint32_t* panel) {
  const bool pairs = matmul.depth == 2, same = m.type == matmul.type;
  const int64_t steps = StepsOf(m.rows, matmul);
  for (int64_t first = 0; first < m.columns; first += kPanelWidth, panel += steps * kPanelWidth) {
    const int64_t last = std::min(m.columns, first + kPanelWidth);
    if (!same) {
      PackWords(m, pairs, 0, steps, first, last, panel);
    } else if (m.row_stride == 1 && m.column_stride != 1) {
      PackTransposed(m, pairs, steps, first, last, panel);
    } else {
      PackStraight(m, pairs, steps, first, last, panel);
    }
    const int64_t count = last - first, whole = (count + kLanes - 1) / kLanes * kLanes;
    for (int64_t step = 0; count < whole && step < steps; ++step) {
      std::fill(panel + step * kPanelWidth + count, panel + step * kPanelWidth + whole, 0u);
    }
  }
}

using Function = void (*)(const MatrixView&, const BlockMatMul&, uint32_t*);
HALFTONE_FOR_AVX512 void PackAvx512(const MatrixView& m, const BlockMatMul& p, uint32_t* to) { Pack(m, p, to); }
HALFTONE_FOR_AVX2 void PackAvx2(const MatrixView& m, const BlockMatMul& p, uint32_t* to) { Pack(m, p, to); }
void PackAny(const MatrixView& m, const BlockMatMul& p, uint32_t* to) { Pack(m, p, to); }

}  // namespace

void PackPanels(const MatrixView& matrix, const BlockMatMul& matmul, void* panels) {
  static const Function function = ForThisCpu<Function>(PackAvx512, PackAvx2, PackAny);
  function(matrix, matmul, static_cast<uint32_t*>(panels));
}

void PackRows(const MatrixView& matrix, const BlockMatMul& matmul, void* rows) {
  const int64_t stride = StepsOf(matrix.columns, matmul) * matmul.depth;
  if (matmul.type == DataType::kFloat32) {
    float* to = static_cast<float*>(rows);
    for (int64_t r = 0; r < matrix.rows; ++r) {
      for (int64_t c = 0; c < matrix.columns; ++c) to[r * stride + c] = ElementAt(matrix, r, c);
    }
    return;
  }
  uint16_t* to = static_cast<uint16_t*>(rows);
  for (int64_t r = 0; r < matrix.rows; ++r) {
    std::memcpy(to + r * stride, static_cast<const uint16_t*>(matrix.from) + r * matrix.row_stride,
                matrix.columns * sizeof(uint16_t));
    std::fill(to + r * stride + matrix.columns, to + (r + 1) * stride, uint16_t{0});
  }
}

}  // namespace halftone::simd
