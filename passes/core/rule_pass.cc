#include "passes/core/rule_pass.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

bool Has(const std::vector<NodeId>& nodes, NodeId id) {
  return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

// Moving values is the same in any precision: only nodes that compute carry one.
bool Computes(OpKind op) {
  const OpGroup group = Info(op).group;
  return group != OpGroup::kMove && group != OpGroup::kSource && group != OpGroup::kShape;
}

std::string GuardUsers(const Graph& graph, const Match& match) {
  for (const NodeId id : match.nodes()) {
    if (id == match.root()) continue;
    for (const ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      if (graph.IsOutput(output)) return Concat("'", graph.Label(id), "' is an output of the graph");
      if (graph.IsCaptured(output)) return Concat("'", graph.Label(id), "' is read by a subgraph");
      for (const Use& use : graph.uses(output)) {
        if (!Has(match.nodes(), use.node)) return Concat("'", graph.Label(id), "' has another user");
      }
    }
  }
  return "";
}

bool IsUnused(const Graph& graph, NodeId id) {
  if (graph.op(id) == OpKind::kInput) return false;
  for (const ValueId output : graph.node(id).outputs) {
    if (output.valid() && (!graph.uses(output).empty() || graph.IsOutput(output) || graph.IsCaptured(output)))
      return false;
  }
  return graph.control_users(id).empty();
}

void PrintWhy(std::string_view rule, const Graph& graph, NodeId id, const std::string& reason) {
  std::fprintf(stderr, "why  %-32s '%s'  no: %s\n", std::string(rule).c_str(), graph.Label(id).c_str(), reason.c_str());
}

}  // namespace

std::string GuardAgainst(const Graph& graph, const Match& match, const PrecisionPlan* plan) {
  if (std::string reason = GuardUsers(graph, match); !reason.empty()) return reason;
  std::optional<DataType> planned;
  for (const NodeId id : match.nodes()) {
    if (graph.HasControlEdges(id)) return Concat("'", graph.Label(id), "' has control edges");
    if (graph.node(id).device != graph.node(match.root()).device) {
      return Concat("'", graph.Label(id), "' is on another device");
    }
    if (plan == nullptr || !Computes(graph.op(id))) continue;
    const DataType type = plan->TypeOf(graph, id);
    if (planned.value_or(type) != type) return "parts of different precision";
    planned = type;
  }
  return "";
}

void RemoveUnused(GraphEditor& edit, std::vector<NodeId> nodes) {
  while (!nodes.empty()) {
    const NodeId id = nodes.back();
    nodes.pop_back();
    if (!edit.graph().alive(id) || !IsUnused(edit.graph(), id)) continue;
    for (const ValueId input : edit.graph().node(id).inputs) {
      if (input.valid()) nodes.push_back(edit.graph().producer(input));
    }
    edit.RemoveNode(id);
  }
}

absl::Status RulePass::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  const std::optional<int64_t> fuel = context.debug.Fuel(name());
  const bool why = context.debug.why && context.debug.Selects(name());
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!graph.alive(id) || !rule_->root().has(graph.op(id))) continue;
    FindResult found = rule_->Find(graph, id, context.target);
    if (const Match* match = std::get_if<Match>(&found)) {
      if (std::string reason = GuardAgainst(graph, *match, context.plan); !reason.empty())
        found = Kept(std::move(reason));
    }
    if (const Refusal* refusal = std::get_if<Refusal>(&found)) {
      if (why) PrintWhy(name(), graph, id, refusal->reason);
      if (refusal->matched && context.log != nullptr) context.log->Refused(name(), graph, id, refusal->reason);
      continue;
    }
    if (fuel.has_value() && context.fuel_used[std::string(name())]++ >= *fuel) return absl::OkStatus();
    ++context.matches;
    if (context.log != nullptr) context.log->Applied(name(), graph, id, rule_->equation());
    const Match& match = std::get<Match>(found);
    std::vector<NodeId> touched = match.nodes();
    for (const NodeId node : match.nodes()) {
      for (const ValueId input : graph.node(node).inputs) {
        if (input.valid()) touched.push_back(graph.producer(input));
      }
    }
    const std::string label = graph.Label(id);
    HALFTONE_RETURN_IF_ERROR(Annotate(rule_->Apply(match, edit), AbslView(Concat("node '", label, "'"))));
    RemoveUnused(edit, std::move(touched));
  }
  return absl::OkStatus();
}

}  // namespace halftone
