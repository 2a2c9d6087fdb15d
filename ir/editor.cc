// SPDX-License-Identifier: Apache-2.0
#include "ir/editor.h"

#include <algorithm>
#include <utility>

#include "absl/log/check.h"

namespace halftone {
namespace {

// Large tables get a quarter more room when they are full, not as much again: while they are copied there are two.
template <typename T>
void GrowSlowly(std::vector<T>& table) {
  constexpr size_t kLarge = 4096;
  if (table.size() == table.capacity() && table.size() > kLarge) table.reserve(table.size() + table.size() / 4);
}

}  // namespace

Node& GraphEditor::Mutable(NodeId id) {
  CHECK(graph_.alive(id)) << "node #" << id.index << " was removed";
  Touch(id);
  std::shared_ptr<const Node>& node = graph_.nodes_[id.index];
  if (node.use_count() > 1) node = std::make_shared<Node>(*node);  // a copy of the graph still reads the old one
  return const_cast<Node&>(*node);                                 // made non-const, and owned by this graph alone
}

void GraphEditor::AddUse(ValueId value, Use use) {
  if (!value.valid()) return;
  graph_.uses_[value.index].push_back(use);
  Touch(graph_.producer(value));
}

void GraphEditor::RemoveUse(ValueId value, Use use) {
  if (!value.valid()) return;
  std::vector<Use>& uses = graph_.uses_[value.index];
  uses.erase(std::find(uses.begin(), uses.end(), use));
  Touch(graph_.producer(value));
}

void GraphEditor::Link(NodeId id) {
  const std::vector<ValueId>& inputs = graph_.node(id).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) AddUse(inputs[i], {id, static_cast<int>(i)});
}

void GraphEditor::Unlink(NodeId id) {
  const std::vector<ValueId>& inputs = graph_.node(id).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) RemoveUse(inputs[i], {id, static_cast<int>(i)});
}

void GraphEditor::LinkControl(NodeId id) {
  for (const NodeId control : graph_.node(id).control_inputs) {
    std::vector<NodeId>& users = graph_.control_users_[control];
    const auto place = std::lower_bound(users.begin(), users.end(), id);
    if (place == users.end() || *place != id) users.insert(place, id);
    Touch(control);
  }
}

void GraphEditor::UnlinkControl(NodeId id) {
  for (const NodeId control : graph_.node(id).control_inputs) {
    const auto it = graph_.control_users_.find(control);
    if (it == graph_.control_users_.end()) continue;
    std::erase(it->second, id);
    if (it->second.empty()) graph_.control_users_.erase(it);
    Touch(control);
  }
}

void GraphEditor::Rename(std::string& name, std::string to) {
  graph_.names_.Remove(name);
  name.swap(to);  // gives the old one's memory back, which an assignment of a short one keeps
  graph_.names_.Add(name);
}

NodeId GraphEditor::AddNode(Node node, std::vector<ValueSpec> outputs) {
  const NodeId id{static_cast<int32_t>(graph_.nodes_.size())};
  for (const ValueId input : node.inputs) CHECK_LT(input.index, graph_.num_values());
  if (!node.origin.valid()) node.origin = id;
  node.outputs.clear();
  const bool is_input = node.op == OpKind::kInput;
  graph_.names_.Add(node.name);
  GrowSlowly(graph_.nodes_);
  graph_.nodes_.push_back(std::make_shared<Node>(std::move(node)));
  ++graph_.num_alive_;
  CountEdits();
  Touch(id);
  for (ValueSpec& spec : outputs) AddOutput(id, std::move(spec));
  Link(id);
  LinkControl(id);
  if (is_input) graph_.inputs_.push_back(id);
  return id;
}

NodeId GraphEditor::Add(OpKind op, std::string name, std::vector<ValueId> inputs, ValueSpec output,
                        Attributes attributes) {
  Node node;
  node.op = op;
  node.name = std::move(name);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  std::vector<ValueSpec> outputs;
  outputs.push_back(std::move(output));
  return AddNode(std::move(node), std::move(outputs));
}

ValueId GraphEditor::AddConstant(std::string name, Tensor value) {
  ValueSpec spec{value.type(), value.shape(), name};
  Attributes attributes;
  attributes.Set("value", std::move(value));
  return graph_.output(Add(OpKind::kConstant, std::move(name), {}, std::move(spec), std::move(attributes)));
}

ValueId GraphEditor::AddInput(std::string name, DataType type, Shape shape) {
  ValueSpec spec{type, std::move(shape), name};
  return graph_.output(Add(OpKind::kInput, std::move(name), {}, std::move(spec)));
}

NodeId GraphEditor::Clone(NodeId id) {
  Node copy = graph_.node(id);
  std::vector<ValueSpec> specs;
  std::vector<bool> absent;
  for (const ValueId output : copy.outputs) {
    absent.push_back(!output.valid());
    specs.push_back(output.valid()
                        ? ValueSpec{graph_.type(output), graph_.shape(output), "", graph_.value(output).quantization}
                        : ValueSpec{});
  }
  const NodeId clone = AddNode(std::move(copy), std::move(specs));
  DropAbsentOutputs(clone, absent);
  return clone;
}

void GraphEditor::DropAbsentOutputs(NodeId id, const std::vector<bool>& absent) {
  for (size_t i = 0; i < absent.size(); ++i) {
    const ValueId output = graph_.output(id, static_cast<int>(i));
    if (!absent[i] || !output.valid()) continue;
    CHECK(graph_.uses(output).empty() && !graph_.IsOutput(output)) << graph_.Label(id);
    Mutable(id).outputs[i] = kNoValue;
    CountEdits();
  }
}

void GraphEditor::SetInput(NodeId id, int index, ValueId value) {
  std::vector<ValueId> inputs = graph_.node(id).inputs;
  if (static_cast<size_t>(index) >= inputs.size()) inputs.resize(index + 1, kNoValue);
  inputs[index] = value;
  while (!inputs.empty() && !inputs.back().valid() && graph_.node(id).captures.empty()) inputs.pop_back();
  SetInputs(id, std::move(inputs));
}

void GraphEditor::SetInputs(NodeId id, std::vector<ValueId> inputs) {
  if (graph_.node(id).inputs == inputs) return;
  std::vector<ValueId> old = std::move(Mutable(id).inputs);
  Mutable(id).inputs = inputs;
  for (size_t i = 0; i < std::max(old.size(), inputs.size()); ++i) {
    const ValueId before = i < old.size() ? old[i] : kNoValue;
    const ValueId after = i < inputs.size() ? inputs[i] : kNoValue;
    if (before == after) continue;
    RemoveUse(before, {id, static_cast<int>(i)});
    AddUse(after, {id, static_cast<int>(i)});
  }
  CountEdits();
}

void GraphEditor::SetOp(NodeId id, OpKind op, std::string spelling) {
  if (graph_.op(id) == op && graph_.node(id).spelling == spelling) return;
  Node& node = Mutable(id);
  node.op = op;
  node.spelling = std::move(spelling);
  CountEdits();
}

void GraphEditor::SetAttribute(NodeId id, std::string name, AttributeValue value) {
  const AttributeValue* old = graph_.node(id).attributes.find(name);
  if (old != nullptr && SameValue(*old, value)) return;
  Mutable(id).attributes.Set(std::move(name), std::move(value));
  CountEdits();
}

void GraphEditor::EraseAttribute(NodeId id, std::string_view name) {
  if (!graph_.node(id).attributes.has(name)) return;
  Mutable(id).attributes.Erase(name);
  CountEdits();
}

void GraphEditor::SetNestedGraph(NodeId id, std::string_view name, Graph nested, int64_t edits) {
  Mutable(id).attributes.Set(std::string(name),
                             std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(nested))));
  CountEdits(edits);
}

void GraphEditor::SetExtra(NodeId id, std::string name, AttributeValue value) {
  const AttributeValue* old = graph_.node(id).extra.find(name);
  if (old != nullptr && SameValue(*old, value)) return;
  Mutable(id).extra.Set(std::move(name), std::move(value));
  CountEdits();
}

void GraphEditor::EraseExtra(NodeId id, std::string_view name) {
  if (!graph_.node(id).extra.has(name)) return;
  Mutable(id).extra.Erase(name);
  CountEdits();
}

void GraphEditor::SetName(NodeId id, std::string name) {
  if (graph_.node(id).name == name) return;
  Rename(Mutable(id).name, std::move(name));
  CountEdits();
}

void GraphEditor::SetDevice(NodeId id, std::string device) {
  if (graph_.node(id).device == device) return;
  Mutable(id).device = std::move(device);
  CountEdits();
}

void GraphEditor::SetSpelling(NodeId id, std::string spelling) {
  if (graph_.node(id).spelling == spelling) return;
  Mutable(id).spelling = std::move(spelling);
  CountEdits();
}

void GraphEditor::SetDomain(NodeId id, std::string domain) {
  if (graph_.node(id).domain == domain) return;
  Mutable(id).domain = std::move(domain);
  CountEdits();
}

void GraphEditor::SetControlInputs(NodeId id, std::vector<NodeId> inputs) {
  if (graph_.node(id).control_inputs == inputs) return;
  UnlinkControl(id);
  Mutable(id).control_inputs = std::move(inputs);
  LinkControl(id);
  CountEdits();
}

ValueId GraphEditor::AddOutput(NodeId id, ValueSpec spec) {
  const ValueId value{static_cast<int32_t>(graph_.values_.size())};
  Node& node = Mutable(id);
  graph_.names_.Add(spec.name);
  GrowSlowly(graph_.values_);
  GrowSlowly(graph_.uses_);
  graph_.values_.push_back({std::move(spec.name), spec.type, std::move(spec.shape), id,
                            static_cast<int>(node.outputs.size()), std::move(spec.quantization)});
  graph_.uses_.emplace_back();
  node.outputs.push_back(value);
  CountEdits();
  return value;
}

void GraphEditor::SetType(ValueId id, DataType type) {
  Value& value = graph_.values_[id.index];
  if (value.type == type) return;
  value.type = type;
  Touch(value.producer);
  CountEdits();
}

void GraphEditor::SetShape(ValueId id, Shape shape) {
  Value& value = graph_.values_[id.index];
  value.shape = std::move(shape);
  Touch(value.producer);
}

void GraphEditor::SetQuantization(ValueId id, std::shared_ptr<const Quantization> quantization) {
  Value& value = graph_.values_[id.index];
  const bool same = value.quantization == nullptr || quantization == nullptr ? value.quantization == quantization
                                                                             : *value.quantization == *quantization;
  if (same) return;
  value.quantization = std::move(quantization);
  Touch(value.producer);
  CountEdits();
}

void GraphEditor::SetValueName(ValueId id, std::string name) {
  Value& value = graph_.values_[id.index];
  if (value.name == name) return;
  Rename(value.name, std::move(name));
  Touch(value.producer);
  CountEdits();
}

void GraphEditor::ResetOrigins() {
  for (const NodeId id : graph_.nodes()) Mutable(id).origin = id;
}

void GraphEditor::SetHeader(std::string name, AttributeValue value) {
  const AttributeValue* old = graph_.header_.find(name);
  if (old != nullptr && SameValue(*old, value)) return;
  graph_.header_.Set(std::move(name), std::move(value));
  ++edits_;
}

void GraphEditor::AddGraphOutput(std::string name, ValueId value) {
  graph_.outputs_.push_back({std::move(name), value});
  ++edits_;
}

void GraphEditor::SetGraphOutputs(std::vector<GraphOutput> outputs) {
  graph_.outputs_ = std::move(outputs);
  ++edits_;
}

}  // namespace halftone
