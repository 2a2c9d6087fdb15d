// SPDX-License-Identifier: Apache-2.0
// A constant that is read both in f32 and below is stored once.
#ifndef HALFTONE_PASSES_EXPORT_SHARE_CONSTANTS_H_
#define HALFTONE_PASSES_EXPORT_SHARE_CONSTANTS_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   c = const f32, d = const bf16 with the same numbers, rounded  =>  c = const f32, d = cast(c)
// ApplyPrecision leaves both where readers of both types remain. Two of them take 4 + 2 bytes an element in the file,
// one with a cast 4 and a node; so the cast it is where the elements take more than a node does. (bf16 alone with a
// cast to f32 would be smaller yet, but would round what the plan keeps in f32.) Whoever loads the file folds the cast
// of a constant, as we do. In one frame only: the two have the same device and run after the same nodes. Bit-exact.
class ShareConstants final : public Pass {
 public:
  explicit ShareConstants(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "share-constants"; }
  bool enters_nested() const override { return false; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return kBitExact; }

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SHARE_CONSTANTS_H_
