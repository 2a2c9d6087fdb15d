#include "runtime/host/block_product.h"

#include "runtime/host/dense_kinds.h"
#include "runtime/host/vector16.h"

namespace halftone::host {
namespace {

constexpr int kRows = 4;  // in registers, by 16 columns

// For CPUs without AVX-512.
template <int R>
HALFTONE_INLINE void Pass(const float* x, int64_t stride, const float* panel, int64_t steps, float* to,
                          int64_t to_stride) {
  Floats sums[R] = {};
  for (int64_t k = 0; k < steps; ++k) {
    const Floats w = LoadFloats(panel + k * kPanelColumns);
    for (int r = 0; r < R; ++r) sums[r] += x[r * stride + k] * w;
  }
  for (int r = 0; r < R; ++r) StoreFloats(to + r * to_stride, sums[r]);
}

HALFTONE_INLINE void Multiply(const void* x, int64_t stride, int64_t rows, const void* panel, int64_t steps, float* to,
                              int64_t to_stride) {
  const float *elements = static_cast<const float*>(x), *weights = static_cast<const float*>(panel);
  for (int64_t column = 0; column < kPanelColumns; column += 16) {
    int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) {
      Pass<kRows>(elements + r * stride, stride, weights + column, steps, to + r * to_stride + column, to_stride);
    }
    for (; r < rows; ++r)
      Pass<1>(elements + r * stride, stride, weights + column, steps, to + r * to_stride + column, to_stride);
  }
}

using Function = decltype(BlockProduct::multiply);
HALFTONE_FOR_AVX2 void MultiplyAvx2(const void* x, int64_t stride, int64_t rows, const void* panel, int64_t steps,
                                    float* to, int64_t to_stride) {
  Multiply(x, stride, rows, panel, steps, to, to_stride);
}
void MultiplyAny(const void* x, int64_t stride, int64_t rows, const void* panel, int64_t steps, float* to,
                 int64_t to_stride) {
  Multiply(x, stride, rows, panel, steps, to, to_stride);
}

}  // namespace

BlockProduct BlockProductFor([[maybe_unused]] DataType type) {
#if defined(__x86_64__) && !defined(__clang__)
  if (__builtin_cpu_supports("x86-64-v4")) {
    if (type == DataType::kBFloat16 && __builtin_cpu_supports("avx512bf16"))
      return {DataType::kBFloat16, 2, MultiplyBf16};
    return {DataType::kFloat32, 1, MultiplyF32};
  }
#endif
  return {DataType::kFloat32, 1, ForThisCpu<Function>(MultiplyAvx2, MultiplyAvx2, MultiplyAny)};
}

}  // namespace halftone::host
