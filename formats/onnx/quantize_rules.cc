// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/quantize_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/node_writer.h"
#include "ir/shape_inference.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

// Builds the nodes before the last one.
class Builder {
 public:
  Builder(const NodeInFile& node, GraphEditor& edit) : node_(node), edit_(edit) {}

  ValueId Input(size_t i) const { return node_.HasInput(i) ? node_.inputs[i] : kNoValue; }
  const Graph& graph() const { return edit_.graph(); }

  // A node with one output, whose type and shape are inferred.
  absl::StatusOr<ValueId> Add(OpKind op, std::vector<ValueId> inputs, Attributes attributes = {},
                              DataType type = DataType::kUnknown) {
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    const NodeId id = edit_.Add(op, "", std::move(inputs), {type, Shape(), ""}, std::move(attributes));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> inferred, InferNode(graph(), id));
    const ValueId output = graph().output(id);
    edit_.SetType(output, inferred[0].type);
    edit_.SetShape(output, inferred[0].shape);
    return output;
  }

  // f16 and bf16 scales become f32: everything in between is computed in f32.
  absl::StatusOr<ValueId> WideScale(size_t i) {
    const ValueId scale = Input(i);
    if (!scale.valid()) return absl::InvalidArgumentError(Concat("input ", i, " (a scale) is missing"));
    if (graph().type(scale) == DataType::kFloat32 || graph().type(scale) == DataType::kUnknown) return scale;
    const Tensor* constant = graph().ConstantTensor(scale);
    if (constant == nullptr) return Add(OpKind::kCast, {scale}, {}, DataType::kFloat32);
    HALFTONE_ASSIGN_OR_RETURN(Tensor wide, constant->ConvertTo(DataType::kFloat32));
    return edit_.AddConstant("", std::move(wide));
  }

  // Inputs x, x + 1 and x + 2 are a tensor, its scale and its zero point. `axis`: of several scales.
  absl::StatusOr<ValueId> Dequantized(size_t x, int64_t axis = 0) {
    if (!Input(x).valid()) return absl::InvalidArgumentError(Concat("input ", x, " is missing"));
    HALFTONE_ASSIGN_OR_RETURN(const ValueId scale, WideScale(x + 1));
    return Add(OpKind::kDequantizeLinear, {Input(x), scale, Input(x + 2)}, AxisOf(scale, axis));
  }

  // An s32 bias, whose scale is the product of two other scales.
  absl::StatusOr<ValueId> DequantizedBias(size_t bias, size_t x_scale, size_t weights_scale) {
    if (!Input(bias).valid()) return kNoValue;
    HALFTONE_ASSIGN_OR_RETURN(const ValueId a, WideScale(x_scale));
    HALFTONE_ASSIGN_OR_RETURN(const ValueId b, WideScale(weights_scale));
    HALFTONE_ASSIGN_OR_RETURN(const ValueId scale, Product(a, b));
    return Add(OpKind::kDequantizeLinear, {Input(bias), scale}, AxisOf(scale, 0));
  }

  // Makes the canonical node a quantize_linear of x, with inputs `scale` and `scale + 1`.
  absl::Status Finish(Node& canonical, ValueId x, size_t scale, DataType type_without_zero_point) {
    HALFTONE_ASSIGN_OR_RETURN(const ValueId wide, WideScale(scale));
    ValueId zero_point = Input(scale + 1);
    if (!zero_point.valid()) {
      const bool sized = ElementSize(type_without_zero_point) > 0;
      zero_point = edit_.AddConstant("", Tensor(sized ? type_without_zero_point : DataType::kUInt8, {}));
    }
    canonical.op = OpKind::kQuantizeLinear;
    canonical.spelling.clear();
    canonical.domain.clear();
    canonical.attributes = {};
    canonical.inputs = {x, wide, zero_point};
    return absl::OkStatus();
  }

 private:
  Attributes AxisOf(ValueId scale, int64_t axis) const {
    Attributes attributes;
    if (graph().shape(scale).num_elements().value_or(2) != 1) attributes.Set("axis", axis);
    return attributes;
  }

  absl::StatusOr<ValueId> Product(ValueId a, ValueId b) {
    const Tensor* left = graph().ConstantTensor(a);
    const Tensor* right = graph().ConstantTensor(b);
    if (left == nullptr || right == nullptr || left->num_elements() != 1 || left->type() != DataType::kFloat32 ||
        right->type() != DataType::kFloat32) {
      return Add(OpKind::kMul, {a, b});
    }
    std::vector<float> product = right->ToFloats();
    for (float& element : product) element *= left->ToFloats()[0];
    return edit_.AddConstant("", Tensor::Of<float>(right->dims(), product));
  }

  const NodeInFile& node_;
  GraphEditor& edit_;
};

bool Is(const Graph& graph, ValueId value, DataType type) { return value.valid() && graph.type(value) == type; }

}  // namespace

// ---- Import.

// 4-bit integers and 8-bit floats are not supported.
std::string_view QuantizeIsOpaque(const NodeInFile& node) {
  const bool unknown_zero = node.HasInput(2) && node.graph.type(node.inputs[2]) == DataType::kUnknown;
  const int64_t type = node.Int("output_dtype", 0);
  const bool unknown_type = type != 0 && FromOnnxType(static_cast<int>(type)) == DataType::kUnknown;
  const bool unknown_x = node.HasInput(0) && node.graph.type(node.inputs[0]) == DataType::kUnknown &&
                         node.graph.op(node.inputs[0]) == OpKind::kOpaque;
  return unknown_zero || unknown_type || unknown_x ? "a type that is not supported" : "";
}

std::string_view HasChannelsLast(const NodeInFile& node) {
  return node.Int("channels_last", 0) != 0 ? "its channels are last" : "";
}

absl::Status FinishQLinearConv(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId x, build.Dequantized(0));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId weights, build.Dequantized(3));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId bias, build.DequantizedBias(8, 1, 4));
  Node conv;
  conv.inputs = {x, weights};
  HALFTONE_RETURN_IF_ERROR(CheckKernelShape(node, edit, conv));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(OpKind::kConv, {x, weights, bias}, canonical.attributes));
  return build.Finish(canonical, y, 6, node.graph.type(build.Input(0)));
}

absl::Status FinishQLinearMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId a, build.Dequantized(0, -2));  // one scale per row
  HALFTONE_ASSIGN_OR_RETURN(const ValueId b, build.Dequantized(3, -1));  // one per column
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(OpKind::kMatMul, {a, b}));
  return build.Finish(canonical, y, 6, node.graph.type(build.Input(0)));
}

// A, scale, zero point, B, scale, zero point, C?, y scale?, y zero point?; without y scale the output is float.
absl::Status FinishQGemm(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  const bool transposed = canonical.attributes.Bool("transpose_b", false);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId a, build.Dequantized(0));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId b, build.Dequantized(3, transposed ? 0 : 1));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId c, build.DequantizedBias(6, 1, 4));
  const float alpha = canonical.attributes.Float("alpha", 1);
  if (c.valid() && alpha != 1) return absl::UnimplementedError("QGemm with C and an alpha other than 1");
  if (!node.HasInput(7)) {
    canonical.op = OpKind::kGemm;
    canonical.spelling.clear();
    canonical.domain.clear();
    canonical.inputs = c.valid() ? std::vector<ValueId>{a, b, c} : std::vector<ValueId>{a, b};
    return absl::OkStatus();
  }
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(OpKind::kGemm, {a, b, c}, canonical.attributes));
  return build.Finish(canonical, y, 7, node.graph.type(build.Input(0)));
}

absl::Status FinishQLinearBinary(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId a, build.Dequantized(0));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId b, build.Dequantized(3));
  const OpKind op = node.proto.op_type() == "QLinearMul" ? OpKind::kMul : OpKind::kAdd;
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(op, {a, b}));
  return build.Finish(canonical, y, 6, node.graph.type(build.Input(0)));
}

absl::Status FinishQLinearUnary(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  const std::string& type = node.proto.op_type();
  const OpKind op = type == "QLinearGlobalAveragePool" ? OpKind::kGlobalAveragePool
                    : type == "QLinearAveragePool"     ? OpKind::kAveragePool
                    : type == "QLinearLeakyRelu"       ? OpKind::kLeakyRelu
                    : type == "QLinearSoftmax"         ? OpKind::kSoftmax
                                                       : OpKind::kSigmoid;
  Builder build(node, edit);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId x, build.Dequantized(0));
  Attributes attributes = canonical.attributes;
  if (op == OpKind::kSoftmax && node.Int("opset", 13) < 13) attributes.Set("flatten", true);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(op, {x}, std::move(attributes)));
  return build.Finish(canonical, y, 3, node.graph.type(build.Input(0)));
}

// y scale, y zero point, then x, scale and zero point of each part.
absl::Status FinishQLinearConcat(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (node.inputs.size() < 5 || node.inputs.size() % 3 != 2) {
    return absl::InvalidArgumentError(Concat("it has ", node.inputs.size(), " inputs, need 2 and 3 for each part"));
  }
  if (node.Find("axis") == nullptr) return absl::InvalidArgumentError("attribute 'axis' is missing");
  Builder build(node, edit);
  std::vector<ValueId> parts;
  for (size_t i = 2; i < node.inputs.size(); i += 3) {
    HALFTONE_ASSIGN_OR_RETURN(const ValueId part, build.Dequantized(i));
    parts.push_back(part);
  }
  parts.push_back(edit.AddConstant("", Tensor::IntScalar(node.Int("axis", 0))));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(OpKind::kConcat, std::move(parts)));
  return build.Finish(canonical, y, 0, node.graph.type(build.Input(2)));
}

// As opset 13 has it: the axes are an attribute; none of them stands for all.
absl::Status FinishQLinearReduceMean(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  HALFTONE_ASSIGN_OR_RETURN(const ValueId x, build.Dequantized(0));
  std::vector<ValueId> inputs = {x};
  if (const onnx::AttributeProto* axes = node.Find("axes"); axes != nullptr && axes->ints_size() > 0) {
    const std::vector<int64_t> numbers(axes->ints().begin(), axes->ints().end());
    inputs.push_back(edit.AddConstant("", Tensor::Ints(numbers, DataType::kInt64)));
  }
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Add(OpKind::kReduceMean, std::move(inputs), canonical.attributes));
  return build.Finish(canonical, y, 3, node.graph.type(build.Input(0)));
}

// Condition, x, scale, zero point, y, scale, zero point, z scale, z zero point.
absl::Status FinishQLinearWhere(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  Builder build(node, edit);
  if (!build.Input(0).valid()) return absl::InvalidArgumentError("input 0 (the condition) is missing");
  HALFTONE_ASSIGN_OR_RETURN(const ValueId x, build.Dequantized(1));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId y, build.Dequantized(4));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId z, build.Add(OpKind::kWhere, {build.Input(0), x, y}));
  return build.Finish(canonical, z, 7, node.graph.type(build.Input(1)));
}

NodeId AddDynamicQuantize(GraphEditor& edit, ValueId x) {
  Node quantize;
  quantize.op = OpKind::kDynamicQuantizeLinear;
  quantize.inputs = {x};
  return edit.AddNode(std::move(quantize), {{DataType::kUInt8, edit.graph().shape(x), ""},
                                            {DataType::kFloat32, Shape::Scalar(), ""},
                                            {DataType::kUInt8, Shape::Scalar(), ""}});
}

// A, B, B's scale, B's zero point?, bias?
absl::Status FinishDynamicQuantizeMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  for (const size_t i : {0, 1, 2}) {
    if (!node.HasInput(i)) return absl::InvalidArgumentError(Concat("input ", i, " is missing"));
  }
  const Graph& graph = edit.graph();
  const auto given = [&node](size_t i) { return node.HasInput(i) ? node.inputs[i] : kNoValue; };
  const NodeId a = AddDynamicQuantize(edit, node.inputs[0]);
  canonical.op = OpKind::kMatMulIntegerToFloat;
  canonical.spelling.clear();
  canonical.domain.clear();
  canonical.inputs = {graph.output(a, 0), node.inputs[1], graph.output(a, 1), node.inputs[2], graph.output(a, 2),
                      given(3),           given(4)};
  while (!canonical.inputs.back().valid()) canonical.inputs.pop_back();
  return absl::OkStatus();
}

bool IsReadByQuantizeRule(std::string_view onnx_op, std::string_view attribute) {
  if (attribute == "kernel_shape") return onnx_op == "QLinearConv" || onnx_op == "ConvInteger";
  if (attribute == "channels_last") return onnx_op.starts_with("QLinear");
  return (onnx_op == "QLinearConcat" && attribute == "axis") || (onnx_op == "QLinearSoftmax" && attribute == "opset") ||
         (onnx_op == "QLinearReduceMean" && attribute == "axes");
}

// ---- Export.

// 10: one f32 scale; 13: one per channel; 19: f16 and bf16; 21: blocks, 16-bit integers.
int QuantizeMinOpset(const Graph& graph, const Node& node) {
  int opset = 10;
  if (node.attributes.has("axis")) opset = 13;
  for (const ValueId value : {node.inputs[0], node.inputs[1]}) {
    if (Is(graph, value, DataType::kFloat16) || Is(graph, value, DataType::kBFloat16)) opset = 19;
  }
  const DataType type = graph.type(node.outputs[0]);
  const bool wide = type == DataType::kInt16 || type == DataType::kUInt16;
  return wide || node.attributes.Int("block_size", 0) != 0 ? 21 : opset;
}

int DequantizeMinOpset(const Graph& graph, const Node& node) {
  int opset = 10;
  if (node.attributes.has("axis")) opset = 13;
  const DataType scale = graph.type(node.inputs[1]), type = graph.type(node.inputs[0]);
  if (scale == DataType::kFloat16 || scale == DataType::kBFloat16) opset = 19;
  const bool wide = type == DataType::kInt16 || type == DataType::kUInt16;
  return wide || node.attributes.Int("block_size", 0) != 0 ? 21 : opset;
}

// Without a zero point the output is u8 unless an attribute (since 21) says otherwise.
absl::Status WriteQuantize(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const OpRow& row = *FindRow(node.op, node.spelling, node.domain);
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, row));
  const DataType type = graph.type(graph.output(id));
  if (graph.input(id, 2).valid() || type == DataType::kUInt8) return absl::OkStatus();
  if (writer.opset() >= 21 && row.domain.empty()) {
    SetInt(*proto, "output_dtype", ToOnnxType(type));
    return absl::OkStatus();
  }
  const Shape& scale = graph.shape(node.inputs[1]);
  if (!scale.fully_known()) return absl::UnimplementedError("a scale of unknown shape needs a zero point");
  proto->add_input(writer.AddConstant(Tensor(type, scale.values()), "zero_point"));
  return absl::OkStatus();
}

absl::Status WriteConvInteger(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kConvInteger)));
  const Shape& weights = writer.graph().shape(writer.graph().input(id, 1));
  if (!weights.fully_known() || weights.rank() < 3) return absl::OkStatus();
  const std::vector<int64_t> dims = weights.values();
  SetInts(*proto, "kernel_shape", {dims.begin() + 2, dims.end()});
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
