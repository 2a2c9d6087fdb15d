// SPDX-License-Identifier: Apache-2.0
// Fused normalizations, chains and an attention along the row that they are spelled as.

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"
#include "ir/binary_chain.h"

namespace halftone::graphdef {
namespace {

// As they are, `by_rule` over them.
absl::Status WriteInputs(GraphWriter& out, NodeId id, const OpRow& row, const AttrValues& by_rule) {
  std::vector<Source> inputs;
  const size_t count = out.graph().node(id).inputs.size();
  for (size_t i = 0; i < count; ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  return out.AddRow(id, row, inputs, nullptr, by_rule);
}

absl::StatusOr<std::string_view> ModeOf(const Node& node, std::string_view tf_op) {
  const std::string activation = node.attributes.String("activation", "");
  if (activation.empty()) return "Identity";
  if (activation == "relu") return "Relu";
  if (activation == "leaky_relu") return "LeakyRelu";
  return absl::InternalError(Concat(tf_op, " with ", activation, "; a pass must split it off before export"));
}

void SetAlpha(const Node& node, AttrValues& attrs) {
  if (node.attributes.String("activation", "") != "leaky_relu") return;
  const float otherwise = ParametersOf(Activation::kLeakyRelu).alpha;
  attrs["leakyrelu_alpha"] = FloatAttr(node.attributes.Float("activation_alpha", otherwise));
}

// What the op reads; without a mask it reads something that it does not look at.
std::vector<Source> AttentionInputs(GraphWriter& out, NodeId attention) {
  std::vector<Source> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(out.Input(attention, i));
  inputs.push_back(out.Input(attention, HasInput(out.graph().node(attention), 3) ? 3 : 0));
  return inputs;
}

}  // namespace

absl::Status WriteBatchNormEx(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  if (!node.attributes.has("activation") && !node.extra.has("activation_mode")) return WriteBatchNorm(out, id);
  AttrValues by_rule;
  HALFTONE_ASSIGN_OR_RETURN(const std::string_view mode, ModeOf(node, row.tf_op));
  by_rule["activation_mode"] = StringAttr(mode);
  return WriteInputs(out, id, row, by_rule);
}

// Without an offset: zeros.
absl::Status WriteLayerNorm(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  std::vector<Source> inputs = {out.Input(id, 0), out.Input(id, 1)};
  if (HasInput(node, 2)) {
    inputs.push_back(out.Input(id, 2));
  } else {
    const Shape& shape = graph.shape(node.inputs[1]);
    if (!shape.fully_known()) return Cannot("a layer norm without an offset whose scale has no known shape");
    inputs.push_back(
        out.AddConst(Concat(out.NameOf(id), "/offset"), Tensor(DataType::kFloat32, shape.values()), node.device));
  }
  AttrValues by_rule;
  if (!node.extra.has("is_training")) by_rule["is_training"] = BoolAttr(false);
  return out.AddRow(id, row, inputs, nullptr, by_rule);
}

absl::Status WriteInstanceNorm(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  HALFTONE_ASSIGN_OR_RETURN(const std::string_view mode, ModeOf(node, row.tf_op));
  AttrValues by_rule;
  SetAlpha(node, by_rule);
  if (row.tf_op == "_ITEXInstanceNorm") {
    if (mode != "Identity") return absl::InternalError("_ITEXInstanceNorm with an activation");
  } else if (row.tf_op == "_ITEXFusedInstanceNorm" || node.extra.has("activation_mode")) {
    by_rule["activation_mode"] = StringAttr(mode);
  } else {
    by_rule["fused_ops"] =
        StringsAttr(mode == "Identity" ? std::vector<std::string>() : std::vector{std::string(mode)});
  }
  if (row.tf_op == "_MklFusedInstanceNorm") {
    const std::optional<int> rank = RankOf(graph, node.inputs[0]);
    if (!rank.has_value() || *rank < 3) return Cannot("an instance norm of unknown rank or without spatial dimensions");
    std::vector<int64_t> axes(*rank - 2);
    std::iota(axes.begin(), axes.end(), node.attributes.String("layout", "NCHW") == "NHWC" ? 1 : 2);
    by_rule["reduction_axes"] = IntsAttr(axes);
  }
  return WriteInputs(out, id, row, by_rule);
}

absl::Status WriteGelu(GraphWriter& out, NodeId id, const OpRow& row) {
  AttrValues by_rule;
  const bool approximate = out.graph().node(id).attributes.String("approximate", "none") == "tanh";
  by_rule["approximate"] = BoolAttr(approximate);
  return WriteInputs(out, id, row, by_rule);
}

// Backwards; a first step that is reversed has its operands exchanged.
absl::Status WriteFusedBinary(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  HALFTONE_ASSIGN_OR_RETURN(std::vector<ChainStep> steps, StepsOfChain(node));
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  if (steps[0].reversed) {
    std::swap(inputs[0], inputs[1]);
    steps[0].reversed = false;
  }
  std::reverse(inputs.begin(), inputs.end());
  std::vector<std::string> words;
  std::vector<int64_t> orders;
  for (size_t i = steps.size(); i-- > 0;) {
    const OpKind op = steps[i].op;
    if (op != OpKind::kAdd && op != OpKind::kSub && op != OpKind::kMul)
      return absl::InternalError(Concat(row.tf_op, " cannot express ", OpName(op)));
    words.emplace_back(op == OpKind::kAdd ? "AddV2" : op == OpKind::kSub ? "Sub" : "Mul");
    if (i > 0) orders.push_back(steps[i].reversed ? 1 : 0);
  }
  AttrValues by_rule;
  by_rule["fused_ops"] = StringsAttr(words);
  by_rule["input_order"] = IntsAttr(orders);
  return out.AddRow(id, row, inputs, nullptr, by_rule);
}

absl::Status WriteTransposedAttention(GraphWriter& out, NodeId id, const OpRow& row) {
  const NodeId attention = HelperOf(out, id, 0);
  const Graph& graph = out.graph();
  const std::vector<int64_t> perm = {0, 2, 1, 3};
  const bool is_one = attention.valid() && graph.op(attention) == OpKind::kScaledDotProductAttention &&
                      graph.ConstantInts(graph.input(id, 1)) == perm;
  if (!is_one) return WriteRow(out, id, *FindRow("Transpose"));
  AttrValues by_rule;
  by_rule["use_mask"] = BoolAttr(HasInput(graph.node(attention), 3));
  return out.AddRow(id, row, AttentionInputs(out, attention), nullptr, by_rule);
}

// As the op and a transpose that moves the heads back.
absl::Status WriteAttention(GraphWriter& out, NodeId id) {
  constexpr std::string_view kOp = "ScaledDotProductAttentionInference";
  const Node& node = out.graph().node(id);
  if (node.spelling != kOp) return Cannot("this op");
  const DataType type = out.graph().type(node.outputs[0]);
  AttrValues attrs = OneType(type);
  attrs["use_mask"] = BoolAttr(HasInput(node, 3));
  attrs["is_inference"] = BoolAttr(true);
  const Source moved = out.Add(kOp, out.UniqueName(Concat(out.NameOf(id), "/attention")), id, AttentionInputs(out, id),
                               std::move(attrs), type);
  attrs = OneType(type);
  attrs["Tperm"] = TypeAttr(DataType::kInt32);
  out.Add("Transpose", out.NameOf(id), id, {moved, Int32Const(out, id, "perm", {0, 2, 1, 3})}, std::move(attrs), type);
  return absl::OkStatus();
}

}  // namespace halftone::graphdef
