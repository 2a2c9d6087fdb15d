// SPDX-License-Identifier: Apache-2.0
#include "ir/verifier.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/binary_chain.h"
#include "ir/nested.h"
#include "ir/verifier_internal.h"

namespace halftone {
namespace {

bool IsSmallFloat(DataType type) { return IsFloatingPoint(type) && type != DataType::kFloat64; }

// Checks one graph; nested ones are left to the caller.
class Verifier {
 public:
  explicit Verifier(const Graph& graph, bool of_file = false) : graph_(graph), of_file_(of_file) {}

  absl::Status Verify() {
    HALFTONE_RETURN_IF_ERROR(CheckGraphEnds());
    for (const NodeId id : graph_.nodes()) {
      HALFTONE_RETURN_IF_ERROR(CheckIds(id));  // all others may follow ids
    }
    for (const NodeId id : graph_.nodes()) HALFTONE_RETURN_IF_ERROR(CheckNode(id));
    HALFTONE_RETURN_IF_ERROR(CheckNames());
    HALFTONE_RETURN_IF_ERROR(CheckUses());
    return CheckCycles();
  }

  absl::Status VerifyOnly(std::span<const NodeId> nodes) {
    HALFTONE_RETURN_IF_ERROR(CheckGraphOutputs());
    for (const NodeId id : nodes) {
      if (!graph_.alive(id)) continue;
      HALFTONE_RETURN_IF_ERROR(CheckIds(id));
      HALFTONE_RETURN_IF_ERROR(CheckNode(id));
    }
    return absl::OkStatus();
  }

 private:
  // REQUIRES: CheckIds of every node
  absl::Status CheckNode(NodeId id) const {
    HALFTONE_RETURN_IF_ERROR(CheckPorts(id));
    HALFTONE_RETURN_IF_ERROR(CheckAttributes(id));
    HALFTONE_RETURN_IF_ERROR(CheckTypes(id));
    HALFTONE_RETURN_IF_ERROR(CheckQuantization(id));
    if (HasNestedGraphs(graph_.op(id))) {
      if (const absl::Status nested = verifier::CheckNestedGraphs(graph_, id); !nested.ok()) {
        return Error(id, nested.message());
      }
    }
    return graph_.op(id) == OpKind::kConstant ? CheckConstant(id) : absl::OkStatus();
  }

  template <typename... Parts>
  absl::Status Error(NodeId id, const Parts&... parts) const {
    const Node& node = graph_.node(id);
    std::string name = node.name.empty() ? Concat("#", id.index) : node.name;
    for (const ValueId output : node.outputs) {
      if (node.name.empty() && IsValue(output) && !graph_.value(output).name.empty()) name = graph_.value(output).name;
    }
    return absl::InvalidArgumentError(Concat("node '", name, "' (", OpName(node.op), "): ", parts...));
  }

  bool IsValue(ValueId id) const { return id.valid() && id.index < graph_.num_values(); }
  bool IsMade(ValueId id) const { return IsValue(id) && graph_.alive(graph_.producer(id)); }

  absl::Status CheckGraphEnds() const {
    std::vector<NodeId> inputs = graph_.inputs();
    for (const NodeId id : inputs) {
      if (!graph_.alive(id) || graph_.op(id) != OpKind::kInput) {
        return absl::InvalidArgumentError(Concat("graph input #", id.index, " is not an input node"));
      }
    }
    std::sort(inputs.begin(), inputs.end());
    if (std::adjacent_find(inputs.begin(), inputs.end()) != inputs.end()) {
      return absl::InvalidArgumentError("one node is listed twice among the graph's inputs");
    }
    for (const NodeId id : graph_.nodes()) {
      if (graph_.op(id) == OpKind::kInput && !std::binary_search(inputs.begin(), inputs.end(), id)) {
        return Error(id, "is not among the graph's inputs");
      }
    }
    return CheckGraphOutputs();
  }

  absl::Status CheckGraphOutputs() const {
    for (const GraphOutput& output : graph_.outputs()) {
      if (!IsMade(output.value)) {
        return absl::InvalidArgumentError(Concat("graph output '", output.name, "' is no value that a node makes"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckIds(NodeId id) const {
    const Node& node = graph_.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].valid() && !IsMade(node.inputs[i])) {
        return Error(id, "input ", i, " is value #", node.inputs[i].index, ", which no node makes");
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (!output.valid()) continue;
      if (!IsValue(output) || graph_.producer(output) != id || graph_.value(output).port != static_cast<int>(i)) {
        return Error(id, "output ", i, " is value #", output.index, ", which says that another node or port makes it");
      }
    }
    for (const NodeId control : node.control_inputs) {
      if (!graph_.alive(control)) return Error(id, "runs after node #", control.index, ", which was removed");
      if (control == id) return Error(id, "runs after itself");
    }
    if (node.captures.size() > node.inputs.size()) {
      return Error(id, "has ", node.captures.size(), " captures but ", node.inputs.size(), " inputs");
    }
    return absl::OkStatus();
  }

  absl::Status CheckPorts(NodeId id) const {
    const Node& node = graph_.node(id);
    const int num_inputs = static_cast<int>(node.inputs.size());
    int required = 0;
    for (const Port& port : Info(node.op).inputs) required += port.optional ? 0 : 1;
    if (num_inputs < required) return Error(id, "has ", num_inputs, " inputs, need at least ", required);
    for (int i = 0; i < num_inputs; ++i) {
      const Port* port = InputPort(node.op, i, num_inputs);
      if (port == nullptr) return Error(id, "has ", num_inputs, " inputs, need at most ", Info(node.op).inputs.size());
      if (!port->optional && !node.inputs[i].valid()) return Error(id, "input '", port->name, "' is absent");
    }
    const int num_outputs = static_cast<int>(node.outputs.size());
    int needed = 0;
    for (const Port& port : Info(node.op).outputs) needed += port.optional ? 0 : 1;
    if (num_outputs < needed) return Error(id, "has ", num_outputs, " outputs, need at least ", needed);
    for (int i = 0; i < num_outputs; ++i) {
      const Port* port = OutputPort(node.op, i);
      if (port == nullptr)
        return Error(id, "has ", num_outputs, " outputs, need at most ", Info(node.op).outputs.size());
      if (!port->optional && !node.outputs[i].valid()) return Error(id, "output '", port->name, "' is absent");
    }
    return absl::OkStatus();
  }

  absl::Status CheckAttributes(NodeId id) const {
    const Node& node = graph_.node(id);
    const std::span<const std::string_view> names = Info(node.op).attributes;
    for (const auto& [name, value] : node.attributes) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        std::vector<std::string> known(names.begin(), names.end());
        return Error(id, "attribute '", name, "' is unknown; this op has ",
                     known.empty() ? "none" : absl::StrJoin(known, ", "));
      }
      const absl::Status fits = verifier::CheckAttribute(name, value);
      if (!fits.ok()) return Error(id, fits.message());
    }
    if (node.attributes.Bool("activation_first", false) && node.attributes.String("activation", "").empty()) {
      return Error(id, "attribute 'activation_first' needs an activation");
    }
    if (node.op == OpKind::kBinaryChain) {
      if (const absl::Status steps = StepsOfChain(node).status(); !steps.ok()) return Error(id, steps.message());
    }
    return absl::OkStatus();
  }

  // Ports that share a letter have one type, but for those that may be another float, and for integers that stand for
  // real numbers.
  absl::Status CheckTypes(NodeId id) const {
    const Node& node = graph_.node(id);
    struct First {
      char variable;
      std::string_view port;
      DataType type;
    };
    std::vector<First> bound;  // few: an op has one or two variables
    const auto check = [&](const Port* port, ValueId value) -> absl::Status {
      if (port->type_variable == '*' || !value.valid() || graph_.type(value) == DataType::kUnknown)
        return absl::OkStatus();
      if (graph_.quantization(value) != nullptr && !PassesIntegers(node.op)) return absl::OkStatus();
      for (const First& first : bound) {
        if (first.variable != port->type_variable) continue;
        if (first.type == graph_.type(value)) return absl::OkStatus();
        const bool floats = IsSmallFloat(first.type) && IsSmallFloat(graph_.type(value));
        if (floats && !of_file_ && MayDiffer(node.op, *port)) return absl::OkStatus();
        return Error(id, "'", port->name, "' is ", DataTypeName(graph_.type(value)), " but '", first.port, "' is ",
                     DataTypeName(first.type), ": they must have one type");
      }
      bound.push_back({port->type_variable, port->name, graph_.type(value)});
      return absl::OkStatus();
    };
    const int count = static_cast<int>(node.inputs.size());
    for (int i = 0; i < count; ++i) HALFTONE_RETURN_IF_ERROR(check(InputPort(node.op, i, count), node.inputs[i]));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      HALFTONE_RETURN_IF_ERROR(check(OutputPort(node.op, static_cast<int>(i)), node.outputs[i]));
    }
    return absl::OkStatus();
  }

  absl::Status CheckQuantization(NodeId id) const {
    for (const ValueId output : graph_.node(id).outputs) {
      if (!output.valid() || graph_.quantization(output) == nullptr) continue;
      if (of_file_) return Error(id, "its result has a quantization: a file has quantize_linear and dequantize_linear");
      const std::string wrong =
          WrongQuantization(*graph_.quantization(output), graph_.type(output), graph_.shape(output));
      if (!wrong.empty()) return Error(id, "quantization of its result: ", wrong);
    }
    return absl::OkStatus();
  }

  absl::Status CheckConstant(NodeId id) const {
    const Node& node = graph_.node(id);
    const AttributeValue* attribute = node.attributes.find("value");
    if (attribute == nullptr) return Error(id, "needs its tensor as attribute 'value'");
    const Tensor& tensor = std::get<Tensor>(*attribute);
    const Value& output = graph_.value(node.outputs[0]);
    if (output.type != tensor.type() && output.type != DataType::kUnknown) {
      return Error(id, "the value is ", DataTypeName(output.type), ", its tensor ", DataTypeName(tensor.type()));
    }
    if (output.shape.has_rank() && output.shape != tensor.shape()) {
      return Error(id, "the value is ", output.shape.ToString(), ", its tensor ", tensor.shape().ToString());
    }
    return absl::OkStatus();
  }

  absl::Status CheckNames() const {
    std::unordered_map<std::string_view, NodeId> values;
    values.reserve(graph_.num_nodes());
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      for (const ValueId output : node.outputs) {
        if (!output.valid() || graph_.value(output).name.empty()) continue;
        const auto [it, added] = values.emplace(graph_.value(output).name, id);
        if (!added) return Error(id, "the value name '", it->first, "' is taken by node #", it->second.index);
      }
    }
    return absl::OkStatus();
  }

  absl::Status WrongUses(int value, size_t read) const {
    return absl::InvalidArgumentError(Concat("value #", value, " '", graph_.value({value}).name, "' lists ",
                                             graph_.uses({value}).size(), " uses, nodes read it ", read, " times"));
  }

  // Each use that is listed is one, none is listed twice, and there are as many as nodes read values.
  absl::Status CheckUses() const {
    std::vector<uint32_t> reads(graph_.num_values(), 0);
    for (const NodeId id : graph_.nodes()) {
      for (const ValueId input : graph_.node(id).inputs) {
        if (input.valid()) ++reads[input.index];
      }
    }
    std::vector<Use> listed;
    for (int v = 0; v < graph_.num_values(); ++v) {
      const std::vector<Use>& uses = graph_.uses({v});
      if (uses.size() != reads[v]) return WrongUses(v, reads[v]);
      for (const Use& use : uses) {
        if (!graph_.alive(use.node) || graph_.input(use.node, use.index) != ValueId{v}) return WrongUses(v, reads[v]);
      }
      if (uses.size() < 2) continue;
      listed = uses;
      std::sort(listed.begin(), listed.end(),
                [](const Use& a, const Use& b) { return std::pair(a.node, a.index) < std::pair(b.node, b.index); });
      if (std::adjacent_find(listed.begin(), listed.end()) != listed.end()) return WrongUses(v, reads[v]);
    }
    return absl::OkStatus();
  }

  absl::Status CheckCycles() const {
    const std::vector<NodeId> order = graph_.TopologicalOrder();
    int last = -1;
    for (const NodeId id : order) last = std::max(last, id.index);
    std::vector<int> position(last + 1, 0);
    for (size_t i = 0; i < order.size(); ++i) position[order[i].index] = static_cast<int>(i);
    for (const NodeId id : order) {
      const Node& node = graph_.node(id);
      for (const ValueId input : node.inputs) {
        if (!input.valid()) continue;
        const NodeId producer = graph_.producer(input);
        if (graph_.op(producer) == OpKind::kNextIteration) {
          if (node.op != OpKind::kMerge) return Error(id, "reads a next_iteration: only a merge may");
        } else if (position[producer.index] >= position[id.index]) {
          return Error(id, "is on a cycle: only an edge from next_iteration to merge may close one");
        }
      }
      for (const NodeId control : node.control_inputs) {
        if (graph_.op(control) != OpKind::kNextIteration && position[control.index] >= position[id.index]) {
          return Error(id, "is on a cycle of control edges");
        }
      }
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const bool of_file_;
};

struct Nested {
  std::shared_ptr<const Graph> graph;  // null: the outermost
  std::string path;                    // "node 'loop' body: ..."
};

absl::Status CollectNested(const Graph& graph, const std::string& path, std::vector<Nested>& work) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    for (const Attributes* attributes : {&node.attributes, &node.extra}) {
      for (const auto& [name, value] : *attributes) {
        std::vector<std::shared_ptr<const Graph>> graphs;
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&value)) graphs = {*one};
        if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&value)) graphs = *many;
        for (const std::shared_ptr<const Graph>& nested : graphs) {
          const std::string where = Concat(path, "node '", graph.Label(id), "' attribute '", name, "': ");
          if (nested == nullptr) return absl::InvalidArgumentError(Concat(where, "must hold a graph"));
          work.push_back({nested, where});
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyAll(const Graph& graph, bool of_file) {
  HALFTONE_RETURN_IF_ERROR(CheckNesting(graph));
  std::vector<Nested> work{{nullptr, ""}};
  while (!work.empty()) {
    const Nested next = std::move(work.back());
    work.pop_back();
    const Graph& current = next.graph == nullptr ? graph : *next.graph;
    if (absl::Status status = Verifier(current, of_file).Verify(); !status.ok()) {
      return absl::InvalidArgumentError(Concat(next.path, StdView(status.message())));
    }
    HALFTONE_RETURN_IF_ERROR(CollectNested(current, next.path, work));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyNodes(const Graph& graph, std::span<const NodeId> nodes) {
  return Verifier(graph).VerifyOnly(nodes);
}

absl::Status VerifyGraph(const Graph& graph) { return VerifyAll(graph, /*of_file=*/false); }
absl::Status VerifyFileGraph(const Graph& graph) { return VerifyAll(graph, /*of_file=*/true); }

}  // namespace halftone
