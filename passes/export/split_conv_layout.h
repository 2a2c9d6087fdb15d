// SPDX-License-Identifier: Apache-2.0
// A convolution in a layout that the format does not have, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_CONV_LAYOUT_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_CONV_LAYOUT_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   conv(x, w) {layout="NHWC"}  =>  ONNX  transpose(conv(transpose(x), w))
// as fuse-conv-layout reads it; a residual is transposed as x is, everything else stays in the conv. TensorFlow has
// both layouts. The last transpose keeps the name. Bit-exact.
class SplitConvLayout final : public Pass {
 public:
  explicit SplitConvLayout(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-conv-layout"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return kBitExact; }

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_CONV_LAYOUT_H_
