// SPDX-License-Identifier: Apache-2.0
// Int8 matrices widened to 16 bits without their zero points, for matmuls that add in 32 bits (int8_matmul_avx2.h). Two
// neighbours along the depth lie next to each other, so that one instruction (VPMADDWD) multiplies both and adds.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_PANELS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_PANELS_H_

#include <cstddef>
#include <cstdint>

#include "ir/types.h"

namespace halftone::simd {

inline constexpr int64_t kInt8PanelColumns = 16;  // columns

// Elements of s8 or u8, x(i, k) at data[i * stride + k * step]: i is what the result keeps (a row of the left operand,
// a column of the right one), k is what is added up.
struct Int8Operand {
  DataType type = DataType::kUInt8;
  int32_t zero_point = 0;
  int64_t stride = 0, step = 1;
};

// An even depth: what is missing is zeros.
constexpr int64_t EvenDepth(int64_t depth) { return (depth + 1) / 2 * 2; }
constexpr int64_t PanelsOf(int64_t columns) { return (columns + kInt8PanelColumns - 1) / kInt8PanelColumns; }
constexpr int64_t PanelNumbers(int64_t depth) { return EvenDepth(depth) * kInt8PanelColumns; }

// What a convolution of images with channels last adds up: the depth is rows of the window by its columns by channels.
struct ConvWindows {
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1;
    int64_t stride = 1, dilation = 1, pad_begin = 0;
  };
  Axis rows, columns;
  int64_t channels = 1;

  int64_t depth() const { return rows.kernel * columns.kernel * channels; }
};

// to [count][EvenDepth(depth)]. REQUIRES: a CPU with AVX2, as the next ones
void WidenRows(const Int8Operand& operand, const std::byte* data, int64_t count, int64_t depth, int16_t* to);

// The same of the windows of `count` pixels of the result from number `first` on, images one after the other. Of
// `operand` its type and zero point, which is what lies in the padding.
void WidenWindows(const ConvWindows& windows, const Int8Operand& operand, const std::byte* images, int64_t first,
                  int64_t count, int16_t* to);

// to [EvenDepth(depth) / 2][16 columns][2]: up to 16 columns, the missing ones zeros.
void WidenPanel(const Int8Operand& operand, const std::byte* data, int64_t columns, int64_t depth, int16_t* to);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_PANELS_H_
