// SPDX-License-Identifier: Apache-2.0
// Half the sum of squares of several tensors as the ops of a format, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_L2_LOSS_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_L2_LOSS_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   l2_loss(a, b)  =>  ONNX      (reduce_sum_square(a) + reduce_sum_square(b)) * 0.5
//                      GraphDef  add_n(l2_loss(a), l2_loss(b)); l2_loss of one tensor stays: it is TensorFlow's L2Loss
// The last part keeps the name. Rounds in another order.
class SplitL2Loss final : public Pass {
 public:
  explicit SplitL2Loss(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-l2-loss"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_L2_LOSS_H_
