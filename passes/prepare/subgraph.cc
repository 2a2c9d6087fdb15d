// SPDX-License-Identifier: Apache-2.0
#include "passes/prepare/subgraph.h"

#include <utility>

#include "base/strings.h"

namespace halftone::lowering {

int NestedInputs::Of(ValueId value) {
  const auto [it, added] = numbers_.emplace(value, static_cast<int>(inputs_.size()));
  if (added) inputs_.push_back(value);
  return it->second;
}

std::set<NodeId> DependentNodes(const Graph& graph, const std::vector<ValueId>& values, bool (*is_end)(const Node&)) {
  std::set<NodeId> found;
  std::vector<ValueId> work = values;
  while (!work.empty()) {
    const ValueId value = work.back();
    work.pop_back();
    for (const Use& use : graph.uses(value)) {
      if (!found.insert(use.node).second || is_end(graph.node(use.node))) continue;
      for (const ValueId output : graph.node(use.node).outputs) {
        if (output.valid()) work.push_back(output);
      }
    }
  }
  return found;
}

SubgraphCopier::SubgraphCopier(const Graph& graph, const std::set<NodeId>& inside, const std::set<ValueId>& boundary,
                               NestedInputs& inputs)
    : graph_(graph), inside_(inside), boundary_(boundary), inputs_(inputs), edit_(*result_) {
  edit_.SetLayout(graph.layout());
}

bool SubgraphCopier::IsInput(ValueId value) const {
  if (boundary_.contains(value)) return true;
  if (graph_.op(value) == OpKind::kNextIteration) return true;  // of a loop that is none: every cycle ends here
  return !graph_.IsConstant(value) && !inside_.contains(graph_.producer(value));
}

ValueId SubgraphCopier::InputOf(ValueId value) {
  const int number = inputs_.Of(value);
  while (static_cast<int>(made_inputs_.size()) <= number) {
    const auto i = static_cast<int>(made_inputs_.size());
    const Value& outer = graph_.value(inputs_.inputs()[i]);
    made_inputs_.push_back(edit_.AddInput(Concat("input/", i), outer.type, Shape()));
  }
  return made_inputs_[number];
}

void SubgraphCopier::CopyNode(NodeId id) {
  Node node = graph_.node(id);
  std::vector<ValueSpec> specs;
  for (ValueId& input : node.inputs) {
    if (input.valid()) input = copies_.at(input);
  }
  std::vector<bool> absent;
  for (const ValueId output : node.outputs) {
    absent.push_back(!output.valid());
    specs.push_back(output.valid() ? ValueSpec{graph_.type(output), graph_.shape(output), graph_.value(output).name}
                                   : ValueSpec{});
    // What shapes the file declares stays; others are inferred again, from inputs of perhaps other shapes.
    if (node.op != OpKind::kConstant && Info(node.op).group != OpGroup::kOpaque) specs.back().shape = Shape();
  }
  const std::vector<ValueId> outputs = std::move(node.outputs);
  node.outputs.clear();
  node.control_inputs.clear();
  const NodeId copy = edit_.AddNode(std::move(node), std::move(specs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].valid()) copies_[outputs[i]] = result_->output(copy, static_cast<int>(i));
  }
  edit_.DropAbsentOutputs(copy, absent);
}

// Depth first with a stack of one's own: a value stays on it until all that it needs is there.
ValueId SubgraphCopier::Copy(ValueId value) {
  std::vector<ValueId> work = {value};
  while (!work.empty()) {
    const ValueId next = work.back();
    if (copies_.contains(next)) {
      work.pop_back();
      continue;
    }
    if (IsInput(next)) {
      copies_[next] = InputOf(next);
      continue;
    }
    bool is_ready = true;
    for (const ValueId input : graph_.producer_node(next).inputs) {
      if (!input.valid() || copies_.contains(input)) continue;
      work.push_back(input);
      is_ready = false;
    }
    if (is_ready) CopyNode(graph_.producer(next));
  }
  return copies_.at(value);
}

std::shared_ptr<const Graph> SubgraphCopier::Finish(const std::vector<ValueId>& outputs) {
  if (!inputs_.inputs().empty()) InputOf(inputs_.inputs().back());  // and all before it
  for (size_t i = 0; i < outputs.size(); ++i) edit_.AddGraphOutput(Concat("output/", i), outputs[i]);
  return result_;
}

}  // namespace halftone::lowering
