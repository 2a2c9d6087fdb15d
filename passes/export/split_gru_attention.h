// SPDX-License-Identifier: Apache-2.0
// A gru with attention as the standard ops of a format, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_GRU_ATTENTION_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_GRU_ATTENTION_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

//   gru(x, w, r, b, _, h, attention)  =>  for each step: z, r = sigmoid(matmul(x, W) + matmul(h, R) + b);
//                                                        c = tanh(...);   h = c + (1 - attention) * z * (h - c)
// No format has a recurrent operator with such a gate. A gru without attention stays. Rounds in another order.
// UNIMPLEMENTED, with what is the matter: two directions, computed weights, sequence lengths, batch first, a clip,
// other activations than sigmoid and tanh; a number of steps or (without an initial state) a batch that is not known.
class SplitGruAttention final : public Pass {
 public:
  explicit SplitGruAttention(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-gru-attention"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_GRU_ATTENTION_H_
