// SPDX-License-Identifier: Apache-2.0
#include "passes/core/control_edges.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/strings.h"

namespace halftone {
namespace {

// The maximum number of visited nodes before an edge counts as unsafe.
constexpr size_t kMostAncestors = 2000;

bool Has(const std::vector<NodeId>& nodes, NodeId id) {
  return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

bool MayBeDead(const Graph& graph, const RuleSchedule* schedule) {
  if (schedule != nullptr) return schedule->Has(graph, OpKind::kSwitch) || schedule->Has(graph, OpKind::kMerge);
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kSwitch || graph.op(id) == OpKind::kMerge) return true;
  }
  return false;
}

// Whether one of the matched nodes depends on `wanted`, which is not matched, through any edges; also true if the
// search visits too many nodes.
bool Needs(const Graph& graph, const Match& match, NodeId wanted, const RuleSchedule* schedule) {
  std::set<NodeId> known(match.nodes().begin(), match.nodes().end());
  std::vector<NodeId> work(match.nodes());
  const auto look_at = [&](NodeId id) {
    if (schedule != nullptr && schedule->IsBefore(id, wanted)) return;  // it cannot depend on it
    if (known.insert(id).second) work.push_back(id);
  };
  while (!work.empty()) {
    const Node& node = graph.node(work.back());
    work.pop_back();
    for (const NodeId control : node.control_inputs) look_at(control);
    for (const ValueId input : node.inputs) {
      if (input.valid()) look_at(graph.producer(input));
    }
    if (known.contains(wanted) || known.size() > kMostAncestors) return true;
  }
  return false;
}

bool IsNeeded(const Graph& graph, NodeId root) {
  const ValueId y = graph.output(root);
  return y.valid() && (!graph.uses(y).empty() || graph.IsOutput(y));
}

}  // namespace

std::string GuardControlEdges(const Graph& graph, const RewriteRule& rule, const Match& match,
                              const RuleSchedule* schedule) {
  const bool movable = rule.makes_one_node() && IsNeeded(graph, match.root());
  std::optional<bool> dead;  // computed at most once
  for (const NodeId id : match.nodes()) {
    const auto has = [&](std::string_view what, NodeId other, std::string_view why) {
      return Concat("'", graph.Label(id), "' has control edges: ", what, " '", graph.Label(other), "'", why);
    };
    const auto fixed = [&]() -> std::string_view {
      if (!movable) return " ";
      if (!dead.has_value()) dead = MayBeDead(graph, schedule);
      return *dead ? ", and values may be dead here" : "";
    };
    for (const NodeId from : graph.node(id).control_inputs) {
      if (const std::string_view why = fixed(); !why.empty()) return has("it runs after", from, why == " " ? "" : why);
    }
    for (const NodeId to : graph.control_users(id)) {
      if (const std::string_view why = fixed(); !why.empty()) return has("it runs before", to, why == " " ? "" : why);
      if (id == match.root() || Has(match.nodes(), to) || !Needs(graph, match, to, schedule)) continue;
      return has("it runs before", to, ", which the pattern needs");
    }
  }
  return "";
}

DetachedControl::DetachedControl(GraphEditor& edit, const Match& match) : matched_(match.nodes()) {
  const Graph& graph = edit.graph();
  values_before_ = graph.num_values();
  const ValueId y = graph.output(match.root());
  if (y.valid() && !graph.uses(y).empty()) reader_ = graph.uses(y).front();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i].value == y) output_ = static_cast<int>(i);
  }
  for (const NodeId id : match.nodes()) {
    for (const NodeId from : graph.node(id).control_inputs) {
      if (!Has(match.nodes(), from)) into_.push_back({from, id, id == match.root(), graph.Label(from)});
    }
    for (const NodeId to : graph.control_users(id)) {
      if (!Has(match.nodes(), to)) out_of_.push_back({id, to, id == match.root(), graph.Label(id)});
    }
    edit.SetControlInputs(id, {});
  }
  for (const Edge& edge : out_of_) {
    std::vector<NodeId> left = graph.node(edge.to).control_inputs;
    std::erase(left, edge.from);
    edit.SetControlInputs(edge.to, std::move(left));
  }
}

NodeId DetachedControl::Replacement(const Graph& graph) const {
  ValueId y = kNoValue;
  if (output_ >= 0) y = graph.outputs()[output_].value;
  if (!y.valid() && graph.alive(reader_.node)) y = graph.input(reader_.node, reader_.index);
  return y.valid() ? graph.producer(y) : kNoNode;
}

absl::StatusOr<std::vector<std::string>> DetachedControl::Attach(GraphEditor& edit) const {
  const Graph& graph = edit.graph();
  std::vector<std::string> moved;
  if (empty()) return moved;
  const NodeId node = Replacement(graph);
  if (!node.valid() || (graph.output(node).index < values_before_ && !Has(matched_, node))) {
    return absl::InternalError(
        "makes_one_node() says that one node takes the root's place, but another makes its value");
  }
  const std::string label = graph.Label(node);
  std::vector<NodeId> before = graph.node(node).control_inputs;
  for (const Edge& edge : into_) {
    if (!Has(before, edge.from)) before.push_back(edge.from);
    if (!edge.of_root) moved.push_back(Concat("control input '^", edge.from_label, "' moved to '", label, "'"));
  }
  edit.SetControlInputs(node, std::move(before));
  for (const Edge& edge : out_of_) {
    std::vector<NodeId> of_user = graph.node(edge.to).control_inputs;
    if (!Has(of_user, node)) of_user.push_back(node);
    edit.SetControlInputs(edge.to, std::move(of_user));
    if (!edge.of_root) {
      moved.push_back(
          Concat("control input '^", edge.from_label, "' of '", graph.Label(edge.to), "' is '^", label, "' now"));
    }
  }
  return moved;
}

}  // namespace halftone
