// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_comparisons.h"

#include "passes/export/parts.h"

namespace halftone {
namespace {

bool Compares(OpKind op) {
  using enum OpKind;
  return op == kEqual || op == kNotEqual || op == kLess || op == kLessEqual || op == kGreater || op == kGreaterEqual;
}

}  // namespace

absl::Status SplitComparisons::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (!Compares(g.op(id)) || file_.Writes(g, id)) continue;
    const ValueId y = g.output(id);
    if (g.type(y) == DataType::kBool || g.type(y) == DataType::kUnknown) continue;
    Parts parts(edit, id);
    const ValueId bools = parts.Apply(g.op(id), {g.input(id, 0), g.input(id, 1)}, {DataType::kBool, g.shape(y), ""});
    parts.Finish(parts.Apply(OpKind::kCast, {bools}, {g.type(y), g.shape(y), ""}));
  }
  return absl::OkStatus();
}

}  // namespace halftone
