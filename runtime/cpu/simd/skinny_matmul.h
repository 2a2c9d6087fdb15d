// SPDX-License-Identifier: Apache-2.0
// A matmul of a few rows with packed constant weights, in panels of 64 columns. It fetches the next panel from memory
// while it computes the present one, so that weights that are too large for the caches cost no waiting. AVX-512; int8
// needs VNNI, bf16 needs AVX-512 BF16.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_H_
#define HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_H_

#include <cstdint>

#include "ir/ops.h"
#include "ir/types.h"
#include "runtime/cpu/simd/int8_requantization.h"

namespace halftone::simd {

inline constexpr int64_t kPanelColumns = 64;
constexpr int64_t PanelCount(int64_t columns) { return (columns + kPanelColumns - 1) / kPanelColumns; }

// y = activation(scale x weights + bias + residual), or with activation_first activation(scale x weights + bias) +
// residual, rounded once. x is f32 or bf16, y and residual have its type or are f32; sums are f32. Where x is u8 or s8,
// sums are s32, and `bytes` says what follows them.
struct SkinnyMatMulTask {
  const void* x = nullptr;
  int64_t x_stride = 0;  // elements from row to row
  int64_t rows = 0;
  int64_t depth = 0;  // of the sums; even for bf16, a multiple of 4 for bytes
  int64_t columns = 0;
  // Panels of 64 columns, the last filled up with zeros: f32 [depth][64], bf16 [depth / 2][64][2],
  // s8 [depth / 4][64][4]. 64-byte aligned.
  const void* weights = nullptr;
  int64_t panel_bytes = 0;  // from panel to panel
  float scale = 1;
  const float* bias = nullptr;     // one per column, or null
  const void* residual = nullptr;  // as y, or null
  int64_t residual_stride = 0;     // elements from row to row; 0: all rows have the same
  void* y = nullptr;               // dense
  void (*activate)(float* numbers, int64_t count) = nullptr;
  bool activation_first = false;
  const Int8Requantization* requantization = nullptr;  // then there is no scale, bias or activation beside it
};

// Computes columns of the panels [first, last). Thread-safe for disjoint panels.
using SkinnyMatMulFunction = void (*)(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);

// Of x of `type` and weights of the same, or of s8 where it is u8. nullptr: not for these types on this CPU.
SkinnyMatMulFunction SkinnyMatMulFor(DataType type, DataType result);

// Whether the activation can follow, and its function (null for none).
bool HasSkinnyMatMulActivation(Activation activation);
void (*SkinnyMatMulActivation(Activation activation))(float* numbers, int64_t count);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_H_
