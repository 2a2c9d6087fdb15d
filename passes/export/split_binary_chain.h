// SPDX-License-Identifier: Apache-2.0
// A chain of binary ops as these ops, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_BINARY_CHAIN_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_BINARY_CHAIN_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   binary_chain(a, b, c) {ops=["add", "rsub"], activation="relu"}  =>  relu(c - (a + b))
// The last part keeps the name; the others are called NAME/add and so on. Bit-exact in f32 up to the rounding of the
// parts in between.
class SplitBinaryChain final : public Pass {
 public:
  explicit SplitBinaryChain(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-binary-chain"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_BINARY_CHAIN_H_
