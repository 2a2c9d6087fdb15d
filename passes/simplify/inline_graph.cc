// SPDX-License-Identifier: Apache-2.0
#include "passes/simplify/inline_graph.h"

#include <map>
#include <set>
#include <utility>

#include "base/strings.h"

namespace halftone {
namespace {

// The names that a graph uses; also those of nodes if the format distinguishes them.
class Names {
 public:
  explicit Names(const Graph& graph) {
    for (const NodeId id : graph.nodes()) {
      nodes_.insert(graph.node(id).name);
      for (const ValueId value : graph.node(id).outputs) {
        if (value.valid()) values_.insert(graph.value(value).name);
      }
    }
  }
  std::string FreshNode(const std::string& base) {
    std::string name = base;
    for (int i = 1; !nodes_.insert(name).second; ++i) name = Concat(base, "_", i);
    return name;
  }
  // The name, or "" if it is taken.
  std::string Value(const std::string& name) { return values_.insert(name).second ? name : ""; }

 private:
  std::set<std::string> nodes_, values_;
};

// Adds a separate node for `value` that takes over the name of the node; ReplaceUses gives it the name of the value.
ValueId Named(GraphEditor& edit, ValueId old, ValueId value) {
  const Graph& graph = edit.graph();
  const Node& from = graph.producer_node(old);
  const std::string node_name = from.name;
  Node identity;
  identity.op = OpKind::kIdentity;
  identity.inputs = {value};
  identity.device = from.device;
  identity.origin = from.origin;
  const ValueSpec spec{graph.type(old), graph.shape(old), ""};
  const ValueId result = graph.output(edit.AddNode(std::move(identity), {spec}));
  edit.SetName(graph.producer(old), "");
  edit.SetName(graph.producer(result), node_name);
  return result;
}

}  // namespace

std::string ObstacleToInlining(const Graph& graph, NodeId id, const Graph& nested) {
  const Node& node = graph.node(id);
  for (size_t i = 0; i < node.outputs.size() && node.outputs.size() > 1; ++i) {
    const ValueId output = node.outputs[i];
    if (!output.valid() || !graph.IsOutput(output)) continue;
    const std::string own = i == 0 ? node.name : Concat(node.name, ":", i);
    if (graph.value(output).name == own) return "one of its outputs is an output of the graph, known by its name";
  }
  for (const NodeId inner : nested.nodes()) {
    for (const std::string& name : nested.node(inner).captures) {
      if (!name.empty()) return Concat("'", nested.Label(inner), "' inside reads values by name");
    }
  }
  return "";
}

void InlineGraph(GraphEditor& edit, NodeId id, const Graph& nested, const std::vector<ValueId>& inputs) {
  const Graph& graph = edit.graph();
  const Node node = graph.node(id);
  const std::string prefix = node.name.empty() ? "" : Concat(node.name, "/");
  Names names(graph);
  std::map<ValueId, ValueId> values;
  std::map<NodeId, NodeId> nodes;
  for (size_t i = 0; i < inputs.size(); ++i) values[nested.output(nested.inputs()[i])] = inputs[i];
  for (const NodeId inner : nested.TopologicalOrder()) {
    if (nested.op(inner) == OpKind::kInput) continue;
    Node copy = nested.node(inner);
    const std::vector<ValueId> outputs = copy.outputs;
    copy.inputs.clear();
    copy.control_inputs.clear();
    copy.origin = node.origin;
    if (copy.device.empty()) copy.device = node.device;
    if (!copy.name.empty()) copy.name = names.FreshNode(prefix + copy.name);
    std::vector<ValueSpec> specs;
    std::vector<bool> absent;
    for (const ValueId output : outputs) {
      absent.push_back(!output.valid());
      if (output.valid()) {
        specs.push_back({nested.type(output), nested.shape(output), names.Value(nested.value(output).name)});
      } else {
        specs.push_back({});
      }
    }
    const NodeId made = edit.AddNode(std::move(copy), std::move(specs));
    edit.DropAbsentOutputs(made, absent);
    nodes[inner] = made;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].valid()) values[outputs[i]] = graph.output(made, static_cast<int>(i));
    }
  }
  for (const auto& [inner, made] : nodes) {  // after all nodes are copied: in a loop a node may read a later one
    std::vector<ValueId> read;
    for (const ValueId input : nested.node(inner).inputs) read.push_back(input.valid() ? values.at(input) : kNoValue);
    edit.SetInputs(made, std::move(read));
    std::vector<NodeId> control;
    for (const NodeId before : nested.node(inner).control_inputs) {
      if (const auto it = nodes.find(before); it != nodes.end()) control.push_back(it->second);
    }
    edit.SetControlInputs(made, std::move(control));
  }
  std::set<ValueId> made;  // outputs that already have their names
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId old = node.outputs[i];
    if (!old.valid()) continue;
    ValueId value = values.at(nested.outputs()[i].value);
    if (graph.IsOutput(old) || graph.IsCaptured(old)) {
      value = Named(edit, old, value);
    } else if (made.insert(value).second && nested.op(nested.outputs()[i].value) != OpKind::kInput) {
      edit.SetValueName(value, "");  // the outer graph keeps the name
    }
    edit.ReplaceUses(old, value);
    edit.SetValueName(old, "");
  }
}

}  // namespace halftone
