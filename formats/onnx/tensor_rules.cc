// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/tensor_rules.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/tensors.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {

// ---- Import.

std::string_view FillIsOpaque(const NodeInFile& node) {
  const onnx::AttributeProto* value = node.Find("value");
  if (value == nullptr || !value->has_t()) return "";
  return ElementSize(FromOnnxType(value->t().data_type())) == 0 ? "its value is of a type that is not supported" : "";
}

// Before opset 10 k was a number; as an input it is a vector of one.
absl::Status FinishTopK(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (node.opset >= 10 || canonical.inputs.size() < 2) return absl::OkStatus();
  const std::optional<std::vector<int64_t>> k = edit.graph().ConstantInts(canonical.inputs[1]);
  if (!k.has_value()) return absl::OkStatus();
  edit.RemoveNode(edit.graph().producer(canonical.inputs[1]));
  canonical.inputs[1] = edit.AddConstant("", Tensor::Ints(*k));
  return absl::OkStatus();
}

absl::Status FinishSplit(const NodeInFile& node, GraphEditor&, Node&) {
  const int64_t outputs = node.proto.output_size();
  if (node.Int("num_outputs", outputs) == outputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Concat("num_outputs is ", node.Int("num_outputs", outputs), ", but the node has ", outputs, " outputs"));
}

absl::Status FinishFill(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  const onnx::AttributeProto* value = node.Find("value");
  if (value == nullptr || canonical.inputs.size() != 1) return absl::OkStatus();
  if (!value->has_t()) return absl::InvalidArgumentError("attribute 'value' is no tensor");
  onnx::TensorProto copy = value->t();
  Tensor tensor = TakeTensor(copy);
  if (tensor.num_elements() != 1) {
    return absl::InvalidArgumentError(Concat("attribute 'value' is ", tensor.shape().ToString(), ", need one element"));
  }
  canonical.inputs.push_back(edit.AddConstant("", std::move(tensor)));
  return absl::OkStatus();
}

bool IsReadByTensorRule(std::string_view onnx_op, std::string_view attribute) {
  return (onnx_op == "Split" && attribute == "num_outputs") || (onnx_op == "ConstantOfShape" && attribute == "value");
}

// ---- Opsets.

// Bools are taken since 20, 8-bit integers since 12.
int ReduceMinMaxMinOpset(const Graph& graph, const Node& node) {
  const DataType type = graph.type(node.inputs[0]);
  if (type == DataType::kBool) return 20;
  return type == DataType::kInt8 || type == DataType::kUInt8 ? 12 : 1;
}

int ScatterMinOpset(const Graph&, const Node& node) {
  const std::string reduction = node.attributes.String("reduction", "none");
  return reduction == "max" || reduction == "min" ? 18 : 1;
}

int GatherNdMinOpset(const Graph&, const Node& node) { return node.attributes.Int("batch_dims", 0) != 0 ? 12 : 11; }

// ---- Writing.

// All outputs are written, with or without consumers: their number decides the length of the parts.
absl::Status WriteSplit(NodeWriter& writer, NodeId id) {
  const Node& node = writer.graph().node(id);
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kSplit)));
  while (proto->output_size() < static_cast<int>(node.outputs.size())) proto->add_output("");
  for (std::string& output : *proto->mutable_output()) {
    if (output.empty()) output = writer.Fresh("unread");
  }
  const bool has_sizes = node.inputs.size() > 1 && node.inputs[1].valid();
  if (writer.opset() >= 18 && !has_sizes) SetInt(*proto, "num_outputs", proto->output_size());
  return absl::OkStatus();
}

// The operator was called Scatter until opset 11.
absl::Status WriteScatterElements(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto,
                            writer.WriteByRow(id, *FindRow("", writer.opset() < 11 ? "Scatter" : "ScatterElements")));
  proto->set_op_type(writer.opset() < 11 ? "Scatter" : "ScatterElements");
  return absl::OkStatus();
}

absl::Status WriteEyeLike(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kEyeLike)));
  const DataType type = writer.graph().type(writer.graph().output(id));
  const DataType x = writer.graph().type(writer.graph().input(id, 0));
  if (type != x && type != DataType::kUnknown) SetInt(*proto, "dtype", ToOnnxType(type));
  return absl::OkStatus();
}

absl::Status WriteFill(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const ValueId value = graph.input(id, 1);
  const Tensor* element = graph.ConstantTensor(value);
  const std::string shape = writer.Read(graph.input(id, 0));
  const bool is_attribute = !value.valid() || (element != nullptr && element->num_elements() == 1);
  onnx::NodeProto& proto = is_attribute ? writer.Add("ConstantOfShape", {shape}, writer.Made(id))
                                        : writer.Add("Expand", {writer.Read(value), shape}, writer.Made(id));
  if (!graph.node(id).name.empty()) proto.set_name(graph.node(id).name);
  if (is_attribute && element != nullptr) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = ToProto(element->WithDims({1}), "");
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
