// SPDX-License-Identifier: Apache-2.0
// GraphEditor: values and nodes that take the place of others, and nodes that go.

#include <algorithm>
#include <utility>

#include "absl/log/check.h"
#include "ir/editor.h"

namespace halftone {

void GraphEditor::ReplaceUses(ValueId old, ValueId replacement) {
  if (old == replacement) return;
  Value& from = graph_.values_[old.index];
  Value& to = graph_.values_[replacement.index];
  const OpKind made_by = graph_.op(replacement);
  const bool may_rename = made_by != OpKind::kInput && made_by != OpKind::kConstant;
  if (to.name.empty() || (may_rename && (graph_.IsOutput(old) || graph_.IsCaptured(old)))) {
    std::string name = std::exchange(from.name, "");
    graph_.names_.Remove(to.name);
    to.name = std::move(name);
  }
  for (const Use& use : std::exchange(graph_.uses_[old.index], {})) {
    Mutable(use.node).inputs[use.index] = replacement;
    AddUse(replacement, use);
    CountEdits();
  }
  Touch(from.producer);
  for (GraphOutput& output : graph_.outputs_) {
    if (output.value != old) continue;
    output.value = replacement;
    Touch(to.producer);
    CountEdits();
  }
}

void GraphEditor::ReplaceNode(NodeId old, NodeId replacement) {
  const Node before = graph_.node(old);
  SetName(replacement, before.name);
  SetDevice(replacement, before.device);
  for (size_t i = 0; i < before.outputs.size(); ++i) {
    const ValueId to = graph_.output(replacement, static_cast<int>(i));
    if (before.outputs[i].valid() && to.valid()) {
      const std::string name = graph_.value(before.outputs[i]).name;
      ReplaceUses(before.outputs[i], to);
      SetValueName(before.outputs[i], "");
      SetValueName(to, name.empty() ? graph_.value(to).name : name);
    }
  }
  for (const NodeId user : std::vector<NodeId>(graph_.control_users(old))) {
    std::vector<NodeId> control = graph_.node(user).control_inputs;
    std::replace(control.begin(), control.end(), old, replacement);
    SetControlInputs(user, std::move(control));
  }
  RemoveNode(old);
}

void GraphEditor::RemoveNode(NodeId id) {
  for (const ValueId output : graph_.node(id).outputs) {
    if (!output.valid()) continue;
    CHECK(graph_.uses(output).empty() && !graph_.IsOutput(output)) << "'" << graph_.Label(id) << "' is still read";
    Rename(graph_.values_[output.index].name, "");
  }
  CHECK(graph_.control_users(id).empty()) << "a node still runs after '" << graph_.Label(id) << "'";
  Unlink(id);
  UnlinkControl(id);
  Touch(id);
  graph_.names_.Remove(graph_.node(id).name);
  if (graph_.op(id) == OpKind::kInput) std::erase(graph_.inputs_, id);
  graph_.nodes_[id.index] = nullptr;
  --graph_.num_alive_;
  CountEdits();
}

int GraphEditor::RemoveDeadNodes() {
  std::vector<bool> needed(graph_.nodes_.size(), false);
  std::vector<NodeId> work(graph_.inputs_);
  for (const GraphOutput& output : graph_.outputs_) work.push_back(graph_.producer(output.value));
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (needed[id.index]) continue;
    needed[id.index] = true;
    for (const ValueId input : graph_.node(id).inputs) {
      if (input.valid()) work.push_back(graph_.producer(input));
    }
    for (const NodeId control : graph_.node(id).control_inputs) work.push_back(control);
  }
  std::vector<NodeId> dead;
  for (const NodeId id : graph_.nodes()) {
    if (!needed[id.index]) dead.push_back(id);
  }
  for (const NodeId id : dead) {  // dead nodes may read each other: cut first, then remove
    SetInputs(id, {});
    SetControlInputs(id, {});
  }
  for (const NodeId id : dead) RemoveNode(id);
  return static_cast<int>(dead.size());
}

}  // namespace halftone
