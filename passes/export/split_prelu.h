// SPDX-License-Identifier: Apache-2.0
// A prelu as the ops that TensorFlow has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_PRELU_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_PRELU_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   prelu(x, slope)  =>  GraphDef  relu(x) + slope * minimum(x, 0)
// as fuse-prelu reads it. ONNX has the op. The last part keeps the name. Bit-exact in f32.
class SplitPRelu final : public Pass {
 public:
  explicit SplitPRelu(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-prelu"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_PRELU_H_
