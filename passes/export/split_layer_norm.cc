// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_layer_norm.h"

#include <numeric>
#include <utility>
#include <vector>

#include "passes/export/parts.h"

namespace halftone {

absl::Status SplitLayerNorm::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const Node node = g.node(id);
    if (node.op != OpKind::kLayerNorm || node.outputs.size() != 1 || !g.shape(node.inputs[0]).has_rank()) continue;
    if (file_.Writes(g, id)) continue;
    const ValueId x = node.inputs[0], scale = node.inputs[1], offset = g.input(id, 2);
    const Shape& shape = g.shape(x);
    const int64_t axis = node.attributes.Int("axis", -1), first = axis < 0 ? axis + shape.rank() : axis;
    if (first < 0 || first >= shape.rank()) continue;
    const ValueSpec whole{g.type(x), shape, ""};
    ValueSpec row = whole;
    std::vector<int32_t> last(shape.rank() - first);
    std::iota(last.begin(), last.end(), -static_cast<int32_t>(last.size()));
    for (const int32_t at : last) row.shape.mutable_dim(at) = Dim::Of(1);
    Attributes kept;
    kept.Set("keepdims", true);
    Parts parts(edit, id);
    const ValueId axes = parts.Constant("axes", Tensor::Of<int32_t>({static_cast<int64_t>(last.size())}, last));
    const ValueId mean = parts.Apply(OpKind::kReduceMean, {x, axes}, row, kept);
    const ValueId centred = parts.Apply(OpKind::kSub, {x, mean}, whole);
    const ValueId squares = parts.Apply(OpKind::kMul, {centred, centred}, whole);
    const ValueId variance = parts.Apply(OpKind::kReduceMean, {squares, axes}, row, kept);
    const ValueId epsilon = parts.Number("epsilon", node.attributes.Float("epsilon", 1e-5f), whole.type);
    const ValueId sum = parts.Apply(OpKind::kAdd, {variance, epsilon}, row);
    const ValueId normal = parts.Apply(OpKind::kDiv, {centred, parts.Apply(OpKind::kSqrt, {sum}, row)}, whole);
    const ValueId scaled = parts.Apply(OpKind::kMul, {normal, scale}, whole);
    parts.Finish(offset.valid() ? parts.Apply(OpKind::kAdd, {scaled, offset}, whole) : scaled);
  }
  return absl::OkStatus();
}

}  // namespace halftone
