// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/recurrent_rules.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/node_writer.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
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

bool IsReadByRecurrentRule(std::string_view onnx_op, std::string_view attribute) {
  return onnx_op.starts_with("Random") && attribute == "seed";
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

}  // namespace halftone::onnx_format
