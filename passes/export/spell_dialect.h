// SPDX-License-Identifier: Apache-2.0
// Which op of a dialect each node becomes in the file.
#ifndef HALFTONE_PASSES_EXPORT_SPELL_DIALECT_H_
#define HALFTONE_PASSES_EXPORT_SPELL_DIALECT_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// Node::spelling and domain of a node that the dialect writes by an op of its own are that op; of a node that was read
// as such an op and is not written as one any more they are "". Bit-exact: only names change.
class SpellDialect final : public Pass {
 public:
  explicit SpellDialect(const FileDialect& file) : file_(file) {}
  std::string_view name() const override { return "spell-dialect"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPELL_DIALECT_H_
