// fp32 models whose products run in bf16: a policy, not a rewrite that keeps answers.
#ifndef HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_
#define HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_

#include "passes/core/pass.h"

namespace halftone {

// Gives every conv, matmul, gemm and conv_transpose of f32 with constant weights the attribute math_mode="bf16" where
// the target has a kernel for it: operands are rounded to bf16 on the way in, sums, bias, residual and result are f32.
// Types in the graph stay as they are. A fixed point: what has the attribute is left alone.
class UseBf16MathMode final : public Pass {
 public:
  std::string_view name() const override { return "use-bf16-math-mode"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.1f; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_USE_BF16_MATH_MODE_H_
