// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/export_rules.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/node_writer.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

ValueId Input(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }

bool IsLastAxis(const Graph& graph, const Node& node, int64_t axis) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return axis == -1 || (shape.has_rank() && axis == shape.rank() - 1);
}

bool HasRead(const Graph& graph, ValueId value) {
  return value.valid() && (!graph.uses(value).empty() || graph.IsOutput(value));
}

// Whether the shapes differ, as far as they are known; one element beside a shape that is not known is broadcast.
bool MayBroadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return a.num_elements() == 1 || b.num_elements() == 1;
  if (a.rank() != b.rank()) return true;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i).known() && b.dim(i).known() && a.dim(i) != b.dim(i)) return true;
  }
  return false;
}

// Ops that are written as several ONNX operators: the last one gets the node's name.
onnx::NodeProto& AddLast(NodeWriter& writer, NodeId id, std::string_view op_type, std::vector<std::string> inputs) {
  onnx::NodeProto& proto = writer.Add(op_type, std::move(inputs), writer.Made(id));
  if (!writer.graph().node(id).name.empty()) proto.set_name(writer.graph().node(id).name);
  return proto;
}

}  // namespace

// ---- Opsets. What is not known of a value (an opaque node has made it) asks for no newer opset: the file's own had
// the node.

int DropoutMinOpset(const Graph& graph, const Node& node) {
  const ValueId ratio = Input(node, 1);
  const ValueId training = Input(node, 2);
  const bool constant = (!ratio.valid() || graph.ConstantScalar(ratio).has_value()) &&
                        (!training.valid() || graph.ConstantScalar(training) == 0);
  if (!constant) return 12;
  return node.outputs.size() > 1 && HasRead(graph, node.outputs[1]) ? 10 : 7;  // the mask is bool since 10
}

// They broadcast since 8; max and min take integers since 12.
int VariadicMinOpset(const Graph& graph, const Node& node) {
  bool broadcasts = false;
  for (const ValueId input : node.inputs) {
    if (IsInteger(graph.type(input))) return 12;
    broadcasts = broadcasts || MayBroadcast(graph.shape(node.inputs[0]), graph.shape(input));
  }
  return broadcasts ? 8 : 6;
}

int PowMinOpset(const Graph& graph, const Node& node) {
  const DataType base = graph.type(Input(node, 0)), exponent = graph.type(Input(node, 1));
  return base == exponent || base == DataType::kUnknown || exponent == DataType::kUnknown ? 7 : 12;
}

int ClipMinOpset(const Graph& graph, const Node& node) { return IsInteger(graph.type(node.inputs[0])) ? 12 : 6; }

int SoftmaxMinOpset(const Graph& graph, const Node& node) {
  if (node.attributes.Bool("flatten", false)) return 1;  // in opset 13 and later it takes several nodes
  if (!IsLastAxis(graph, node, node.attributes.Int("axis", -1))) return 13;
  return graph.shape(node.inputs[0]).has_rank() ? 1 : 11;  // 11: negative axes
}

int MaxPoolMinOpset(const Graph& graph, const Node& node) {
  if (IsInteger(graph.type(node.inputs[0]))) return 12;
  return node.outputs.size() > 1 ? 8 : 1;
}

int PadMinOpset(const Graph& graph, const Node& node) {
  if (node.attributes.String("mode", "constant") == "wrap") return 19;
  if (Input(node, 3).valid()) return 18;
  const DataType type = graph.type(node.inputs[0]);
  return IsFloatingPoint(type) || type == DataType::kUnknown ? 2 : 11;
}

int ResizeMinOpset(const Graph&, const Node& node) {
  const Attributes& a = node.attributes;
  const std::string coordinates = a.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "half_pixel_symmetric") return 19;
  const std::string nearest = a.String("nearest_mode", "round_prefer_floor");  // "ceil": see ResizeIsOpaque
  const bool opset10 = coordinates == "asymmetric" && (nearest == "floor" || nearest == "ceil") &&
                       a.String("mode", "nearest") != "cubic" && !Input(node, 1).valid() && !Input(node, 3).valid();
  return opset10 ? 10 : 11;
}

// ---- Writing.

absl::Status WriteDropout(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const ValueId ratio = Input(node, 1);
  const bool has_ratio = node.attributes.has("ratio");
  const float value = has_ratio       ? node.attributes.Float("ratio", 0.5f)
                      : ratio.valid() ? static_cast<float>(graph.ConstantScalar(ratio).value_or(0.5))
                                      : 0.5f;
  std::vector<std::string> inputs = {writer.Read(Input(node, 0))};
  if (writer.opset() >= 12) {
    if (ratio.valid()) {
      inputs.push_back(writer.Read(ratio));
    } else if (has_ratio) {
      inputs.push_back(writer.AddConstant(Tensor::Scalar(value), "ratio"));
    } else {
      inputs.push_back("");
    }
    inputs.push_back(writer.Read(Input(node, 2)));
  }
  onnx::NodeProto& proto = AddLast(writer, id, "Dropout", std::move(inputs));
  if (writer.opset() < 12 && (has_ratio || ratio.valid())) SetFloat(proto, "ratio", value);
  if (writer.opset() >= 12 && node.extra.has("seed")) SetInt(proto, "seed", node.extra.Int("seed", 0));
  return absl::OkStatus();
}

// C is optional since opset 11; before, zeros are added.
absl::Status WriteGemm(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kGemm)));
  if (writer.opset() >= 11 || graph.input(id, 2).valid()) return absl::OkStatus();
  const Shape& y = graph.shape(graph.output(id));
  const bool known = y.has_rank() && y.rank() == 2 && y.dim(1).known();
  const DataType type = graph.type(graph.output(id));
  proto->add_input(writer.AddConstant(
      Tensor(type == DataType::kUnknown ? DataType::kFloat32 : type, {known ? y.dim(1).value : 1}), "zeros"));
  return absl::OkStatus();
}

absl::Status WriteConv(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kConv)));
  const Shape& weights = writer.graph().shape(writer.graph().input(id, 1));
  if (weights.fully_known() && weights.rank() > 2) {
    const std::vector<int64_t> dims = weights.values();
    SetInts(*proto, "kernel_shape", {dims.begin() + 2, dims.end()});
  }
  return absl::OkStatus();
}

// ONNX's MatMul does not transpose: a Transpose of the last two dimensions goes before it.
absl::Status WriteMatMul(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  if (Input(node, 2).valid() || Input(node, 3).valid() || node.attributes.has("activation") ||
      node.attributes.Float("scale", 1) != 1) {
    return absl::InternalError("parts fused into a matmul must be split before export");
  }
  std::vector<std::string> inputs;
  for (const int i : {0, 1}) {
    inputs.push_back(writer.Read(Input(node, i)));
    const Shape& shape = graph.shape(Input(node, i));
    if (!node.attributes.Bool(i == 0 ? "transpose_a" : "transpose_b", false) || (shape.has_rank() && shape.rank() < 2))
      continue;
    if (!shape.has_rank()) return absl::UnimplementedError("a transposed operand needs a known rank");
    std::vector<int64_t> perm(shape.rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm.end()[-1], perm.end()[-2]);
    const std::string transposed = writer.Fresh(inputs.back() + "_transposed");
    SetInts(writer.Add("Transpose", {inputs.back()}, {transposed}), "perm", perm);
    inputs.back() = transposed;
  }
  AddLast(writer, id, "MatMul", std::move(inputs));
  return absl::OkStatus();
}

absl::Status WriteSoftmax(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const Shape& shape = graph.shape(node.inputs[0]);
  int64_t axis = node.attributes.Int("axis", -1);
  const std::string x = writer.Read(node.inputs[0]);
  const std::string_view op_type = FindRow(node.op)->onnx;  // Softmax, LogSoftmax or Hardmax
  const bool last = IsLastAxis(graph, node, axis);
  if (writer.opset() >= 13 && node.attributes.Bool("flatten", false) && !last) {
    // The matrix form of old opsets: flatten, softmax over the rows, back to the old shape.
    const std::string matrix = writer.Fresh(x + "_matrix");
    const std::string rows = writer.Fresh(x + "_softmax");
    const std::string old_shape = writer.Fresh(x + "_shape");
    SetInt(writer.Add("Flatten", {x}, {matrix}), "axis", axis);
    SetInt(writer.Add(op_type, {matrix}, {rows}), "axis", 1);
    writer.Add("Shape", {x}, {old_shape});
    AddLast(writer, id, "Reshape", {rows, old_shape});
    return absl::OkStatus();
  }
  if (writer.opset() < 13 && axis < 0 && shape.has_rank()) axis += shape.rank();
  SetInt(AddLast(writer, id, op_type, {x}), "axis", axis);
  return absl::OkStatus();
}

absl::Status WriteBatchNorm(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  if (node.attributes.Bool("is_training", false)) return writer.WriteByRow(id, *FindRow(OpKind::kBatchNorm)).status();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (HasRead(graph, node.outputs[i])) return absl::UnimplementedError("statistics of batch norm are read");
  }
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kBatchNorm)));
  while (proto->output_size() > 1) proto->mutable_output()->RemoveLast();
  return absl::OkStatus();
}

absl::Status WritePad(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  if (graph.node(id).attributes.String("mode", "constant") == "symmetric")
    return absl::UnimplementedError("pad mode symmetric");
  const Shape& pads = graph.shape(graph.input(id, 1));
  if (pads.has_rank() && pads.rank() != 1) return absl::UnimplementedError("pads of rank 2");
  return writer.WriteByRow(id, *FindRow(OpKind::kPad)).status();
}

absl::Status WriteCast(NodeWriter& writer, NodeId id) {
  const int to = ToOnnxType(writer.graph().type(writer.graph().output(id)));
  if (to == onnx::TensorProto::UNDEFINED) return absl::InternalError("a cast to an unknown type");
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kCast)));
  SetInt(*proto, "to", to);
  return absl::OkStatus();
}

absl::Status WriteResize(NodeWriter& writer, NodeId id) {
  const Node& node = writer.graph().node(id);
  if (writer.opset() >= 13 && node.attributes.String("coordinate_transformation_mode", "") == "tf_half_pixel_for_nn") {
    return absl::UnimplementedError(
        Concat("tf_half_pixel_for_nn is gone since opset 13, opset ", writer.opset(), " is needed"));
  }
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kResize)));
  if (writer.opset() == 10) {  // (x, scales), asymmetric and floor
    proto->clear_input();
    proto->add_input(writer.Read(Input(node, 0)));
    proto->add_input(writer.Read(Input(node, 2)));
    const auto is_mode = [](const onnx::AttributeProto& attribute) { return attribute.name() == "mode"; };
    auto& attributes = *proto->mutable_attribute();
    attributes.erase(std::remove_if(attributes.begin(), attributes.end(), std::not_fn(is_mode)), attributes.end());
  } else if (writer.opset() < 13) {  // roi and scales are not optional, but may be empty
    for (int i = 1; i < std::max(proto->input_size(), 3); ++i) {
      if (i >= proto->input_size()) proto->add_input("");
      if (i < 3 && proto->input(i).empty())
        proto->set_input(i, writer.AddConstant(Tensor(DataType::kFloat32, {0}), "empty"));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteBiasAdd(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const Shape& x = graph.shape(Input(node, 0));
  if (!x.has_rank()) return absl::UnimplementedError("bias_add of an unknown rank");
  std::string bias = writer.Read(Input(node, 1));
  if (node.attributes.String("layout", "NCHW") == "NCHW" && x.rank() > 2) {  // [C] -> [C, 1, 1]
    std::vector<int64_t> axes(x.rank() - 2);
    std::iota(axes.begin(), axes.end(), 1);
    const std::string column = writer.Fresh(bias + "_column");
    writer.AddInts(writer.Add("Unsqueeze", {bias}, {column}), "axes", 13, std::move(axes));
    bias = column;
  }
  AddLast(writer, id, "Add", {writer.Read(Input(node, 0)), bias});
  return absl::OkStatus();
}

absl::Status WriteSquaredDifference(NodeWriter& writer, NodeId id) {
  const Node& node = writer.graph().node(id);
  const std::string a = writer.Read(Input(node, 0));
  const std::string difference = writer.Fresh(a + "_difference");
  writer.Add("Sub", {a, writer.Read(Input(node, 1))}, {difference});
  AddLast(writer, id, "Mul", {difference, difference});
  return absl::OkStatus();
}

absl::Status WriteRsqrt(NodeWriter& writer, NodeId id) {
  const std::string x = writer.Read(writer.graph().input(id, 0));
  const std::string root = writer.Fresh(x + "_sqrt");
  writer.Add("Sqrt", {x}, {root});
  AddLast(writer, id, "Reciprocal", {root});
  return absl::OkStatus();
}

absl::Status WriteSquare(NodeWriter& writer, NodeId id) {
  const std::string x = writer.Read(writer.graph().input(id, 0));
  AddLast(writer, id, "Mul", {x, x});
  return absl::OkStatus();
}

absl::Status WriteRelu6(NodeWriter& writer, NodeId id) {
  const ValueId x = writer.graph().input(id, 0);
  onnx::NodeProto& proto = AddLast(writer, id, "Clip", {writer.Read(x)});
  writer.AddFloat(proto, "min", 11, 0, writer.graph().type(x));
  writer.AddFloat(proto, "max", 11, 6, writer.graph().type(x));
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
