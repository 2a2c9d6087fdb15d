// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/elementwise_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
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

bool IsTanhGelu(const Node& node) { return node.attributes.String("approximate", "none") == "tanh"; }

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

// Adds x + bias before the node and makes the sum its only input.
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
  const bool unknown = type == DataType::kUnknown;  // an opaque node has made it: the file's own opset had the node
  return unknown || type == DataType::kBool || type == DataType::kInt32 || type == DataType::kInt64 ? 7 : 11;
}

int CompareMinOpset(const Graph& graph, const Node& node) { return HasIntegers(graph, node) ? 9 : 7; }

int PReluMinOpset(const Graph& graph, const Node& node) { return HasIntegers(graph, node) ? 9 : 7; }

// Before opset 20 it is written out with Erf or Tanh.
int GeluMinOpset(const Graph&, const Node& node) { return IsTanhGelu(node) ? 7 : 9; }

// ---- Writing.

namespace {

// Writes a formula of the node's input, operator by operator.
class Formula {
 public:
  Formula(NodeWriter& writer, NodeId id) : writer_(writer), id_(id), x_(writer.Read(writer.graph().input(id, 0))) {}

  const std::string& x() const { return x_; }
  absl::StatusOr<std::string> Number(double number) {
    const Graph& graph = writer_.graph();
    HALFTONE_ASSIGN_OR_RETURN(Tensor tensor,
                              Tensor::Scalar(static_cast<float>(number)).ConvertTo(graph.type(graph.output(id_))));
    return writer_.AddConstant(std::move(tensor), x_ + "_number");
  }
  std::string Apply(std::string_view op_type, std::vector<std::string> inputs) {
    const std::string y = writer_.Fresh(x_ + "_part");
    writer_.Add(op_type, std::move(inputs), {y});
    return y;
  }
  absl::StatusOr<std::string> With(std::string_view op_type, const std::string& y, double number) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string constant, Number(number));
    return Apply(op_type, {y, constant});
  }

 private:
  NodeWriter& writer_;
  const NodeId id_;
  const std::string x_;
};

// erf(x / sqrt(2)) or tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
absl::StatusOr<std::string> GeluGate(Formula& f, bool tanh) {
  if (!tanh) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string argument, f.With("Div", f.x(), std::numbers::sqrt2));
    return f.Apply("Erf", {argument});
  }
  const std::string cube = f.Apply("Mul", {f.x(), f.Apply("Mul", {f.x(), f.x()})});
  HALFTONE_ASSIGN_OR_RETURN(const std::string part, f.With("Mul", cube, 0.044715));
  HALFTONE_ASSIGN_OR_RETURN(const std::string argument,
                            f.With("Mul", f.Apply("Add", {f.x(), part}), std::sqrt(2 / std::numbers::pi)));
  return f.Apply("Tanh", {argument});
}

}  // namespace

// Under its name where the opset has it, else 0.5 * x * (1 + gate).
absl::Status WriteGelu(NodeWriter& writer, NodeId id) {
  constexpr int kGeluSince = 20;
  const bool tanh = IsTanhGelu(writer.graph().node(id));
  if (writer.opset() >= kGeluSince) {
    onnx::NodeProto& proto = AddNamed(writer, id, "Gelu", {writer.Read(writer.graph().input(id, 0))});
    if (tanh) {
      HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto("approximate", AttributeValue(std::string("tanh"))));
    }
    return absl::OkStatus();
  }
  Formula f(writer, id);
  HALFTONE_ASSIGN_OR_RETURN(const std::string gate, GeluGate(f, tanh));
  HALFTONE_ASSIGN_OR_RETURN(const std::string sum, f.With("Add", gate, 1));
  HALFTONE_ASSIGN_OR_RETURN(const std::string half, f.With("Mul", f.x(), 0.5));
  AddNamed(writer, id, "Mul", {half, sum});
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
