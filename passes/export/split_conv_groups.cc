// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_conv_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "passes/export/parts.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// Part `i` of `count` along the last dimension.
Tensor PartOf(const Tensor& whole, int64_t i, int64_t count) {
  std::vector<int64_t> dims = whole.dims();
  dims.back() /= count;
  Tensor part(whole.type(), dims);
  const size_t run = static_cast<size_t>(dims.back()) * ElementSize(whole.type());
  std::byte* to = part.mutable_raw();
  for (const std::byte* from = whole.raw() + static_cast<size_t>(i) * run; from < whole.raw() + whole.byte_size();
       from += run * static_cast<size_t>(count), to += run)
    std::copy_n(from, run, to);
  return part;
}

bool IsGrouped(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  const int64_t count = attributes.Int("group", 1);
  if (count < 2 || attributes.String("weights_layout", "OIHW") != "HWIO") return false;
  const Tensor* weights = g.ConstantTensor(g.input(conv, kWeightsInput));
  if (weights == nullptr || weights->rank() < 3 || weights->dims().back() % count != 0) return false;
  if (weights->rank() == 4 && weights->dims()[2] == 1) return false;
  return !HasBias(g, conv) || g.IsConstant(g.input(conv, kBiasInput));
}

}  // namespace

absl::Status SplitConvGroups::Split(GraphEditor& edit, NodeId id) const {
  const Graph& g = edit.graph();
  const Node node = g.node(id);
  const int64_t count = node.attributes.Int("group", 1);
  const Tensor weights = *g.ConstantTensor(node.inputs[kWeightsInput]);
  const int channel = ChannelAxis(g, id, weights.rank());
  const ValueId x = node.inputs[0], y = g.output(id), residual = g.input(id, kResidualInput);
  const ValueSpec whole{g.type(y), g.shape(y), ""};
  Attributes attributes = node.attributes;
  for (const char* name : {"group", "activation", "activation_alpha", "activation_beta", "activation_first"})
    attributes.Erase(name);
  const auto part_of = [&](Shape shape) {
    if (shape.has_rank() && shape.dim(channel).known())
      shape.mutable_dim(channel) = Dim::Of(shape.dim(channel).value / count);
    return shape;
  };
  Parts parts(edit, id);
  const ValueId axis = parts.Constant("axis", Tensor::IntScalar(channel, DataType::kInt32));
  Node split;
  split.op = OpKind::kSplit;
  split.inputs = {x, kNoValue, axis};
  const NodeId pieces = parts.AddNode(
      std::move(split), std::vector<ValueSpec>(static_cast<size_t>(count), {g.type(x), part_of(g.shape(x)), ""}));
  std::vector<ValueId> joined;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    std::vector<ValueId> inputs = {g.output(pieces, i), parts.Constant("weights", PartOf(weights, i, count))};
    if (HasBias(g, id)) {
      inputs.push_back(parts.Constant("bias", PartOf(*g.ConstantTensor(node.inputs[kBiasInput]), i, count)));
    }
    joined.push_back(parts.Apply(OpKind::kConv, std::move(inputs), {whole.type, part_of(whole.shape), ""}, attributes));
  }
  joined.push_back(axis);
  ValueId result = parts.Apply(OpKind::kConcat, std::move(joined), whole);
  const bool first = node.attributes.Bool("activation_first", false);
  if (first) result = parts.Activate(result);
  if (residual.valid()) result = parts.Apply(OpKind::kAdd, {result, residual}, whole);
  parts.Finish(first ? result : parts.Activate(result));
  return absl::OkStatus();
}

absl::Status SplitConvGroups::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kConv || !IsGrouped(g, id) || file_.Writes(g, id)) continue;
    HALFTONE_RETURN_IF_ERROR(Split(edit, id));
  }
  return absl::OkStatus();
}

}  // namespace halftone
