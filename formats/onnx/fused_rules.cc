// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/fused_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/dialects.h"
#include "formats/onnx/export_rules.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/node_writer.h"
#include "ir/attention_heads.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr int kMask = 5;  // the input of MultiHeadAttention

float FloatOr(const NodeInFile& node, std::string_view name, float otherwise) {
  const onnx::AttributeProto* attribute = node.Find(name);
  return attribute == nullptr ? otherwise : attribute->f();
}

// Activations that com.microsoft's fused operators name.
struct ActivationRow {
  std::string_view onnx;
  std::string_view fused;  // "": none
  OpKind op;               // on its own
  bool has_alpha = false;
  bool has_beta = false;
};
constexpr ActivationRow kActivations[] = {
    {"Relu", "relu", OpKind::kRelu},
    {"Tanh", "tanh", OpKind::kTanh},
    {"Sigmoid", "sigmoid", OpKind::kSigmoid},
    {"LeakyRelu", "leaky_relu", OpKind::kLeakyRelu, true},
    {"Elu", "elu", OpKind::kElu, true},
    {"Clip", "clip", OpKind::kClip},
    {"HardSigmoid", "hard_sigmoid", OpKind::kHardSigmoid, true, true},
    {"Softplus", "", OpKind::kSoftplus},
    {"Softsign", "", OpKind::kSoftsign},
};
const ActivationRow* FindActivation(std::string_view onnx) {
  const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                 [&](const ActivationRow& r) { return r.onnx == onnx; });
  return row == std::end(kActivations) ? nullptr : row;
}

// nullptr: the operators do not have this activation.
const ActivationRow* FindFused(std::string_view fused) {
  const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                 [&](const ActivationRow& r) { return !fused.empty() && r.fused == fused; });
  return row == std::end(kActivations) ? nullptr : row;
}

// Imported nodes are written as standard ONNX unless the dialect spells them again.
void MakePlain(Node& canonical) {
  canonical.spelling.clear();
  canonical.domain.clear();
}

Tensor Vector(const std::vector<int64_t>& values) { return Tensor::Ints(values); }

// [batch, length, heads * depth] -> [batch, heads, length, depth]
absl::StatusOr<ValueId> SplitHeads(GraphEditor& edit, ValueId x, int64_t heads) {
  HALFTONE_ASSIGN_OR_RETURN(
      const ValueId cut, AddBefore(edit, OpKind::kReshape, {x, edit.AddConstant("", Vector({0, 0, heads, -1}))}, {}));
  return AddBefore(edit, OpKind::kTranspose, {cut, edit.AddConstant("", Vector({0, 2, 1, 3}))}, {});
}

}  // namespace

// ---- Import.

std::string_view FusedConvIsOpaque(const NodeInFile& node) {
  const std::string name = node.String("activation", "");
  if (name.empty()) return "";
  const ActivationRow* row = FindActivation(name);
  return row == nullptr || row->fused.empty() ? "an activation that is not fused" : "";
}

std::string_view FusedMatMulIsOpaque(const NodeInFile& node) {
  return node.Int("transBatchA", 0) != 0 || node.Int("transBatchB", 0) != 0 ? "it transposes batches" : "";
}

std::string_view FusedGemmIsOpaque(const NodeInFile& node) {
  const ActivationRow* row = FindActivation(node.String("activation", ""));
  return row == nullptr || row->op == OpKind::kClip ? "an activation that has no op of its own" : "";
}

// Queries, keys and values apart, each [batch, length, heads * depth], and at most a mask that is added.
std::string_view MultiHeadAttentionIsOpaque(const NodeInFile& node) {
  for (const size_t i : {0, 1, 2}) {
    if (!node.HasInput(i)) return "queries, keys and values in one tensor";
    const Shape& x = node.graph.shape(node.inputs[i]);
    if (!x.has_rank() || x.rank() != 3) return "operands whose heads are split off already";
  }
  if (node.HasInput(3)) return "a bias of the projections";
  if (node.HasInput(4)) return "a mask of keys";
  if (node.inputs.size() > kMask + 1 || node.proto.output_size() > 1) return "keys and values of earlier calls";
  return node.Int("unidirectional", 0) != 0 ? "it only looks back" : "";
}

absl::Status FinishFusedConv(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  HALFTONE_RETURN_IF_ERROR(CheckKernelShape(node, edit, canonical));
  const ActivationRow* row = FindActivation(node.String("activation", ""));
  canonical.attributes.Erase("activation");
  if (row == nullptr) return absl::OkStatus();
  canonical.attributes.Set("activation", std::string(row->fused));
  const onnx::AttributeProto* params = node.Find("activation_params");
  if (params == nullptr) return absl::OkStatus();
  if (params->floats_size() > 0) canonical.attributes.Set("activation_alpha", params->floats(0));
  if (params->floats_size() > 1) canonical.attributes.Set("activation_beta", params->floats(1));
  return absl::OkStatus();
}

absl::Status FinishFusedMatMul(const NodeInFile&, GraphEditor&, Node& canonical) {
  const Attributes& attributes = canonical.attributes;
  const bool plain = attributes.Float("scale", 1) == 1 && !attributes.Bool("transpose_a", false) &&
                     !attributes.Bool("transpose_b", false);
  if (plain || canonical.spelling != "FusedMatMul") MakePlain(canonical);
  if (!plain) canonical.spelling = "FusedMatMul", canonical.domain = kMicrosoft;
  return absl::OkStatus();
}

absl::Status FinishFusedGemm(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  MakePlain(canonical);
  const ActivationRow& row = *FindActivation(node.String("activation", ""));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId product,
                            AddBefore(edit, OpKind::kGemm, canonical.inputs, canonical.attributes));
  canonical.op = row.op;
  canonical.inputs = {product};
  canonical.attributes = {};
  if (row.has_alpha && node.Find("activation_alpha") != nullptr) {
    canonical.attributes.Set("alpha", FloatOr(node, "activation_alpha", 1));
  }
  if (row.has_beta && node.Find("activation_beta") != nullptr) {
    canonical.attributes.Set("beta", FloatOr(node, "activation_beta", 1));
  }
  return absl::OkStatus();
}

absl::Status FinishMultiHeadAttention(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  MakePlain(canonical);
  const int64_t heads = node.Int("num_heads", 0);
  if (heads <= 0) return absl::InvalidArgumentError(Concat("num_heads is ", heads, ", at least 1 is possible"));
  std::vector<ValueId> operands;
  for (const size_t i : {0, 1, 2}) {
    HALFTONE_ASSIGN_OR_RETURN(operands.emplace_back(), SplitHeads(edit, node.inputs[i], heads));
  }
  if (node.HasInput(kMask)) operands.push_back(node.inputs[kMask]);
  Attributes attributes;
  if (const float scale = FloatOr(node, "scale", 0); scale != 0) attributes.Set("scale", scale);  // 0: the default
  HALFTONE_ASSIGN_OR_RETURN(
      const ValueId y, AddBefore(edit, OpKind::kScaledDotProductAttention, std::move(operands), std::move(attributes)));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId back,
                            AddBefore(edit, OpKind::kTranspose, {y, edit.AddConstant("", Vector({0, 2, 1, 3}))}, {}));
  canonical.op = OpKind::kReshape;
  canonical.inputs = {back, edit.AddConstant("", Vector({0, 0, -1}))};
  canonical.attributes = {};
  return absl::OkStatus();
}

bool IsReadByFusedRule(std::string_view onnx_op, std::string_view attribute) {
  if (onnx_op == "FusedConv") return attribute == "activation_params" || attribute == "kernel_shape";
  if (onnx_op == "FusedMatMul" || onnx_op == "TransposeMatMul") {
    return attribute == "transBatchA" || attribute == "transBatchB";
  }
  if (onnx_op == "MultiHeadAttention") {  // mask_filter_value: of a mask of keys
    return attribute == "num_heads" || attribute == "scale" || attribute == "mask_filter_value" ||
           attribute == "unidirectional";
  }
  return onnx_op == "FusedGemm" && attribute.starts_with("activation");
}

// ---- Export.

namespace {

// OK if the node has the spelling of the dialect onnxruntime, whose operator covers all its fused parts.
absl::Status CheckSaid(const NodeWriter& writer, NodeId id) {
  const bool spelled = !writer.graph().node(id).spelling.empty();
  if (spelled && OnnxRuntimeDialect().Writes(writer.graph(), id)) return absl::OkStatus();
  return absl::UnimplementedError(
      Concat("no operator says all of this ", OpName(writer.graph().op(id)), ": it must be split before export"));
}

onnx::NodeProto& AddMicrosoft(NodeWriter& writer, NodeId id, std::string_view op_type, std::vector<std::string> inputs,
                              std::vector<std::string> outputs) {
  onnx::NodeProto& proto = writer.Add(op_type, std::move(inputs), std::move(outputs));
  proto.set_domain(std::string(kMicrosoft));
  if (!writer.graph().node(id).name.empty()) proto.set_name(writer.graph().node(id).name);
  return proto;
}

void SetText(onnx::NodeProto& proto, std::string_view name, std::string_view text) {
  onnx::AttributeProto& attribute = *proto.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(std::string(text));
}

// What the fused activation is called, and its parameters, defaults written out.
struct WrittenActivation {
  std::string_view onnx;  // "": none
  std::vector<float> parameters;
};
absl::StatusOr<WrittenActivation> ActivationOf(const Node& node) {
  const std::string fused = node.attributes.String("activation", "");
  if (fused.empty()) return WrittenActivation{};
  if (fused == "relu6") return WrittenActivation{"Clip", {0, 6}};
  const ActivationRow* row = FindFused(fused);
  const std::optional<Activation> kind = ActivationFromName(fused);
  if (row == nullptr || !kind.has_value()) {
    return absl::UnimplementedError(Concat("a fused ", fused, " has no operator in ONNX Runtime"));
  }
  const ActivationParameters defaults = ParametersOf(*kind);
  WrittenActivation written{row->onnx, {}};
  if (defaults.count > 0) written.parameters.push_back(node.attributes.Float("activation_alpha", defaults.alpha));
  if (defaults.count > 1) written.parameters.push_back(node.attributes.Float("activation_beta", defaults.beta));
  return written;
}

}  // namespace

// One without fused parts is a Conv.
absl::Status WriteFusedConv(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const bool fused = node.attributes.has("activation") || (node.inputs.size() > 3 && node.inputs[3].valid());
  if (!fused) return WriteConv(writer, id);
  if (node.attributes.Bool("activation_first", false)) return CheckSaid(writer, id);
  HALFTONE_ASSIGN_OR_RETURN(const WrittenActivation activation, ActivationOf(node));
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(kMicrosoft, "FusedConv")));
  auto& attributes = *proto->mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [](const onnx::AttributeProto& a) { return a.name().starts_with("activation"); }),
                   attributes.end());
  if (!activation.onnx.empty()) SetText(*proto, "activation", activation.onnx);
  if (!activation.parameters.empty()) {
    onnx::AttributeProto& attribute = *proto->add_attribute();
    attribute.set_name("activation_params");
    attribute.set_type(onnx::AttributeProto::FLOATS);
    attribute.mutable_floats()->Add(activation.parameters.begin(), activation.parameters.end());
  }
  const Shape& weights = graph.shape(graph.input(id, 1));
  if (weights.fully_known() && weights.rank() > 2) {
    const std::vector<int64_t> dims = weights.values();
    SetInts(*proto, "kernel_shape", {dims.begin() + 2, dims.end()});
  }
  return absl::OkStatus();
}

namespace {

// The operands of a matmul, with the attributes that Gemm and FusedMatMul share.
onnx::NodeProto& AddProduct(NodeWriter& writer, NodeId id, std::string_view op_type) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  std::vector<std::string> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(writer.Read(input));
  onnx::NodeProto& proto = AddMicrosoft(writer, id, op_type, std::move(inputs), writer.Made(id));
  if (const float scale = node.attributes.Float("scale", 1); scale != 1) SetFloat(proto, "alpha", scale);
  if (node.attributes.Bool("transpose_a", false)) SetInt(proto, "transA", 1);
  if (node.attributes.Bool("transpose_b", false)) SetInt(proto, "transB", 1);
  return proto;
}

}  // namespace

absl::Status WriteFusedMatMul(NodeWriter& writer, NodeId id) {
  const Node& node = writer.graph().node(id);
  if (node.inputs.size() > 2 || node.attributes.has("activation")) return CheckSaid(writer, id);
  AddProduct(writer, id, "FusedMatMul");
  return absl::OkStatus();
}

absl::Status WriteFusedGemm(NodeWriter& writer, NodeId id) {
  HALFTONE_RETURN_IF_ERROR(CheckSaid(writer, id));
  HALFTONE_ASSIGN_OR_RETURN(const WrittenActivation activation, ActivationOf(writer.graph().node(id)));
  onnx::NodeProto& proto = AddProduct(writer, id, "FusedGemm");
  SetText(proto, "activation", activation.onnx);
  if (!activation.parameters.empty()) SetFloat(proto, "activation_alpha", activation.parameters[0]);
  if (activation.parameters.size() > 1) SetFloat(proto, "activation_beta", activation.parameters[1]);
  return absl::OkStatus();
}

absl::Status WriteMicrosoftGelu(NodeWriter& writer, NodeId id) {
  HALFTONE_RETURN_IF_ERROR(CheckSaid(writer, id));
  std::vector<std::string> inputs;
  for (const ValueId input : writer.graph().node(id).inputs) inputs.push_back(writer.Read(input));
  AddMicrosoft(writer, id, OnnxRuntimeDialect().FusedOp(writer.graph(), id), std::move(inputs), writer.Made(id));
  return absl::OkStatus();
}

namespace {

// [batch, heads, length, depth], or of keys that are transposed [batch, heads, depth, length], as one tensor.
std::string JoinHeads(NodeWriter& writer, ValueId value, bool transposed) {
  const std::string x = writer.Read(value);
  const std::string exchanged = writer.Fresh(x + "_heads"), whole = writer.Fresh(x + "_whole");
  const std::vector<int64_t> perm = transposed ? std::vector<int64_t>{0, 3, 1, 2} : std::vector<int64_t>{0, 2, 1, 3};
  SetInts(writer.Add("Transpose", {x}, {exchanged}), "perm", perm);
  writer.Add("Reshape", {exchanged, writer.AddConstant(Vector({0, 0, -1}), "shape")}, {whole});
  return whole;
}

std::string ReadMask(NodeWriter& writer, ValueId value, const Dim& heads, const Dim& queries, const Dim& keys) {
  const std::string mask = writer.Read(value);
  const auto dims = ExpandedMask(writer.graph().shape(value), heads, queries, keys);
  if (!dims.has_value()) return mask;
  const std::string expanded = writer.Fresh(mask + "_expanded");
  writer.Add("Expand", {mask, writer.AddConstant(Tensor::Ints(*dims), "shape")}, {expanded});
  return expanded;
}

}  // namespace

absl::Status WriteMultiHeadAttention(NodeWriter& writer, NodeId id) {
  HALFTONE_RETURN_IF_ERROR(CheckSaid(writer, id));
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const AttentionHeads around = FindAttentionHeads(graph, id);
  const Shape &q = graph.shape(node.inputs[0]), &v = graph.shape(node.inputs[2]);
  std::vector<std::string> inputs;
  for (const int i : {0, 1, 2}) {
    const bool transposed = i == 1 && node.attributes.Bool("k_transposed", false);
    inputs.push_back(around.whole[i].valid() ? writer.Read(around.whole[i])
                                             : JoinHeads(writer, node.inputs[i], transposed));
  }
  if (const ValueId mask = graph.input(id, 3); mask.valid()) {
    inputs.insert(inputs.end(), {"", "", ReadMask(writer, mask, q.dim(1), q.dim(2), v.dim(2))});
  }
  const int64_t heads = q.dim(1).value;
  std::vector<std::string> outputs;
  if (around.joined.valid()) {
    outputs = writer.Made(around.joined);
  } else {
    outputs = {writer.Fresh(writer.Made(id)[0] + "_whole")};
  }
  const std::string whole = outputs[0];
  onnx::NodeProto& proto = AddMicrosoft(writer, id, "MultiHeadAttention", std::move(inputs), std::move(outputs));
  SetInt(proto, "num_heads", heads);
  if (node.attributes.has("scale")) SetFloat(proto, "scale", node.attributes.Float("scale", 1));
  if (around.joined.valid()) return absl::OkStatus();
  const std::string cut = writer.Fresh(whole + "_heads");
  const std::vector<int64_t> dims = {0, 0, heads, v.dim(3).value};
  writer.Add("Reshape", {whole, writer.AddConstant(Tensor::Ints(dims), "shape")}, {cut});
  SetInts(writer.Add("Transpose", {cut}, writer.Made(id)), "perm", {0, 2, 1, 3});
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
