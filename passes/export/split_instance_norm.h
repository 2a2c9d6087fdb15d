// SPDX-License-Identifier: Apache-2.0
// An instance norm as the ops that TensorFlow has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_INSTANCE_NORM_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_INSTANCE_NORM_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   instance_norm(x, scale, offset)  =>  GraphDef  x * k + (offset - mean * k)
// with k = rsqrt(variance + epsilon) * scale and the moments over the spatial dimensions, as TensorFlow's
// batch_normalization writes it and the fusion reads it; the activation follows. Of NCHW the parameters become
// columns, which needs them to be constant or of one known size. ONNX has the op. The last part keeps the name. Rounds
// in another order.
class SplitInstanceNorm final : public Pass {
 public:
  explicit SplitInstanceNorm(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-instance-norm"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_INSTANCE_NORM_H_
