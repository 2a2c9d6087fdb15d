// SPDX-License-Identifier: Apache-2.0
// Matrices in the panels that BlockMatMul multiplies by, and rows in its types.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ATTENTION_PANELS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ATTENTION_PANELS_H_

#include <cstdint>

#include "ir/types.h"
#include "runtime/cpu/simd/block_matmul.h"

namespace halftone::simd {

// A matrix in memory, in f32 or bf16, with strides in elements.
struct MatrixView {
  const void* from = nullptr;
  DataType type = DataType::kFloat32;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 1;  // one of them is 1
};

inline constexpr int64_t kPanelWidth = 64;
// A step has as many bytes whatever its type is.
inline constexpr int64_t kPanelStepBytes = kPanelWidth * 4;

inline int64_t StepsOf(int64_t rows, const BlockMatMul& matmul) { return (rows + matmul.depth - 1) / matmul.depth; }
inline int64_t PanelsOf(int64_t columns) { return (columns + kPanelWidth - 1) / kPanelWidth; }
inline int64_t PanelBytes(int64_t rows, int64_t columns, const BlockMatMul& matmul) {
  return PanelsOf(columns) * StepsOf(rows, matmul) * kPanelStepBytes;
}

// Panels of 64 columns, [StepsOf(rows)][64][depth] each, the last column's vector of 16 filled up with zeros.
void PackPanels(const MatrixView& matrix, const BlockMatMul& matmul, void* panels);

// Rows with columns next to each other, as BlockMatMul reads them: [rows][StepsOf(columns) * depth], filled up with
// zeros.
void PackRows(const MatrixView& matrix, const BlockMatMul& matmul, void* rows);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ATTENTION_PANELS_H_
