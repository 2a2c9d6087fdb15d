#include "formats/onnx/recurrent_rules.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/export_rules.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/node_writer.h"
#include "ir/shape_inference.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

float FloatOr(const NodeInFile& node, std::string_view name, float otherwise) {
  const onnx::AttributeProto* attribute = node.Find(name);
  return attribute == nullptr ? otherwise : attribute->f();
}

// Activations that com.microsoft's fused operators name.
struct ActivationRow {
  std::string_view onnx;
  std::string_view fused;  // in a conv; "": none
  OpKind op;               // on its own
  bool has_alpha = false;
};
constexpr ActivationRow kActivations[] = {
    {"Relu", "relu", OpKind::kRelu},          {"Tanh", "tanh", OpKind::kTanh},
    {"Sigmoid", "sigmoid", OpKind::kSigmoid}, {"LeakyRelu", "leaky_relu", OpKind::kLeakyRelu, true},
    {"Elu", "elu", OpKind::kElu, true},       {"Clip", "clip", OpKind::kClip},
    {"Softplus", "", OpKind::kSoftplus},      {"Softsign", "", OpKind::kSoftsign},
};
const ActivationRow* FindActivation(std::string_view onnx) {
  const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                 [&](const ActivationRow& r) { return r.onnx == onnx; });
  return row == std::end(kActivations) ? nullptr : row;
}

// What is imported is an op of ONNX, whatever the operator in the file.
void MakePlain(Node& canonical) {
  canonical.spelling.clear();
  canonical.domain.clear();
}

// Adds a node before the one that is being imported; its value, of the type and shape that inference says.
absl::StatusOr<ValueId> AddBefore(GraphEditor& edit, OpKind op, std::vector<ValueId> inputs, Attributes attributes) {
  for (size_t i = 0; i < inputs.size() && i < 2; ++i) {
    if (!inputs[i].valid()) return absl::InvalidArgumentError(Concat("operand ", i, " is missing"));
  }
  const NodeId id = edit.Add(op, "", std::move(inputs), ValueSpec{}, std::move(attributes));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferNode(edit.graph(), id));
  const ValueId value = edit.graph().output(id);
  edit.SetType(value, specs[0].type);
  edit.SetShape(value, specs[0].shape);
  return value;
}

}  // namespace

// ---- Import.

std::string_view RandomIsOpaque(const NodeInFile& node) {
  const onnx::AttributeProto* dtype = node.Find("dtype");
  if (dtype != nullptr) {
    const bool known = IsFloatingPoint(FromOnnxType(static_cast<int>(dtype->i())));
    return known ? "" : "random numbers of a type that is no float";
  }
  if (!node.HasInput(0)) return "";
  return node.graph.type(node.inputs[0]) == DataType::kFloat32 ? "" : "its type is that of its input";
}

std::string_view AttentionIsOpaque(const NodeInFile& node) {
  if (node.Int("do_rotary", 0) != 0) return "rotary embedding";
  if (node.Int("past_present_share_buffer", 0) != 0 || node.HasInput(6)) return "past and present share a buffer";
  if (!node.HasInput(3)) return "";
  const Shape& mask = node.graph.shape(node.inputs[3]);
  if (!mask.has_rank() || mask.rank() > 3 || mask.rank() == 0) return "the mask's form is not known";
  const Shape x = node.HasInput(0) ? node.graph.shape(node.inputs[0]) : Shape();
  if (mask.rank() == 1 && mask.dim(0).known() && x.has_rank() && x.rank() == 3 && x.dim(0).known()) {
    const int64_t batch = x.dim(0).value;
    if (mask.dim(0).value != batch && mask.dim(0).value != 2 * batch) return "a mask of another form";
  }
  return "";
}

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

// Before opset 20 the axis is an attribute, 1 by default.
absl::Status FinishDft(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (node.opset >= 20 || node.Find("axis") != nullptr) return absl::OkStatus();
  canonical.inputs.resize(3, kNoValue);
  canonical.inputs[2] = edit.AddConstant("", Tensor::IntScalar(1));
  return absl::OkStatus();
}

absl::Status FinishWindow(const NodeInFile& node, GraphEditor&, Node& canonical) {
  std::string mode = node.proto.op_type();  // "HannWindow"
  mode.resize(mode.size() - std::string_view("Window").size());
  std::transform(mode.begin(), mode.end(), mode.begin(), [](unsigned char c) { return std::tolower(c); });
  canonical.attributes.Set("mode", mode);
  canonical.spelling.clear();  // the mode says it
  return absl::OkStatus();
}

// The seed, a float, is kept as the integer of the same bits. What is random like x has x's shape.
absl::Status FinishRandom(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (const onnx::AttributeProto* seed = node.Find("seed"); seed != nullptr) {
    canonical.attributes.Set("seed", static_cast<int64_t>(std::bit_cast<uint32_t>(seed->f())));
  }
  if (node.HasInput(0)) {
    HALFTONE_ASSIGN_OR_RETURN(canonical.inputs[0], AddBefore(edit, OpKind::kShape, {node.inputs[0]}, {}));
  }
  canonical.spelling.clear();  // the input says whether it is "Like"
  return absl::OkStatus();
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

// A factor becomes a mul of its own; the rest is an ordinary matmul.
absl::Status FinishFusedMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  MakePlain(canonical);
  const float alpha = FloatOr(node, "alpha", 1);
  if (alpha == 1) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(const ValueId product,
                            AddBefore(edit, OpKind::kMatMul, canonical.inputs, canonical.attributes));
  Tensor factor = Tensor::Scalar(alpha);
  if (IsFloatingPoint(edit.graph().type(product))) {
    HALFTONE_ASSIGN_OR_RETURN(factor, factor.ConvertTo(edit.graph().type(product)));
  }
  canonical.op = OpKind::kMul;
  canonical.inputs = {product, edit.AddConstant("", std::move(factor))};
  canonical.attributes = {};
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
  return absl::OkStatus();
}

bool IsReadByRecurrentRule(std::string_view onnx_op, std::string_view attribute) {
  if (onnx_op.starts_with("Random")) return attribute == "seed";
  if (onnx_op == "FusedConv") return attribute == "activation_params" || attribute == "kernel_shape";
  if (onnx_op == "FusedMatMul" || onnx_op == "TransposeMatMul") {
    return attribute == "alpha" || attribute == "transBatchA" || attribute == "transBatchB";
  }
  return onnx_op == "FusedGemm" && attribute.starts_with("activation");
}

// ---- Export.

int DftMinOpset(const Graph& graph, const Node& node) {
  const bool has_axis = node.inputs.size() > 2 && node.inputs[2].valid();
  return has_axis && graph.ConstantInts(node.inputs[2]).has_value() ? 17 : 20;
}

int RandomMinOpset(const Graph& graph, const Node& node) {
  return graph.ConstantInts(node.inputs[0]).has_value() ? 1 : 9;
}

absl::Status WriteWindow(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const std::string mode = node.attributes.String("mode", "hann");
  const std::string_view op = mode == "hann" ? "HannWindow" : mode == "hamming" ? "HammingWindow" : "BlackmanWindow";
  onnx::NodeProto& proto = writer.Add(op, {writer.Read(node.inputs[0])}, writer.Made(id));
  if (!node.name.empty()) proto.set_name(node.name);
  SetInt(proto, "output_datatype", ToOnnxType(graph.type(graph.output(id))));
  if (node.attributes.has("periodic")) SetInt(proto, "periodic", node.attributes.Bool("periodic", true) ? 1 : 0);
  return absl::OkStatus();
}

absl::Status WriteMelWeightMatrix(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kMelWeightMatrix)));
  SetInt(*proto, "output_datatype", ToOnnxType(graph.type(graph.output(id))));
  return absl::OkStatus();
}

absl::Status WriteRandom(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const bool uniform = node.op == OpKind::kRandomUniform;
  const std::optional<std::vector<int64_t>> dims = graph.ConstantInts(node.inputs[0]);
  onnx::NodeProto* proto = nullptr;
  if (dims.has_value()) {
    proto = &writer.Add(uniform ? "RandomUniform" : "RandomNormal", {}, writer.Made(id));
    SetInts(*proto, "shape", *dims);
  } else {
    const std::string shape = writer.Read(node.inputs[0]);
    const std::string zeros = writer.Fresh(shape + "_zeros");
    writer.Add("ConstantOfShape", {shape}, {zeros});
    proto = &writer.Add(uniform ? "RandomUniformLike" : "RandomNormalLike", {zeros}, writer.Made(id));
  }
  if (!node.name.empty()) proto->set_name(node.name);
  SetInt(*proto, "dtype", ToOnnxType(graph.type(graph.output(id))));
  for (const std::string_view name : {"low", "high", "mean", "scale"}) {
    if (node.attributes.has(name)) SetFloat(*proto, name, node.attributes.Float(name, 0));
  }
  if (node.attributes.has("seed")) {
    SetFloat(*proto, "seed", std::bit_cast<float>(static_cast<uint32_t>(node.attributes.Int("seed", 0))));
  }
  return absl::OkStatus();
}

// As it came where parts are fused into it, which only happens without a pass that splits them; else a Conv.
absl::Status WriteFusedConv(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const bool fused = node.attributes.has("activation") || (node.inputs.size() > 3 && node.inputs[3].valid());
  if (!fused) return WriteConv(writer, id);
  if (node.attributes.Bool("activation_first", false)) {
    return absl::InternalError("an activation before the residual must be split before export");
  }
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(kMicrosoft, "FusedConv")));
  std::vector<float> params;
  for (const std::string_view name : {"activation_alpha", "activation_beta"}) {
    if (node.attributes.has(name)) params.push_back(node.attributes.Float(name, 0));
  }
  auto& attributes = *proto->mutable_attribute();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [](const onnx::AttributeProto& a) { return a.name().starts_with("activation"); }),
                   attributes.end());
  const std::string activation = node.attributes.String("activation", "");
  for (const ActivationRow& row : kActivations) {
    if (activation.empty() || row.fused != activation) continue;
    onnx::AttributeProto& attribute = *proto->add_attribute();
    attribute.set_name("activation");
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(std::string(row.onnx));
  }
  if (!params.empty()) {
    onnx::AttributeProto& attribute = *proto->add_attribute();
    attribute.set_name("activation_params");
    attribute.set_type(onnx::AttributeProto::FLOATS);
    attribute.mutable_floats()->Add(params.begin(), params.end());
  }
  const Shape& weights = graph.shape(graph.input(id, 1));
  if (weights.fully_known() && weights.rank() > 2) {
    const std::vector<int64_t> dims = weights.values();
    SetInts(*proto, "kernel_shape", {dims.begin() + 2, dims.end()});
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
