// SPDX-License-Identifier: Apache-2.0
// The topology of a graph by its canonical nodes, each as the corresponding TensorFlow op: for ONNX models, edited
// graphs and the fused graph.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/file_dialect.h"
#include "passes/precision/device_name.h"
#include "passes/precision/op_lists.h"
#include "passes/precision/tensorflow_ops.h"
#include "passes/precision/type_topology.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// TensorFlow's names for the type attribute of an op's data, the most common one first.
constexpr std::string_view kDataAttributes[] = {"T", "Tparams", "DstT", "element_dtype", "dtype"};

}  // namespace

class TypeTopology::GraphBuilder {
 public:
  GraphBuilder(const Graph& graph, const TopologyOptions& options)
      : g_(graph), options_(options), ids_(graph.nodes()) {}

  TypeTopology Build() {
    for (size_t i = 0; i < ids_.size(); ++i) index_[ids_[i]] = static_cast<int>(i);
    for (const NodeId id : ids_) AddNode(id);
    result_.Connect();
    return std::move(result_);
  }

 private:
  std::string_view OpName(NodeId id) const {
    const std::string_view fused = options_.fused_as == nullptr ? "" : options_.fused_as->FusedOp(g_, id);
    return fused.empty() ? TensorFlowOp(g_, id, options_.imported_from) : fused;
  }

  void AddNode(NodeId id) {
    const int index = static_cast<int>(result_.nodes_.size());
    result_.nodes_.emplace_back();
    Node& node = result_.nodes_.back();
    node.name = g_.Label(id);
    node.op = OpName(id);
    node.device = g_.node(id).device;
    node.id = id;
    const bool is_output = MakesOutput(id);
    node.preserved = g_.op(id) == OpKind::kInput || (is_output && options_.keep_outputs);
    node.read_by_caller = is_output && !options_.keep_outputs;
    node.processed = !node.preserved && IsOnCpu(node.device);
    const TensorFlowOpRow* row = FindTensorFlowOp(node.op);
    node.is_known = row != nullptr;
    if (row != nullptr && !signatures_.contains(node.op)) signatures_.emplace(node.op, OpSignature(*row));

    std::map<TypeId, int> vertices;
    std::vector<std::optional<TypeId>> inputs, outputs;
    const std::vector<ValueId>& reads = g_.node(id).inputs;
    for (size_t i = 0; i < reads.size(); ++i) {
      inputs.push_back(IdOf(node, reads[i], InputVariable(g_, id, static_cast<int>(i))));
    }
    const std::vector<ValueId>& makes = g_.node(id).outputs;
    for (size_t i = 0; i < makes.size(); ++i) {
      outputs.push_back(IdOf(node, makes[i], OutputVariable(g_, id, static_cast<int>(i))));
    }
    for (const auto* ports : {&inputs, &outputs}) {
      for (const std::optional<TypeId>& port : *ports) {
        if (port.has_value()) vertices.emplace(*port, 0);
      }
    }
    for (auto& [type, vertex] : vertices) {
      vertex = static_cast<int>(result_.vertices_.size());
      result_.vertices_.push_back({index, type, IsF32(type, inputs, outputs, id), Allows(node, type), {}, {}});
      node.vertices.push_back(vertex);
    }
    for (const auto& port : inputs) node.input_vertices.push_back(port.has_value() ? vertices[*port] : -1);
    for (const auto& port : outputs) node.output_vertices.push_back(port.has_value() ? vertices[*port] : -1);
    for (const ValueId value : reads) {
      if (value.valid()) {
        node.sources.push_back({index_[g_.producer(value)], g_.value(value).port});
      } else {
        node.sources.push_back({});
      }
    }
    node.readers.resize(makes.size());
    const auto data = vertices.find(TypeId{NameOf(node, PlannedVariable(g_.op(id)))});
    if (data != vertices.end()) result_.SetDeciding(id, {data->second});
  }

  bool MakesOutput(NodeId id) const {
    const std::vector<ValueId>& outputs = g_.node(id).outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [this](ValueId value) { return value.valid() && g_.IsOutput(value); });
  }

  const OpSignature* SignatureOf(const Node& node) const {
    const auto it = signatures_.find(node.op);
    return it == signatures_.end() ? nullptr : &it->second;
  }

  // TensorFlow's name of a type variable; in our op table it is one letter.
  std::string NameOf(const Node& node, char variable) const {
    if (variable == 'S') return "SrcT";
    if (variable == kCastResult) return "DstT";
    if (variable != kData) return std::string(1, variable);
    const OpSignature* signature = SignatureOf(node);
    if (signature == nullptr) return "T";
    for (const std::string_view name : kDataAttributes) {
      if (signature->Find(name) != nullptr) return std::string(name);
    }
    return signature->types.empty() ? "T" : std::string(signature->types.front().name);
  }

  // An opaque node has one variable for all its f32 ports, which suffices to propagate deny.
  std::optional<TypeId> IdOf(const Node& node, ValueId value, char variable) const {
    if (!value.valid()) return std::nullopt;
    const bool f32 = g_.type(value) == DataType::kFloat32;
    const bool is_free = variable == kFree || (g_.op(node.id) == OpKind::kOpaque && !f32);
    if (!is_free) return TypeId{NameOf(node, variable)};
    return TypeId{.attribute = "", .index = -1, .fixed = std::string(DataTypeName(g_.type(value)))};
  }

  // Whether all ports with this type are f32.
  bool IsF32(const TypeId& type, const std::vector<std::optional<TypeId>>& inputs,
             const std::vector<std::optional<TypeId>>& outputs, NodeId id) const {
    const halftone::Node& node = g_.node(id);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == type && g_.type(node.inputs[i]) != DataType::kFloat32) return false;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == type && g_.type(node.outputs[i]) != DataType::kFloat32) return false;
    }
    return true;
  }

  // An op whose result has a fixed type in TensorFlow, but the type of its data here, may not change.
  bool Allows(const Node& node, const TypeId& type) const {
    const OpSignature* signature = SignatureOf(node);
    const SignatureType* attribute = signature == nullptr ? nullptr : signature->Find(type.attribute);
    if (attribute == nullptr) return false;
    const OpListRow* row = FindOpListRow(node.op);
    if (row != nullptr && row->own) return true;
    const bool makes_f32 = !signature->outputs.empty() && signature->outputs[0].is_fixed &&
                           signature->outputs[0].type == DataTypeName(DataType::kFloat32);
    return attribute->Allows(options_.target) && !makes_f32;
  }

  const Graph& g_;
  const TopologyOptions& options_;
  const std::vector<NodeId> ids_;
  std::map<NodeId, int> index_;
  std::map<std::string, OpSignature, std::less<>> signatures_;
  TypeTopology result_;
};

TypeTopology TypeTopology::OfGraph(const Graph& graph, const TopologyOptions& options) {
  return GraphBuilder(graph, options).Build();
}

}  // namespace halftone
