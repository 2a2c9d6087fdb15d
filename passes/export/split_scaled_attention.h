// SPDX-License-Identifier: Apache-2.0
// A scaled dot product attention as two products and a softmax, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_SCALED_ATTENTION_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_SCALED_ATTENTION_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   scaled_dot_product_attention(q, k, v, mask) {scale=s}  =>  matmul(softmax(matmul(q, k^T, _, mask) {scale=s}), v)
// k^T is a transpose in ONNX and the second operand's own transposition in a GraphDef. SplitFused, which runs later, splits
// the scale and the mask off where they must be. The last matmul keeps the name. Rounds in another order. UNIMPLEMENTED: no scale is given and q's last dimension is not known; k's rank is not known.
class SplitScaledAttention final : public Pass {
 public:
  explicit SplitScaledAttention(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-scaled-attention"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  absl::Status Split(GraphEditor& edit, NodeId id) const;

  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_SCALED_ATTENTION_H_
