// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/block_matmul.h"

#include "runtime/cpu/simd/skinny_matmul_kinds.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

// For CPUs without AVX-512. kRows rows by kAcross vectors of type V are in registers.
template <typename V, int kRows, int kAcross>
HALFTONE_INLINE void Pass(const BlockTask& t, int64_t row, int64_t column) {
  constexpr int kLanes = kLanesOf<V>;
  const float* x = static_cast<const float*>(t.x) + row * t.x_stride;
  const char* panel = static_cast<const char*>(t.panel) + column * static_cast<int64_t>(sizeof(float));
  V sums[kRows][kAcross] = {};
  for (int64_t k = 0; k < t.steps; ++k) {
    const auto* w = reinterpret_cast<const float*>(panel + k * t.step_bytes);
    V weights[kAcross];
    for (int v = 0; v < kAcross; ++v) weights[v] = LoadFloats<V>(w + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const float number = x[r * t.x_stride + k];
      for (int v = 0; v < kAcross; ++v) sums[r][v] += number * weights[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kAcross; ++v) StoreFloats(t.to + (row + r) * t.to_stride + column + v * kLanes, sums[r][v]);
  }
}

template <typename V, int kRows>
HALFTONE_INLINE void Multiply(const BlockTask& task) {
  constexpr int kAcross = 16 / kLanesOf<V>;
  for (int64_t column = 0; column < task.columns; column += 16) {
    int64_t row = 0;
    for (; row + kRows <= task.rows; row += kRows) Pass<V, kRows, kAcross>(task, row, column);
    for (; row < task.rows; ++row) Pass<V, 1, kAcross>(task, row, column);
  }
}

using Function = decltype(BlockMatMul::multiply);
HALFTONE_FOR_AVX2 void MultiplyAvx2(const BlockTask& task) { Multiply<Vectors<8>::Floats, 6>(task); }
void MultiplyAny(const BlockTask& task) { Multiply<Vectors<4>::Floats, 3>(task); }

}  // namespace

BlockMatMul BlockMatMulFor([[maybe_unused]] DataType type) {
#if defined(__x86_64__)
  if (HasAvx512()) {
    if (type == DataType::kBFloat16 && HasAvx512Bf16()) return {DataType::kBFloat16, 2, MultiplyBf16, 16};
    return {DataType::kFloat32, 1, MultiplyF32, 16};
  }
#endif
  return {DataType::kFloat32, 1, ForThisCpu<Function>(MultiplyAvx2, MultiplyAvx2, MultiplyAny), HasAvx2() ? 8 : 4};
}

}  // namespace halftone::simd
