// SPDX-License-Identifier: Apache-2.0
// One step of a recurrent layer as elementwise ops and matmuls, for files without such layers.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_RECURRENT_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_RECURRENT_H_

#include "ir/file_dialect.h"
#include "passes/core/pass.h"

namespace halftone {

//   lstm, gru of one step  =>  matmul(concat(x, h), w) + b, split into gates, ..
// as the fusions read it (fuse_lstm_cell.cc, fuse_gru_cell.cc, fuse_linear_gru_cell.cc). The last part keeps the name;
// cells that shared weights share them. Rounds in another order. Longer sequences and other options stay, and the
// exporter says that there is no such op.
class SplitRecurrent final : public Pass {
 public:
  explicit SplitRecurrent(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "split-recurrent"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return 0.05f; }  // bf16 graphs round more often once they are split

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_RECURRENT_H_
