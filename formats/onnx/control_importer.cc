// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan with their subgraphs as closed nested graphs.

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/graph_importer.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/tensors.h"
#include "ir/nested.h"

namespace halftone::onnx_format {
namespace {

struct GraphName {
  std::string_view onnx;
  std::string_view canonical;
};
constexpr GraphName kGraphNames[] = {{"then_branch", "then"}, {"else_branch", "else"}, {"body", "body"}};

std::string_view CanonicalGraphName(std::string_view onnx) {
  for (const GraphName& name : kGraphNames) {
    if (name.onnx == onnx) return name.canonical;
  }
  return "";
}

// Whether each subgraph has the numbers of inputs and outputs that the operator requires. `outputs` becomes the
// number that the node must have; the file may leave out the last ones.
bool Fits(const onnx::NodeProto& node, OpKind op, size_t inputs, int& outputs) {
  const int formal = op == OpKind::kIf ? 0 : static_cast<int>(inputs);
  const int own_outputs = op == OpKind::kLoop ? 1 : 0;
  outputs = -1;
  size_t graphs = 0;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (CanonicalGraphName(attribute.name()).empty()) continue;
    if (!attribute.has_g() || attribute.g().input_size() != formal) return false;
    std::set<std::string> names;
    for (const onnx::ValueInfoProto& input : attribute.g().input()) names.insert(input.name());
    for (const onnx::TensorProto& tensor : attribute.g().initializer()) {
      if (names.contains(tensor.name())) return false;  // an input with a default
    }
    for (const onnx::SparseTensorProto& tensor : attribute.g().sparse_initializer()) {
      if (names.contains(tensor.values().name())) return false;
    }
    const int made = attribute.g().output_size() - own_outputs;
    if (graphs++ > 0 && made != outputs) return false;
    outputs = made;
  }
  return graphs == NestedGraphNames(op).size() && outputs >= node.output_size();
}

// The attributes of Scan other than its body; false if one has another name or type than the operator defines.
bool TakeAttributes(const onnx::NodeProto& proto, Attributes& attributes) {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (!CanonicalGraphName(attribute.name()).empty()) continue;
    if (proto.op_type() != "Scan") return false;
    if (attribute.name() == "num_scan_inputs") {
      if (KindOf(attribute) != onnx::AttributeProto::INT) return false;
      attributes.Set(attribute.name(), static_cast<int64_t>(attribute.i()));
      continue;
    }
    if (!attribute.name().starts_with("scan_") || KindOf(attribute) != onnx::AttributeProto::INTS) return false;
    attributes.Set(attribute.name(), std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  }
  return true;
}

// For each input of a nested graph the name under which an opaque node inside reads the value.
void AddNamesNeeded(const Graph& nested, std::map<NodeId, std::string>& needed) {
  for (const NodeId id : nested.nodes()) {
    const Node& node = nested.node(id);
    const size_t first = node.inputs.size() - node.captures.size();
    for (size_t i = 0; i < node.captures.size(); ++i) {
      const ValueId value = node.inputs[first + i];
      if (!node.captures[i].empty() && value.valid()) needed[nested.producer(value)] = node.captures[i];
    }
  }
}

Shape UnknownLike(const Shape& shape) { return shape.has_rank() ? Shape::UnknownOfRank(shape.rank()) : Shape(); }

}  // namespace

// Types and shapes of the formal inputs of the node's body. Of loop-carried values only the ranks are known before the
// body is imported; runtimes require that these do not change.
std::vector<FormalInput> GraphImporter::FormalInputs(const Node& node) const {
  std::vector<FormalInput> formal;
  const int64_t sequences = node.attributes.Int("num_scan_inputs", 0);
  const std::vector<int64_t> axes = node.attributes.Ints("scan_input_axes", std::vector<int64_t>(sequences, 0));
  const int states = static_cast<int>(node.inputs.size() - sequences);
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (node.op == OpKind::kLoop && i < 2) {
      formal.push_back({i == 0 ? DataType::kInt64 : DataType::kBool, Shape::Scalar()});
      continue;
    }
    const ValueId value = node.inputs[i];
    Shape shape = graph_.shape(value);
    if (i < states) {
      shape = UnknownLike(shape);
    } else if (shape.has_rank() && shape.rank() > 0) {
      const int64_t axis = axes[i - states] + (axes[i - states] < 0 ? shape.rank() : 0);
      std::vector<Dim> dims = shape.dims();
      if (axis >= 0 && axis < shape.rank()) dims.erase(dims.begin() + axis);
      shape = Shape(std::move(dims));
    }
    formal.push_back({graph_.type(value), std::move(shape)});
  }
  return formal;
}

absl::StatusOr<std::optional<Node>> GraphImporter::ImportControlFlow(onnx::NodeProto& proto, OpKind op, int opset,
                                                                     const std::vector<ValueId>& inputs,
                                                                     const std::vector<std::string>& captures) {
  Node node;
  node.op = op;
  node.name = proto.name();
  node.inputs = inputs;
  if (op == OpKind::kLoop && node.inputs.size() < 2) node.inputs.resize(2, kNoValue);
  int outputs = 0;
  const size_t optional = op == OpKind::kLoop ? 2 : 0;
  const bool all_there = std::all_of(node.inputs.begin() + std::min(optional, node.inputs.size()), node.inputs.end(),
                                     [](ValueId value) { return value.valid(); });
  if (!all_there || (op == OpKind::kIf && inputs.size() != 1)) return std::nullopt;
  if (!Fits(proto, op, node.inputs.size(), outputs) || !TakeAttributes(proto, node.attributes)) return std::nullopt;
  const int64_t sequences = node.attributes.Int("num_scan_inputs", 0);
  if (op == OpKind::kScan) {  // as NestedFormOf will ask
    const int64_t scanned = outputs - (static_cast<int64_t>(inputs.size()) - sequences);
    if (sequences < 1 || sequences > static_cast<int64_t>(inputs.size()) || scanned < 0) return std::nullopt;
    for (const auto& [name, value] : node.attributes) {
      if (name == "num_scan_inputs") continue;
      const int64_t count = name.starts_with("scan_input") ? sequences : scanned;
      if (static_cast<int64_t>(node.attributes.Ints(name).size()) != count) return std::nullopt;
    }
  } else if (op == OpKind::kLoop && outputs < static_cast<int>(node.inputs.size()) - 2) {
    return std::nullopt;
  }
  // From here on the subgraphs are taken out of the proto.
  std::vector<OuterValue> outer;
  std::vector<std::string> names;
  for (const std::string& name : captures) {
    const ValueId value = values_.at(name);
    const Tensor* constant = graph_.ConstantTensor(value);
    const bool filled = constant != nullptr && graph_.node(graph_.producer(value)).extra.has(kFillNodeMark);
    outer.push_back({name, graph_.type(value), graph_.shape(value), known_.Find(value), constant, filled});
    if (constant == nullptr) names.push_back(name);
  }
  const std::vector<FormalInput> formal = op == OpKind::kIf ? std::vector<FormalInput>() : FormalInputs(node);
  node.captures.assign(names.size(), "");
  for (onnx::AttributeProto& attribute : *proto.mutable_attribute()) {
    const std::string_view name = CanonicalGraphName(attribute.name());
    if (name.empty()) continue;
    std::vector<FormalInput> given = formal;
    for (int i = 0; i < 2 && op == OpKind::kLoop; ++i) {  // [] or [1], as the body says
      const onnx::TypeProto& type = attribute.g().input(i).type();
      if (type.has_tensor_type() && type.tensor_type().shape().dim_size() == 1) given[i].shape = Shape::Of({1});
    }
    absl::StatusOr<Graph> nested = GraphImporter(model_, *attribute.mutable_g(), opset).RunNested(given, outer);
    if (!nested.ok()) return Annotate(nested.status(), attribute.name());
    std::map<NodeId, std::string> needed;
    AddNamesNeeded(*nested, needed);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto it = needed.find(nested->inputs()[given.size() + i]);
      if (it != needed.end()) node.captures[i] = it->second;
    }
    node.attributes.Set(std::string(name), std::shared_ptr<const Graph>(std::make_shared<Graph>(*std::move(nested))));
  }
  for (const std::string& name : names) node.inputs.push_back(values_.at(name));
  while (proto.output_size() < outputs) proto.add_output("");
  return node;
}

}  // namespace halftone::onnx_format
