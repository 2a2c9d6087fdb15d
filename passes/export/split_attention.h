// SPDX-License-Identifier: Apache-2.0
// An attention with its projections as standard ops, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_ATTENTION_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_ATTENTION_H_

#include "ir/file_dialect.h"
#include "passes/core/pass.h"

namespace halftone {

//   attention(x, w, b, _, _, addend) {num_heads, scale}
//       =>  join(scaled_dot_product_attention(heads(q), heads(k), heads(v), addend) {scale})
//           where   q, k, v = split(x w + b)
// heads and join are a reshape and a transpose. The last reshape keeps the name. Those with a mask of keys, with a past,
// with more than one result or with sizes that are not known stay: the exporter writes them as they are. Not for a dialect that merges
// projections and attention into one node (kMergedAttention).
class SplitAttention final : public Pass {
 public:
  explicit SplitAttention(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-attention"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_ATTENTION_H_
