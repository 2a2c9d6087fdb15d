// SPDX-License-Identifier: Apache-2.0
// A softmax with a scale or an addend as the ops of a format: the inverse of the fusions, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_SOFTMAX_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_SOFTMAX_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   softmax(x, m) {scale=s}  =>  softmax(x * s + m)
// and only the product where the dialect has an op for softmax(x + m). The softmax keeps its name; the others are
// called NAME/mul and NAME/add. Bit-exact in f32.
class SplitSoftmax final : public Pass {
 public:
  explicit SplitSoftmax(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-softmax"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_SOFTMAX_H_
