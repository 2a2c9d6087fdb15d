// SPDX-License-Identifier: Apache-2.0
// A convolution in groups as TensorFlow's programs write it, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_CONV_GROUPS_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_CONV_GROUPS_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   conv(x, w) {group=n}  =>  GraphDef  concat(conv(x_0, w_0), conv(x_1, w_1), ..)  with  x_0, x_1, .. = split(x)
// as fuse-grouped-conv reads it, of weights [.., I / n, O] that are constant, groups of several channels: those of one
// are a depthwise convolution. The bias is split as the weights are; residual and activation follow the concat.
// The last part keeps the name. Bit-exact in f32.
class SplitConvGroups final : public Pass {
 public:
  explicit SplitConvGroups(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-conv-groups"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  absl::Status Split(GraphEditor& edit, NodeId conv) const;
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_CONV_GROUPS_H_
