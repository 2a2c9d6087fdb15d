// SPDX-License-Identifier: Apache-2.0
// Activations that TensorFlow has no op for, as the ops that it has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_ACTIVATIONS_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_ACTIVATIONS_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   swish(x) {alpha=a}              =>  x * sigmoid(a * x)
//   hard_sigmoid(x) {alpha, beta}   =>  minimum(maximum(alpha * x + beta, 0), 1)
//   hard_swish(x)                   =>  x * (relu6(x + 3) * (1 / 6))
//   gelu(x)                         =>  0.5 * x * (1 + erf(x / sqrt(2)))
//   gelu(x) {approximate="tanh"}    =>  0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
//   mish(x)                         =>  x * tanh(softplus(x))
// as Keras writes them, so that the fusions know them again; but for what the dialect has an op for. The last part
// keeps the name. Rounds in another order.
class SplitActivations final : public Pass {
 public:
  explicit SplitActivations(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-activations"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_ACTIVATIONS_H_
