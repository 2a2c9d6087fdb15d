#include "formats/onnx/elementwise_rules.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/tensors.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

constexpr float kQuickAlpha = 1.702f;  // what an absent alpha of QuickGelu means

bool HasIntegers(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&graph](ValueId input) { return input.valid() && IsInteger(graph.type(input)); });
}

// The operator under its own name, with the node's.
onnx::NodeProto& AddNamed(NodeWriter& writer, NodeId id, std::string_view op_type, std::vector<std::string> inputs) {
  onnx::NodeProto& proto = writer.Add(op_type, std::move(inputs), writer.Made(id));
  if (!writer.graph().node(id).name.empty()) proto.set_name(writer.graph().node(id).name);
  return proto;
}

// x + bias in front of the node, whose only input it becomes.
void AddBias(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (canonical.inputs.size() < 2 || !canonical.inputs[0].valid() || !canonical.inputs[1].valid()) return;
  const ValueId x = canonical.inputs[0];
  const NodeId sum = edit.Add(OpKind::kAdd, "", canonical.inputs, {node.graph.type(x), node.graph.shape(x), ""});
  canonical.inputs = {edit.graph().output(sum)};
}

}  // namespace

// ---- Import.

absl::Status FinishVariadic(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.inputs.size() == 2) return absl::OkStatus();
  canonical.op = canonical.op == OpKind::kAdd       ? OpKind::kAddN
                 : canonical.op == OpKind::kMaximum ? OpKind::kMaxN
                                                    : OpKind::kMinN;
  canonical.spelling.clear();
  return absl::OkStatus();
}

absl::Status FinishFastGelu(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  AddBias(node, edit, canonical);
  canonical.attributes.Set("approximate", std::string("tanh"));
  return absl::OkStatus();
}

absl::Status FinishBiasGelu(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  AddBias(node, edit, canonical);
  canonical.spelling = "Gelu";  // com.microsoft's
  return absl::OkStatus();
}

absl::Status FinishQuickGelu(const NodeInFile&, GraphEditor&, Node& canonical) {
  if (!canonical.attributes.has("alpha")) canonical.attributes.Set("alpha", kQuickAlpha);
  return absl::OkStatus();
}

// ---- Opsets.

int EqualMinOpset(const Graph& graph, const Node& node) {
  const DataType type = graph.type(node.inputs[0]);
  if (type == DataType::kString) return 19;
  return type == DataType::kBool || type == DataType::kInt32 || type == DataType::kInt64 ? 7 : 11;
}

int CompareMinOpset(const Graph& graph, const Node& node) { return HasIntegers(graph, node) ? 9 : 7; }

int PReluMinOpset(const Graph& graph, const Node& node) { return HasIntegers(graph, node) ? 9 : 7; }

// They broadcast since 8; max and min take integers since 12.
int VariadicMinOpset(const Graph& graph, const Node& node) {
  if (HasIntegers(graph, node)) return 12;
  const Shape& first = graph.shape(node.inputs[0]);
  const bool equal = first.fully_known() && std::all_of(node.inputs.begin(), node.inputs.end(),
                                                        [&](ValueId input) { return graph.shape(input) == first; });
  return equal ? 6 : 8;
}

// ---- Writing.

// Without attributes: it is the approximation by definition.
absl::Status WriteFastGelu(NodeWriter& writer, NodeId id) {
  AddNamed(writer, id, "FastGelu", {writer.Read(writer.graph().input(id, 0))}).set_domain("com.microsoft");
  return absl::OkStatus();
}

absl::Status WriteQuickGelu(NodeWriter& writer, NodeId id) {
  onnx::NodeProto& proto = AddNamed(writer, id, "QuickGelu", {writer.Read(writer.graph().input(id, 0))});
  proto.set_domain("com.microsoft");
  SetFloat(proto, "alpha", writer.graph().node(id).attributes.Float("alpha", 1));
  return absl::OkStatus();
}

// x * sigmoid(alpha * x)
absl::Status WriteSwish(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const ValueId input = graph.input(id, 0);
  const std::string x = writer.Read(input);
  const float alpha = graph.node(id).attributes.Float("alpha", 1);
  std::string scaled = x;
  if (alpha != 1) {
    HALFTONE_ASSIGN_OR_RETURN(Tensor factor, Tensor::Scalar(alpha).ConvertTo(graph.type(input)));
    scaled = writer.Fresh(x + "_scaled");
    writer.Add("Mul", {x, writer.AddConstant(std::move(factor), x + "_alpha")}, {scaled});
  }
  const std::string sigmoid = writer.Fresh(x + "_sigmoid");
  writer.Add("Sigmoid", {scaled}, {sigmoid});
  AddNamed(writer, id, "Mul", {x, sigmoid});
  return absl::OkStatus();
}

absl::Status WriteFillLike(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const std::string x = writer.Read(graph.input(id, 0));
  const std::string shape = writer.Fresh(x + "_shape");
  writer.Add("Shape", {x}, {shape});
  const float number = graph.node(id).attributes.Float("number", 0);
  HALFTONE_ASSIGN_OR_RETURN(const Tensor value, Tensor::Scalar(number).ConvertTo(graph.type(graph.output(id))));
  HALFTONE_ASSIGN_OR_RETURN(*AddNamed(writer, id, "ConstantOfShape", {shape}).add_attribute(),
                            ToProto("value", AttributeValue(value.WithDims({1}))));
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
