// SPDX-License-Identifier: Apache-2.0
// tf.cond as Switch and Merge: what stands between the two outputs of the switches of one predicate and a merge becomes
// an if node with both branches nested in it.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/prepare/build_loops.h"
#include "passes/prepare/subgraph.h"

namespace halftone::lowering {
namespace {

using enum OpKind;

// The value that a chain of identities passes on; `value` itself where there is none.
ValueId SkipIdentities(const Graph& graph, ValueId value) {
  while (value.valid() && graph.op(value) == kIdentity) value = graph.input(graph.producer(value), 0);
  return value;
}

bool HasBackEdge(const Graph& graph, const Node& merge) {
  return std::any_of(merge.inputs.begin(), merge.inputs.end(),
                     [&](ValueId v) { return v.valid() && graph.op(v) == kNextIteration; });
}

bool IsLoopSwitch(const Graph& graph, NodeId id) {
  return graph.op(SkipIdentities(graph, graph.input(id, 1))) == kLoopCond;
}

// What a walk back from one input of a merge meets.
struct Side {
  std::map<ValueId, int> ports;                 // predicate -> output of its switches, where all agree
  std::map<ValueId, std::set<ValueId>> values;  // predicate -> outputs of its switches
  bool has_loop = false;                        // a loop ends in it that is not built yet
  bool has_merge = false;
  std::vector<NodeId> constants;
};

Side WalkBack(const Graph& graph, ValueId from) {
  Side side;
  std::set<ValueId> seen = {from};
  std::vector<ValueId> work = {from};
  while (!work.empty()) {
    const ValueId value = work.back();
    work.pop_back();
    const NodeId producer = graph.producer(value);
    const Node& node = graph.node(producer);
    if (node.op == kConstant) side.constants.push_back(producer);
    if (node.op == kExit) side.has_loop = true;
    if (node.op == kExit || node.op == kEnter) continue;
    if (node.op == kMerge) {
      side.has_merge = side.has_merge || !HasBackEdge(graph, node);
      continue;
    }
    if (node.op == kSwitch) {
      if (IsLoopSwitch(graph, producer)) continue;
      const ValueId predicate = SkipIdentities(graph, node.inputs[1]);
      const int port = graph.value(value).port;
      const auto [it, added] = side.ports.emplace(predicate, port);
      if (!added && it->second != port) it->second = -1;
      side.values[predicate].insert(value);
      continue;
    }
    for (const ValueId input : node.inputs) {
      if (input.valid() && seen.insert(input).second) work.push_back(input);
    }
  }
  return side;
}

struct Choice {
  ValueId predicate;
  int true_input = 0;  // of the merge
};

// The predicate whose switches stand on both sides with different outputs; or on one, where the other has none at all.
std::optional<Choice> FindChoice(const Side& a, const Side& b) {
  for (const auto& [predicate, port] : a.ports) {
    const auto other = b.ports.find(predicate);
    if (port >= 0 && other != b.ports.end() && other->second == 1 - port) return Choice{predicate, port == 1 ? 0 : 1};
  }
  for (const auto& [predicate, port] : a.ports) {
    if (port >= 0 && b.ports.empty()) return Choice{predicate, port == 1 ? 0 : 1};
  }
  for (const auto& [predicate, port] : b.ports) {
    if (port >= 0 && a.ports.empty()) return Choice{predicate, port == 1 ? 1 : 0};
  }
  return std::nullopt;
}

void AddIf(GraphEditor& edit, NodeId merge, const Choice& choice, const Side& a, const Side& b) {
  const Graph& graph = edit.graph();
  NestedInputs inputs;
  std::set<ValueId> boundary;
  for (const Side* side : {&a, &b}) {
    const auto it = side->values.find(choice.predicate);
    if (it == side->values.end()) continue;
    for (const ValueId value : it->second) {
      inputs.SetAlias(value, graph.input(graph.producer(value), 0));
      boundary.insert(value);
    }
  }
  const std::set<NodeId> inside = DependentNodes(graph, {boundary.begin(), boundary.end()}, [](const Node& node) {
    return node.op == kMerge || node.op == kNextIteration;
  });
  SubgraphCopier then_branch(graph, inside, boundary, inputs), else_branch(graph, inside, boundary, inputs);
  const ValueId if_true = then_branch.Copy(graph.input(merge, choice.true_input));
  const ValueId if_false = else_branch.Copy(graph.input(merge, 1 - choice.true_input));
  Node node;
  node.op = kIf;
  node.name = Concat(graph.Label(merge), "/if");
  node.origin = merge;
  node.attributes.Set("then", then_branch.Finish({if_true}));
  node.attributes.Set("else", else_branch.Finish({if_false}));
  node.inputs = {choice.predicate};
  node.inputs.insert(node.inputs.end(), inputs.inputs().begin(), inputs.inputs().end());
  const NodeId made = edit.AddNode(std::move(node), {{graph.type(graph.output(merge)), Shape(), ""}});
  edit.ReplaceUses(graph.output(merge), graph.output(made));
  const ValueId index = graph.output(merge, 1);
  if (index.valid() && (!graph.uses(index).empty() || graph.IsOutput(index))) {
    Node where;
    where.op = kWhere;
    where.origin = merge;
    const auto number = [&](int64_t n) { return edit.AddConstant("", Tensor::IntScalar(n, DataType::kInt32)); };
    where.inputs = {choice.predicate, number(choice.true_input), number(1 - choice.true_input)};
    edit.ReplaceUses(index, graph.output(edit.AddNode(std::move(where), {{DataType::kInt32, Shape::Scalar(), ""}})));
  }
}

}  // namespace

// A branch that is made of constants has no switch, only control edges: it gets one.
void PinConstantBranches(GraphEditor& edit) {
  const Graph& graph = edit.graph();
  for (const NodeId merge : graph.nodes()) {
    if (graph.op(merge) != kMerge || HasBackEdge(graph, graph.node(merge))) continue;
    for (size_t i = 0; i < graph.node(merge).inputs.size(); ++i) {
      const ValueId input = graph.node(merge).inputs[i];
      const Side side = WalkBack(graph, input);
      if (!side.ports.empty()) continue;
      ValueId pivot = kNoValue;
      for (const NodeId constant : side.constants) {
        for (const NodeId control : graph.node(constant).control_inputs) {
          if (!graph.output(control).valid()) continue;
          const ValueId value = SkipIdentities(graph, graph.output(control));
          if (graph.op(value) == kSwitch && !IsLoopSwitch(graph, graph.producer(value))) pivot = value;
        }
      }
      if (!pivot.valid()) continue;
      Node node;
      node.op = kSwitch;
      node.inputs = {input, graph.input(graph.producer(pivot), 1)};
      const ValueSpec spec{graph.type(input), graph.shape(input), ""};
      const NodeId made = edit.AddNode(std::move(node), {spec, spec});
      edit.SetInput(merge, static_cast<int>(i), graph.output(made, graph.value(pivot).port));
    }
  }
}

absl::Status BuildConditionals(GraphEditor& edit, bool must_all) {
  const Graph& graph = edit.graph();
  for (const NodeId merge : graph.TopologicalOrder()) {  // inner ones come first
    if (!graph.alive(merge) || graph.op(merge) != kMerge || HasBackEdge(graph, graph.node(merge))) continue;
    const auto error = [&](std::string_view what) {
      return absl::UnimplementedError(Concat("node '", graph.Label(merge), "' (merge): ", what));
    };
    if (graph.node(merge).inputs.size() != 2) return error("merges other than two branches");
    const Side a = WalkBack(graph, graph.input(merge, 0)), b = WalkBack(graph, graph.input(merge, 1));
    const bool waits = a.has_loop || b.has_loop || a.has_merge || b.has_merge;
    if (waits && !must_all) continue;
    const std::optional<Choice> choice = FindChoice(a, b);
    if (waits || !choice.has_value()) return error("its branches are not those of one predicate");
    AddIf(edit, merge, *choice, a, b);
  }
  edit.RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace halftone::lowering
