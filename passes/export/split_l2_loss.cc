// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_l2_loss.h"

#include <utility>

#include "passes/export/parts.h"

namespace halftone {

absl::Status SplitL2Loss::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  const bool has_l2_loss = file_.has(FileFeature::kL2Loss);
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kL2Loss || file_.Writes(g, id)) continue;
    const std::vector<ValueId> inputs = g.node(id).inputs;
    if (has_l2_loss && inputs.size() == 1) continue;
    const ValueSpec scalar{g.type(g.output(id)), Shape::Scalar(), ""};
    Parts parts(edit, id);
    std::vector<ValueId> sums;
    for (const ValueId x : inputs) {
      if (has_l2_loss) {
        sums.push_back(parts.Apply(OpKind::kL2Loss, {x}, scalar));
        continue;
      }
      Attributes attributes;
      attributes.Set("keepdims", false);
      sums.push_back(parts.Apply(OpKind::kReduceSumSquare, {x}, scalar, std::move(attributes)));
    }
    ValueId y = sums.size() == 1 ? sums[0] : parts.Apply(OpKind::kAddN, sums, scalar);
    if (!has_l2_loss) y = parts.Apply(OpKind::kMul, {y, parts.Number("half", 0.5, scalar.type)}, scalar);
    parts.Finish(y);
  }
  return absl::OkStatus();
}

}  // namespace halftone
