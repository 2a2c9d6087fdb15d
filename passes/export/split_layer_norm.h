// SPDX-License-Identifier: Apache-2.0
// A layer norm as the ops that TensorFlow has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_LAYER_NORM_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_LAYER_NORM_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   layer_norm(x, scale, offset)  =>  d / sqrt(mean(d * d) + epsilon) * scale + offset   with  d = x - mean(x)
// over the last axes, as the fusion reads it, unless the dialect has an op for it; without the sum where there is no
// offset. The last part keeps the name. Rounds in another order. One whose statistics are read stays, and the exporter
// says that there is no such op.
class SplitLayerNorm final : public Pass {
 public:
  explicit SplitLayerNorm(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-layer-norm"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_LAYER_NORM_H_
