// SPDX-License-Identifier: Apache-2.0
#include "passes/core/rule_pass.h"

#include <cstdio>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "passes/core/control_edges.h"
#include "passes/core/guards.h"
#include "passes/core/rule_schedule.h"

namespace halftone {
namespace {

bool IsUnused(const Graph& graph, NodeId id) {
  if (graph.op(id) == OpKind::kInput) return false;
  for (const ValueId output : graph.node(id).outputs) {
    if (output.valid() && (!graph.uses(output).empty() || graph.IsOutput(output))) return false;
  }
  return graph.control_users(id).empty();
}

void PrintWhy(std::string_view rule, const Graph& graph, NodeId id, const std::string& reason) {
  std::fprintf(stderr, "why  %-32s '%s'  no: %s\n", std::string(rule).c_str(), graph.Label(id).c_str(), reason.c_str());
}

std::vector<NodeId> Roots(const Graph& graph, const OpSet& ops) {
  std::vector<NodeId> roots = graph.TopologicalOrder();
  std::erase_if(roots, [&](NodeId id) { return !ops.has(graph.op(id)); });
  return roots;
}

}  // namespace

FindResult FindGuarded(const RewriteRule& rule, const Graph& graph, NodeId id, const PassContext& context) {
  FindResult found = rule.Find(graph, id, context.memo == nullptr ? context.target : *context.memo);
  if (const Match* match = std::get_if<Match>(&found)) {
    if (std::string reason = GuardAgainst(graph, rule, *match, context.plan, context.schedule); !reason.empty()) {
      return Kept(std::move(reason));
    }
  }
  return found;
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

absl::Status RulePass::Apply(const Match& match, GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  const NodeId root = match.root();
  const std::string label = graph.Label(root);
  const NodeId origin = graph.node(root).origin;
  const size_t first = context.touched == nullptr ? 0 : context.touched->size();
  if (context.log != nullptr) context.log->Applied(name(), label, origin, rule_->equation());
  std::vector<NodeId> touched = match.nodes();
  for (const NodeId node : match.nodes()) {
    for (const ValueId input : graph.node(node).inputs) {
      if (input.valid()) touched.push_back(graph.producer(input));
    }
  }
  const DetachedControl control(edit, match);
  HALFTONE_RETURN_IF_ERROR(Annotate(rule_->Apply(match, edit), AbslView(Concat("node '", label, "'"))));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> moved, control.Attach(edit));
  if (!control.empty() && context.schedule != nullptr) context.schedule->ForgetOrder();
  if (context.log != nullptr) {
    for (const std::string& sentence : moved) context.log->Remark(name(), label, origin, sentence);
  }
  RemoveUnused(edit, std::move(touched));
  if (context.schedule != nullptr && context.touched != nullptr) context.schedule->Place(root, *context.touched, first);
  return absl::OkStatus();
}

absl::Status RulePass::Run(GraphEditor& edit, PassContext& context) const {
  const Graph& graph = edit.graph();
  const OpSet ops = rule_->root();
  const std::vector<NodeId> roots =
      context.schedule == nullptr ? Roots(graph, ops) : context.schedule->Take(graph, context.rule, ops);
  const std::optional<int64_t> fuel = context.debug.Fuel(name());
  const bool why = context.debug.why && context.debug.Selects(name());
  for (const NodeId id : roots) {
    if (!graph.alive(id) || !ops.has(graph.op(id))) continue;
    const FindResult found = FindGuarded(*rule_, graph, id, context);
    if (const Refusal* refusal = std::get_if<Refusal>(&found)) {
      if (why && context.explains) PrintWhy(name(), graph, id, refusal->reason);
      if (refusal->matched && context.explains && context.log != nullptr) {
        context.log->Refused(name(), graph, id, refusal->reason);
      }
      continue;
    }
    if (fuel.has_value() && context.fuel_used[std::string(name())]++ >= *fuel) return absl::OkStatus();
    ++context.matches;
    HALFTONE_RETURN_IF_ERROR(Apply(std::get<Match>(found), edit, context));
  }
  return absl::OkStatus();
}

}  // namespace halftone
