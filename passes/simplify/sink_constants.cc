// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/nested.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

// A node with nested graphs, while it is taken apart.
struct Parts {
  Node node;
  NestedForm form;
  std::vector<std::pair<std::string_view, Graph>> graphs;
  bool changed = false;
};

Parts TakeApart(const Graph& graph, NodeId id) {
  Parts parts{graph.node(id), {}, {}};
  parts.form = *NestedFormOf(parts.node);  // the graph is verified
  for (const std::string_view name : NestedGraphNames(parts.node.op)) {
    parts.graphs.emplace_back(name, *NestedGraph(parts.node, name));
  }
  return parts;
}

bool IsRead(const Graph& graph, ValueId value) { return !graph.uses(value).empty() || graph.IsOutput(value); }

// Whether each run of the body passes nested input `input` on to the next run unchanged.
bool IsInvariant(const Parts& parts, int input) {
  const int state = input - parts.form.own_inputs;
  if (state < 0 || state >= parts.form.states) return false;
  const Graph& body = parts.graphs.back().second;  // "body" is the last graph of each op
  return body.outputs()[parts.form.own_outputs + state].value == body.output(body.inputs()[input]);
}

// All consumers of the input read the constant; an output that passes the input on stays.
void Sink(const Tensor& constant, int input, Parts& parts) {
  const bool state = IsInvariant(parts, input);
  for (auto& [name, nested] : parts.graphs) {
    const ValueId value = nested.output(nested.inputs()[input]);
    const std::vector<Use> uses = nested.uses(value);
    std::vector<GraphOutput> outputs = nested.outputs();
    if (uses.empty() && (state || !nested.IsOutput(value))) continue;
    GraphEditor edit(nested);
    const ValueId copy = edit.AddConstant("", constant);
    for (const Use& use : uses) edit.SetInput(use.node, use.index, copy);
    for (GraphOutput& output : outputs) {
      if (!state && output.value == value) output.value = copy;
    }
    if (!state) edit.SetGraphOutputs(std::move(outputs));
    parts.changed = true;
  }
}

// Removes the captured inputs that no nested graph reads.
void DropUnread(Parts& parts) {
  Node& node = parts.node;
  for (size_t i = node.inputs.size(); i-- > node.inputs.size() - parts.form.captured;) {
    const int input = static_cast<int>(i) - parts.form.offset;
    bool read = false;
    for (const auto& [name, nested] : parts.graphs)
      read = read || IsRead(nested, nested.output(nested.inputs()[input]));
    if (read) continue;
    for (auto& [name, nested] : parts.graphs) GraphEditor(nested).RemoveNode(nested.inputs()[input]);
    const size_t from_end = node.inputs.size() - i;  // counted from the end, as captures are
    if (from_end <= node.captures.size()) node.captures.erase(node.captures.end() - static_cast<int64_t>(from_end));
    node.inputs.erase(node.inputs.begin() + static_cast<int64_t>(i));
    --parts.form.captured;
    parts.changed = true;
  }
}

void PutTogether(GraphEditor& edit, NodeId old, Parts parts) {
  const Graph& graph = edit.graph();
  for (auto& [name, nested] : parts.graphs) {
    parts.node.attributes.Set(std::string(name),
                              std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(nested))));
  }
  std::vector<ValueSpec> specs;
  std::vector<bool> absent;
  for (const ValueId output : graph.node(old).outputs) {
    absent.push_back(!output.valid());
    specs.push_back(output.valid() ? ValueSpec{graph.type(output), graph.shape(output), ""} : ValueSpec{});
  }
  const NodeId made = edit.AddNode(std::move(parts.node), std::move(specs));
  edit.DropAbsentOutputs(made, absent);
  edit.ReplaceNode(old, made);
}

}  // namespace

absl::Status SinkConstants::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.nodes()) {
    if (!HasNestedGraphs(graph.op(id))) continue;
    Parts parts = TakeApart(graph, id);
    const int count = static_cast<int>(parts.node.inputs.size());
    for (int i = parts.form.offset + parts.form.own_inputs; i < count; ++i) {
      const Tensor* constant = graph.ConstantTensor(parts.node.inputs[i]);
      const int input = i - parts.form.offset;
      if (constant == nullptr || (i < count - parts.form.captured && !IsInvariant(parts, input))) continue;
      Sink(*constant, input, parts);
    }
    DropUnread(parts);
    if (!parts.changed) continue;
    if (context.log != nullptr)
      context.log->Applied(name(), graph, id, "constants that nested graphs read become constants inside");
    PutTogether(edit, id, std::move(parts));
  }
  return absl::OkStatus();
}

}  // namespace halftone
