// SPDX-License-Identifier: Apache-2.0
// What the kernels of a few rows with large constant weights share: skinny_matmul.cc, pointwise_conv.cc and
// int8_skinny_matmul.cc.
//
// oneDNN's kernels wait for weights that come from memory; this loop fetches them while it computes, and reads them in
// the order of memory where there are few rows. Weights of 0.5 to 9 MB from memory, f32 and bf16, AVX-512 with 512-bit
// units: 1.2 to 1.3 times as fast at 16 and 32 rows, 1.1 at 64, 1.04 to 1.08 at 128, even at 512. Weights that stay in
// the cache gain nothing: oneDNN takes those, and more rows. Int8: twice as fast at 1 row, 1.4 at 16, 1.08 at 64,
// 1.02 at 128, even at 256.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_SKINNY_MATMUL_STEP_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_SKINNY_MATMUL_STEP_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::onednn {

// The layout of the weights of `type`, a matrix [depth, columns], that the loops read; the empty descriptor if oneDNN
// has no such type. Sets the task's panel_bytes.
Desc PanelsOf(DataType type, simd::SkinnyMatMulTask& task);

// All columns, on the threads of the plan.
void RunSkinnyMatMul(const simd::SkinnyMatMulTask& task, simd::SkinnyMatMulFunction function);

// UNIMPLEMENTED where many rows, or small weights, gain nothing, and where the depth is odd in bf16, or no
// multiple of 4 in int8.
absl::Status IsWorthIt(const simd::SkinnyMatMulTask& task, DataType type);

// What a step owns beside its weights.
struct SkinnyMatMulExtras {
  std::vector<float> bias;                                 // one per column, or empty
  int residual = -1;                                       // which input of the step is added; -1: none
  std::optional<simd::Int8Requantization> requantization;  // where x has bytes
};

// The task with the weights, which lie as the matrix `from` says ([depth, columns]), packed in `type`. The step's first
// input is x.
absl::StatusOr<std::unique_ptr<Step>> MakeSkinnyMatMulStep(simd::SkinnyMatMulTask task,
                                                           simd::SkinnyMatMulFunction function, DataType type,
                                                           const Tensor& weights, const Desc& from,
                                                           SkinnyMatMulExtras extras);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_SKINNY_MATMUL_STEP_H_
