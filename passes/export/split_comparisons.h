// SPDX-License-Identifier: Apache-2.0
// A comparison that makes numbers as one that makes bools and a cast, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_COMPARISONS_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_COMPARISONS_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   less(a, b) of type f32  =>  cast(less(a, b)) to f32
// The cast keeps the name. Bit-exact.
class SplitComparisons final : public Pass {
 public:
  explicit SplitComparisons(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-comparisons"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_COMPARISONS_H_
