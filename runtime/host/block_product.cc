#include "runtime/host/block_product.h"

#include "runtime/host/dense_kinds.h"
#include "runtime/host/vectors.h"

namespace halftone::host {
namespace {

constexpr int kRows = 4;  // in registers, by 16 columns

// For CPUs without AVX-512.
template <int R>
HALFTONE_INLINE void Pass(const BlockTask& t, int64_t row, int64_t column) {
  const float* x = static_cast<const float*>(t.x) + row * t.x_stride;
  const char* panel = static_cast<const char*>(t.panel) + column * static_cast<int64_t>(sizeof(float));
  Floats sums[R] = {};
  for (int64_t k = 0; k < t.steps; ++k) {
    const Floats w = LoadFloats(reinterpret_cast<const float*>(panel + k * t.step_bytes));
    for (int r = 0; r < R; ++r) sums[r] += x[r * t.x_stride + k] * w;
  }
  for (int r = 0; r < R; ++r) StoreFloats(t.to + (row + r) * t.to_stride + column, sums[r]);
}

HALFTONE_INLINE void Multiply(const BlockTask& task) {
  for (int64_t column = 0; column < task.columns; column += 16) {
    int64_t row = 0;
    for (; row + kRows <= task.rows; row += kRows) Pass<kRows>(task, row, column);
    for (; row < task.rows; ++row) Pass<1>(task, row, column);
  }
}

using Function = decltype(BlockProduct::multiply);
HALFTONE_FOR_AVX2 void MultiplyAvx2(const BlockTask& task) { Multiply(task); }
void MultiplyAny(const BlockTask& task) { Multiply(task); }

}  // namespace

BlockProduct BlockProductFor([[maybe_unused]] DataType type) {
#if defined(__x86_64__) && !defined(__clang__)
  if (__builtin_cpu_supports("x86-64-v4")) {
    if (type == DataType::kBFloat16 && __builtin_cpu_supports("avx512bf16"))
      return {DataType::kBFloat16, 2, MultiplyBf16, true};
    return {DataType::kFloat32, 1, MultiplyF32, true};
  }
#endif
  return {DataType::kFloat32, 1, ForThisCpu<Function>(MultiplyAvx2, MultiplyAvx2, MultiplyAny)};
}

}  // namespace halftone::host
