// SPDX-License-Identifier: Apache-2.0
// The topology of a GraphDef, node by node as the file spells it.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "passes/precision/device_name.h"
#include "passes/precision/tensorflow_ops.h"
#include "passes/precision/type_topology.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

constexpr std::string_view kUnknownType = "?";

// Before it plans, TensorFlow replaces the first version with the second, which has a separate type for the statistics.
std::string_view SecondVersion(std::string_view op) {
  if (op == "FusedBatchNorm") return "FusedBatchNormV2";
  if (op == "FusedBatchNormGrad") return "FusedBatchNormGradV2";
  return "";
}

}  // namespace

class TypeTopology::SourceBuilder {
 public:
  SourceBuilder(const Graph& graph, const SourceGraph& source, const TopologyOptions& options)
      : g_(graph), source_(source), options_(options) {}

  TypeTopology Build() {
    std::set<NodeId> preserved(g_.inputs().begin(), g_.inputs().end());
    if (options_.keep_outputs) {
      for (const GraphOutput& output : g_.outputs()) preserved.insert(g_.producer(output.value));
    }
    for (const SourceNode& from : source_.nodes) {
      const bool is_preserved =
          preserved.contains(from.node) || std::any_of(from.outputs.begin(), from.outputs.end(), [&](ValueId value) {
            return value.valid() && preserved.contains(g_.producer(value));
          });
      AddNode(from, is_preserved);
    }
    result_.Connect();
    for (size_t i = 0; i < source_.nodes.size(); ++i) Decide(static_cast<int>(i));
    return std::move(result_);
  }

 private:
  const OpSignature* SignatureOf(const std::string& op, bool& is_function) {
    const auto [it, is_new] = signatures_.try_emplace(op);
    if (is_new) {
      if (const TensorFlowOpRow* row = FindTensorFlowOp(op)) {
        it->second = OpSignature(*row);
      } else if (const auto function = source_.functions.find(op); function != source_.functions.end()) {
        it->second = OpSignature(function->second.inputs, function->second.outputs, function->second.types);
      }
    }
    is_function = source_.functions.contains(op);
    return it->second.has_value() ? &*it->second : nullptr;
  }

  void AddNode(const SourceNode& from, bool is_preserved) {
    const int index = static_cast<int>(result_.nodes_.size());
    result_.nodes_.emplace_back();
    Node& node = result_.nodes_.back();
    node.name = from.name;
    node.op = from.op;
    node.device = from.device;
    node.id = from.node;
    node.preserved = is_preserved;
    node.processed = !is_preserved && IsOnCpu(from.device);
    if (node.processed && !SecondVersion(from.op).empty()) node.op = SecondVersion(from.op);
    const OpSignature* signature = SignatureOf(node.op, node.is_function);
    node.is_known = signature != nullptr;
    for (const SourceTypes& types : from.types) {
      for (const SourceType& type : types.types) node.is_quantized = node.is_quantized || type.quantized;
    }

    const std::vector<TypeId> inputs = Ports(from, signature, /*is_input=*/true, from.inputs.size());
    const std::vector<TypeId> outputs = Ports(from, signature, /*is_input=*/false, from.outputs.size());
    std::map<TypeId, int> vertices;
    for (const TypeId& id : inputs) vertices.emplace(id, 0);
    for (const TypeId& id : outputs) vertices.emplace(id, 0);
    AddAttributes(from, signature, vertices);
    for (auto& [id, vertex] : vertices) {
      vertex = static_cast<int>(result_.vertices_.size());
      result_.vertices_.push_back({index, id, IsF32(from, signature, id), AllowsTarget(signature, id), {}, {}});
      node.vertices.push_back(vertex);
    }
    for (const TypeId& id : inputs) node.input_vertices.push_back(vertices[id]);
    for (const TypeId& id : outputs) node.output_vertices.push_back(vertices[id]);
    for (const SourceEdge& edge : from.inputs) node.sources.push_back({edge.node, edge.port});
    node.readers.resize(outputs.size());
  }

  // The type of each port of the node; ports that the signature does not have are of unknown type.
  static std::vector<TypeId> Ports(const SourceNode& from, const OpSignature* signature, bool is_input, size_t count) {
    std::vector<TypeId> ports;
    const auto items = signature == nullptr ? std::vector<SignaturePort>()
                       : is_input           ? signature->inputs
                                            : signature->outputs;
    for (const SignaturePort& item : items) {
      size_t repeat = 1;
      if (item.is_list) repeat = Types(from, item.type) == nullptr ? 0 : Types(from, item.type)->types.size();
      if (!item.number.empty()) repeat = static_cast<size_t>(std::max<int64_t>(0, Count(from, item.number)));
      for (size_t k = 0; k < repeat && ports.size() < count; ++k) {
        TypeId id;
        if (item.is_fixed) {
          id.fixed = item.type;
        } else {
          id.attribute = item.type;
          if (item.is_list) id.index = static_cast<int>(k);
        }
        ports.push_back(std::move(id));
      }
    }
    ports.resize(count, TypeId{.attribute = "", .index = -1, .fixed = std::string(kUnknownType)});
    return ports;
  }

  // Also the type attributes that no port uses.
  static void AddAttributes(const SourceNode& from, const OpSignature* signature, std::map<TypeId, int>& vertices) {
    for (const SourceTypes& types : from.types) {
      const SignatureType* known = signature == nullptr ? nullptr : signature->Find(types.attribute);
      if (types.attribute.starts_with("_") || (signature != nullptr && known == nullptr)) continue;
      if (known != nullptr && known->is_list != types.is_list) continue;
      if (!types.is_list) vertices.emplace(TypeId{types.attribute}, 0);
      for (size_t k = 0; types.is_list && k < types.types.size(); ++k) {
        vertices.emplace(TypeId{types.attribute, static_cast<int>(k)}, 0);
      }
    }
    if (signature == nullptr) return;
    for (const SignatureType& type : signature->types) {
      const bool has_value = !type.otherwise.empty() || SecondVersionsOwn(from, type);
      if (!type.is_list && has_value) vertices.emplace(TypeId{std::string(type.name)}, 0);
    }
  }

  static bool SecondVersionsOwn(const SourceNode& from, const SignatureType& type) {
    return type.name == "U" && !SecondVersion(from.op).empty();
  }

  static bool IsF32(const SourceNode& from, const OpSignature* signature, const TypeId& id) {
    if (id.attribute.empty()) return id.fixed == DataTypeName(DataType::kFloat32);
    if (const SourceTypes* types = Types(from, id.attribute)) {
      const size_t k = static_cast<size_t>(std::max(id.index, 0));
      return types->is_list == (id.index >= 0) && k < types->types.size() && types->types[k].type == DataType::kFloat32;
    }
    const SignatureType* type = signature == nullptr ? nullptr : signature->Find(id.attribute);
    if (type == nullptr) return false;
    return type->otherwise == DataTypeName(DataType::kFloat32) || SecondVersionsOwn(from, *type);
  }

  bool AllowsTarget(const OpSignature* signature, const TypeId& id) const {
    const SignatureType* type = signature == nullptr ? nullptr : signature->Find(id.attribute);
    return type != nullptr && type->Allows(options_.target);
  }

  static const SourceTypes* Types(const SourceNode& from, std::string_view attribute) {
    const auto it = std::find_if(from.types.begin(), from.types.end(),
                                 [&](const SourceTypes& types) { return types.attribute == attribute; });
    return it == from.types.end() ? nullptr : &*it;
  }

  static int64_t Count(const SourceNode& from, std::string_view attribute) {
    const auto it = std::find_if(from.counts.begin(), from.counts.end(),
                                 [&](const auto& count) { return count.first == attribute; });
    return it == from.counts.end() ? 1 : it->second;
  }

  // The decision for a node of the graph is that of the ports that produce its planned variable; without such ports,
  // that of its first f32 input.
  void Decide(int index) {
    const SourceNode& from = source_.nodes[index];
    const Node& node = result_.nodes_[index];
    std::map<NodeId, std::vector<int>> decided;
    for (size_t port = 0; port < from.outputs.size(); ++port) {
      const ValueId value = from.outputs[port];
      if (!value.valid() || g_.type(value) != DataType::kFloat32) continue;
      const NodeId producer = g_.producer(value);
      const char variable = OutputVariable(g_, producer, g_.value(value).port);
      if (variable != PlannedVariable(g_.op(producer))) continue;
      decided[producer].push_back(node.output_vertices[port]);
    }
    for (auto& [id, vertices] : decided) result_.SetDeciding(id, std::move(vertices));
    if (!decided.empty() || !from.node.valid()) return;
    std::vector<NodeId> parts = {from.node};
    for (const ValueId value : from.outputs) {
      if (value.valid()) parts.push_back(g_.producer(value));
    }
    for (const int vertex : node.input_vertices) {
      if (!result_.vertices_[vertex].is_f32) continue;
      for (const NodeId part : parts) result_.SetDeciding(part, {vertex});
      return;
    }
    const int first = FirstAttribute(node);
    for (const NodeId part : parts) {
      if (first >= 0) result_.SetDeciding(part, {first});
    }
  }

  // For the reason of a node without f32 data.
  int FirstAttribute(const Node& node) const {
    for (const int vertex : node.vertices) {
      if (!result_.vertices_[vertex].id.attribute.empty()) return vertex;
    }
    return node.vertices.empty() ? -1 : node.vertices.front();
  }

  const Graph& g_;
  const SourceGraph& source_;
  const TopologyOptions& options_;
  std::map<std::string, std::optional<OpSignature>, std::less<>> signatures_;
  TypeTopology result_;
};

TypeTopology TypeTopology::OfSource(const Graph& graph, const SourceGraph& source, const TopologyOptions& options) {
  return SourceBuilder(graph, source, options).Build();
}

}  // namespace halftone
