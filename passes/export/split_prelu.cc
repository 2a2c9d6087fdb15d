// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_prelu.h"

#include "passes/export/parts.h"

namespace halftone {

absl::Status SplitPRelu::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kPRelu || !IsFloatingPoint(g.type(g.output(id))) || file_.Writes(g, id)) continue;
    const auto [x, slope] = g.inputs<2>(id);
    const ValueSpec whole{g.type(x), g.shape(x), ""};
    Parts parts(edit, id);
    const ValueId negative = parts.Apply(OpKind::kMinimum, {x, parts.Number("zero", 0, whole.type)}, whole);
    const ValueId positive = parts.Apply(OpKind::kRelu, {x}, whole);
    parts.Finish(parts.Apply(OpKind::kAdd, {positive, parts.Apply(OpKind::kMul, {slope, negative}, whole)}, whole));
  }
  return absl::OkStatus();
}

}  // namespace halftone
