// SPDX-License-Identifier: Apache-2.0
// Export rules of rows with inputs in a form of their own: the inverses of import_rules.cc and import_moves.cc.

#include <algorithm>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {
namespace {

// One element of a constant, as a scalar.
Tensor Element(const Tensor& tensor, int64_t i) {
  Tensor result(tensor.type(), {});
  const size_t size = ElementSize(tensor.type());
  std::copy_n(tensor.raw() + i * size, size, result.mutable_raw());
  return result;
}

Source ConstInput(GraphWriter& out, NodeId id, std::string_view word, const Tensor& value) {
  return out.AddConst(Concat(out.NameOf(id), "/", word), value, out.graph().node(id).device);
}

}  // namespace

NodeId HelperOf(const GraphWriter& out, NodeId id, int i) {
  const ValueId value = out.graph().input(id, i);
  if (!value.valid()) return kNoNode;
  const NodeId producer = out.graph().producer(value);
  return out.written().IsSilent(producer) && out.graph().node(producer).extra.has(kExtraHelper) ? producer : kNoNode;
}

absl::Status WriteFusedPadConv(GraphWriter& out, NodeId id, const OpRow& row) {
  const NodeId pad = HelperOf(out, id, 0);
  if (!pad.valid() || out.graph().node(id).inputs.size() != 2) return WriteConv(out, id);
  return out.AddRow(id, row, {out.Input(pad, 0), out.Input(pad, 1), out.Input(id, 1)});
}

absl::Status WriteConvTranspose(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  if (node.attributes.Int("group", 1) != 1) return Cannot("a transposed convolution in groups");
  if (!node.attributes.Ints("output_padding").empty() || HasInput(node, 2))
    return absl::InternalError("a transposed convolution with a bias or output padding");
  return WriteRow(out, id, row);
}

absl::Status WriteMaxPoolV2(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  const bool last = node.attributes.String("layout", "NCHW") == "NHWC";
  std::vector<Source> inputs = {out.Input(id, 0)};
  for (const auto& [name, word] : {std::pair("kernel", "ksize"), std::pair("strides", "strides")}) {
    std::vector<int64_t> sizes = node.attributes.Ints(name);
    if (sizes.size() != 2) return Cannot("a pool of other than two dimensions");
    sizes.insert(sizes.begin(), last ? 1 : 2, 1);
    if (last) sizes.push_back(1);
    inputs.push_back(Int32Const(out, id, word, sizes));
  }
  return out.AddRow(id, row, inputs);
}

absl::Status WriteResize(GraphWriter& out, NodeId id, const OpRow& row) {
  const NodeId cast = HelperOf(out, id, 0);
  return out.AddRow(id, row, {cast.valid() ? out.Input(cast, 0) : out.Input(id, 0), out.Input(id, 3)});
}

absl::Status WriteLrn(GraphWriter& out, NodeId id, const OpRow& row) { return WriteRow(out, id, row); }

absl::Status WriteFakeQuantArgs(GraphWriter& out, NodeId id, const OpRow& row) {
  return out.AddRow(id, row, {out.Input(id, 0)});
}

absl::Status WriteOneHot(GraphWriter& out, NodeId id, const OpRow& row) {
  std::vector<Source> inputs = {out.Input(id, 0), out.Input(id, 1)};
  const Tensor* values = out.graph().ConstantTensor(out.graph().input(id, 2));
  if (const NodeId stack = HelperOf(out, id, 2); stack.valid()) {
    inputs.push_back(out.Input(stack, 1));
    inputs.push_back(out.Input(stack, 0));
  } else if (values != nullptr && values->num_elements() == 2 && ElementSize(values->type()) > 0) {
    inputs.push_back(ConstInput(out, id, "on_value", Element(*values, 1)));
    inputs.push_back(ConstInput(out, id, "off_value", Element(*values, 0)));
  } else {
    return Cannot("a one-hot encoding with computed values");
  }
  return out.AddRow(id, row, inputs);
}

absl::Status WriteTopK(GraphWriter& out, NodeId id, const OpRow& row) {
  return out.AddRow(id, row, {out.Input(id, 0)});  // k stays among the extra attributes
}

absl::Status WriteBlockSize(GraphWriter& out, NodeId id, const OpRow& row) {
  return out.AddRow(id, row, {out.Input(id, 0), out.Input(id, 2)});
}

absl::Status WriteReverse(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const auto axes = graph.ConstantInts(graph.input(id, 1));
  const auto rank = RankOf(graph, graph.input(id, 0));
  if (!axes.has_value() || !rank.has_value()) return WriteRow(out, id, *FindRow("ReverseV2"));
  Tensor dims(DataType::kBool, {*rank});
  for (const int64_t axis : *axes) {
    if (axis >= 0 && axis < *rank) dims.mutable_data<uint8_t>()[axis] = 1;
  }
  return out.AddRow(id, row, {out.Input(id, 0), ConstInput(out, id, "dims", dims)});
}

absl::Status WriteSliceWithSize(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (HasInput(node, 3) || HasInput(node, 4)) return WriteSlice(out, id);
  NodeId helper = HelperOf(out, id, 2);
  if (helper.valid() && graph.op(helper) == OpKind::kWhere) helper = graph.producer(graph.input(helper, 2));
  if (helper.valid()) return out.AddRow(id, row, {out.Input(id, 0), out.Input(id, 1), out.Input(helper, 0)});
  const auto begin = graph.ConstantInts(node.inputs[1]), ends = graph.ConstantInts(node.inputs[2]);
  if (!begin.has_value() || !ends.has_value() || begin->size() != ends->size()) return WriteSlice(out, id);
  const DataType type = graph.type(node.inputs[2]);
  const int64_t far = (type == DataType::kInt32 ? INT32_MAX : INT64_MAX) - 1;  // as import_moves.cc adds it to -1
  const bool plain = std::all_of(begin->begin(), begin->end(), [](int64_t b) { return b == 0; }) &&
                     std::all_of(ends->begin(), ends->end(), [&](int64_t e) { return e >= 0 && e < far; });
  if (plain) return out.AddRow(id, row, {out.Input(id, 0), out.Input(id, 1), out.Input(id, 2)});
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < begin->size(); ++i) {
    if ((*ends)[i] < (*begin)[i]) return WriteSlice(out, id);
    sizes.push_back((*ends)[i] >= far ? -1 : (*ends)[i] - (*begin)[i]);
  }
  return out.AddRow(id, row,
                    {out.Input(id, 0), out.Input(id, 1), ConstInput(out, id, "size", Tensor::Ints(sizes, type))});
}

absl::Status WriteUniqueV2(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  std::vector<int64_t> axis;
  if (node.attributes.has("axis")) axis.push_back(node.attributes.Int("axis", 0));
  return out.AddRow(id, row, {out.Input(id, 0), ConstInput(out, id, "axis", Tensor::Ints(axis, DataType::kInt64))});
}

}  // namespace halftone::graphdef
