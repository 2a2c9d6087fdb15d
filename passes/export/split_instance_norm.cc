// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_instance_norm.h"

#include <numeric>
#include <utility>
#include <vector>

#include "ir/window.h"
#include "passes/export/parts.h"

namespace halftone {
namespace {

// A vector over the channels as it broadcasts to an image: [C] of NHWC, [C, 1, 1] of NCHW.
ValueId Column(Parts& parts, const Graph& g, ValueId vector, bool last, int spatial) {
  if (last) return vector;
  std::vector<int64_t> dims(spatial + 1, 1);
  if (const Tensor* tensor = g.ConstantTensor(vector); tensor != nullptr) {
    dims[0] = tensor->num_elements();
    return parts.Constant("column", tensor->WithDims(dims));
  }
  dims[0] = -1;
  std::vector<Dim> shape(spatial + 1, Dim::Of(1));
  if (g.shape(vector).has_rank() && g.shape(vector).rank() == 1) shape[0] = g.shape(vector).dim(0);
  const std::vector<int32_t> numbers(dims.begin(), dims.end());
  const ValueId wanted = parts.Constant("shape", Tensor::Of<int32_t>({spatial + 1}, numbers));
  return parts.Apply(OpKind::kReshape, {vector, wanted}, {g.type(vector), Shape(std::move(shape)), ""});
}

}  // namespace

absl::Status SplitInstanceNorm::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const Node node = g.node(id);
    if (node.op != OpKind::kInstanceNorm || !g.shape(node.inputs[0]).has_rank()) continue;
    if (g.shape(node.inputs[0]).rank() < 3 || file_.Writes(g, id)) continue;
    const ValueId x = node.inputs[0];
    const ValueSpec whole{g.type(x), g.shape(x), ""};
    const int spatial = whole.shape.rank() - 2;
    std::vector<int32_t> axes(spatial);
    std::iota(axes.begin(), axes.end(), FirstSpatialAxis(node.attributes));
    ValueSpec one = whole;  // one number an image and channel
    for (const int32_t axis : axes) one.shape.mutable_dim(axis) = Dim::Of(1);
    Attributes kept;
    kept.Set("keepdims", true);
    Parts parts(edit, id);
    const bool last = IsChannelsLast(node.attributes);
    const ValueId scale = Column(parts, g, node.inputs[1], last, spatial);
    const ValueId offset = Column(parts, g, node.inputs[2], last, spatial);
    const ValueId over = parts.Constant("axes", Tensor::Of<int32_t>({spatial}, axes));
    const ValueId mean = parts.Apply(OpKind::kReduceMean, {x, over}, one, kept);
    const ValueId squares = parts.Apply(OpKind::kSquaredDifference, {x, mean}, whole);
    const ValueId variance = parts.Apply(OpKind::kReduceMean, {squares, over}, one, kept);
    const ValueId epsilon = parts.Number("epsilon", node.attributes.Float("epsilon", 1e-5f), whole.type);
    const ValueId inverse = parts.Apply(OpKind::kRsqrt, {parts.Apply(OpKind::kAdd, {variance, epsilon}, one)}, one);
    const ValueId k = parts.Apply(OpKind::kMul, {inverse, scale}, one);
    const ValueId shift = parts.Apply(OpKind::kSub, {offset, parts.Apply(OpKind::kMul, {mean, k}, one)}, one);
    const ValueId y = parts.Apply(OpKind::kAdd, {parts.Apply(OpKind::kMul, {x, k}, whole), shift}, whole);
    parts.Finish(parts.Activate(y));
  }
  return absl::OkStatus();
}

}  // namespace halftone
