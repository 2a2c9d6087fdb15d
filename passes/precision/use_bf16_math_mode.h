// SPDX-License-Identifier: Apache-2.0
// bf16 math mode (oneDNN's fpmath_mode) for fp32 models. A precision option: it changes outputs.
#ifndef HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_
#define HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_

#include "passes/core/pass.h"

namespace halftone {

// Gives every conv, matmul, gemm and conv_transpose of f32 with constant weights the attribute math_mode="bf16" where
// the target has a kernel for it: the kernel rounds its operands to bf16; sums, bias, residual and result are f32.
// Types in the graph do not change. The pass is idempotent: nodes with the attribute are skipped.
class UseBf16MathMode final : public Pass {
 public:
  std::string_view name() const override { return "use-bf16-math-mode"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.1f; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_
