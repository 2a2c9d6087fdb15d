// SPDX-License-Identifier: Apache-2.0
// Fused contractions as the ops of a format's dialect: the inverse of the fusions, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_FUSED_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_FUSED_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// conv(x, w, b, r) {activation}  =>  activation(conv(x, w, b) + r), as the format writes it:
//   ONNX      a conv keeps its bias; matmul of matrices with a bias or a transposed operand becomes gemm; else matmul,
//             mul (its scale), add
//   GraphDef  conv, mul, bias_add, add "AddV2", activation; pads that the op has no attribute for become a pad before
//   it
//             again
// What the dialect says as one node stays one; where it says only a part, the outermost parts go until it does. So do
// the activations of batch_norm, instance_norm and softplus.
// The last part keeps the name and the output's name; the others are called NAME/conv, NAME/bias_add, NAME/add. Every
// part has the fused node's origin and types. Bit-exact in f32 up to the order of sums; below f32 each part rounds.
// UNIMPLEMENTED: an ONNX matmul of higher rank with a transposed operand.
class SplitFused final : public Pass {
 public:
  explicit SplitFused(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-fused"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  absl::Status SplitNode(GraphEditor& edit, NodeId id) const;

  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_FUSED_H_
