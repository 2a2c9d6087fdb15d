// SPDX-License-Identifier: Apache-2.0
#include "optimizer/explain.h"

#include <algorithm>

#include "base/strings.h"
#include "ir/nested.h"
#include "passes/export/widen_types.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

bool IsSource(OpKind op) { return op == OpKind::kInput || op == OpKind::kConstant; }

bool IsFloatCast(const Graph& g, NodeId id) {
  return g.op(id) == OpKind::kCast && g.input(id, 0).valid() && IsFloatingPoint(g.type(g.input(id, 0))) &&
         IsFloatingPoint(g.type(g.output(id)));
}

VariantKind PrecisionOf(const Graph& g, NodeId id) {
  VariantKind precision = VariantKind::kFp32;
  const auto look = [&](ValueId value) {
    if (!value.valid()) return;
    if (g.type(value) == DataType::kBFloat16) precision = VariantKind::kBf16;
    if (g.type(value) == DataType::kFloat16) precision = VariantKind::kFp16;
  };
  for (const ValueId value : g.node(id).inputs) look(value);
  for (const ValueId value : g.node(id).outputs) look(value);
  return precision;
}

// What stands on both sides of a cast that was put in.
Reason OfCast(const Graph& g, NodeId cast) {
  const ValueId from = g.input(cast, 0), to = g.output(cast);
  std::string consumer;
  for (const GraphOutput& output : g.outputs()) {
    if (output.value == to) consumer = Concat("output ", output.name);
  }
  if (!g.uses(to).empty()) consumer = g.Label(g.uses(to)[0].node);
  const size_t more = g.uses(to).size() > 1 ? g.uses(to).size() - 1 : 0;
  return {"conversion.cast",
          Concat("cast: '", g.Label(g.producer(from)), "' is ", DataTypeName(g.type(from)), ", '", consumer,
                 more > 0 ? Concat("' and ", more, " more read ") : "' reads ", DataTypeName(g.type(to)))};
}

Reason Explain(const Graph& g, NodeId id, const PrecisionPlan* plan, const Reason& otherwise) {
  if (plan == nullptr) return otherwise;
  const Decision* decision = plan->Find(g, id, PlannedVariable(g.op(id)));
  if (decision != nullptr) {
    if (!decision->rule.empty()) return {decision->rule, decision->reason};
    return {Concat(plan->planner, ".", decision->step.empty() ? "none" : decision->step), decision->reason};
  }
  return IsFloatCast(g, id) ? OfCast(g, id) : otherwise;
}

void ExplainNested(const Graph& graph, const std::string& where, int depth, std::vector<NodeDecision>& decisions) {
  if (depth > kMaxNestingDepth) return;
  for (const NodeId id : graph.nodes()) {
    if (IsSource(graph.op(id))) continue;
    const std::string label = Concat(where, graph.Label(id));
    const bool opaque = graph.op(id) == OpKind::kOpaque;
    if (!where.empty()) {
      decisions.push_back({label,
                           opaque ? graph.node(id).spelling : std::string(OpName(graph.op(id))),
                           PrecisionOf(graph, id),
                           {"target.nested", "in a nested graph, which stays as it is"}});
    }
    for (const std::string_view name : NestedGraphNames(graph.op(id))) {
      const std::shared_ptr<const Graph> nested = NestedGraph(graph.node(id), name);
      if (nested != nullptr) ExplainNested(*nested, Concat(label, "/", name, "/"), depth + 1, decisions);
    }
  }
}

}  // namespace

std::vector<NodeDecision> ExplainGraph(const Graph& graph, const PrecisionPlan* plan, const Reason& otherwise) {
  std::vector<NodeDecision> decisions;
  for (const NodeId id : graph.nodes()) {
    if (IsSource(graph.op(id))) continue;
    const bool opaque = graph.op(id) == OpKind::kOpaque;
    decisions.push_back({graph.Label(id), opaque ? graph.node(id).spelling : std::string(OpName(graph.op(id))),
                         PrecisionOf(graph, id), Explain(graph, id, plan, otherwise)});
  }
  ExplainNested(graph, "", 0, decisions);
  return decisions;
}

void ExplainWidening(const RewriteLog& log, std::vector<NodeDecision>& decisions) {
  std::map<std::string, NodeDecision*> by_name;
  for (NodeDecision& decision : decisions) by_name.emplace(decision.node, &decision);
  for (const RewriteLogEntry& entry : log.entries()) {
    if (!entry.applied || entry.pass != WidenTypes::kName) continue;
    // A part that was split off a fused node is called NODE/part.
    std::string name = entry.node;
    auto found = by_name.find(name);
    while (found == by_name.end() && name.find('/') != std::string::npos) {
      name.resize(name.rfind('/'));
      found = by_name.find(name);
    }
    if (found == by_name.end()) continue;
    const bool whole = name == entry.node;
    found->second->precision = whole ? VariantKind::kFp32 : found->second->precision;
    found->second->reason = {"file.types", whole ? entry.text : Concat("its part '", entry.node, "': ", entry.text)};
  }
}

std::map<std::string, Reason> ByName(const std::vector<NodeDecision>& decisions) {
  std::map<std::string, Reason> reasons;
  for (const NodeDecision& decision : decisions) reasons.emplace(decision.node, decision.reason);
  return reasons;
}

Reason ReasonOf(std::string_view name, const std::map<std::string, Reason>& reasons) {
  while (true) {
    const auto reason = reasons.find(std::string(name));
    if (reason != reasons.end()) return reason->second;
    const size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) return {"conversion.made", "made by the conversion"};
    name = name.substr(0, slash);
  }
}

int64_t CountFloatCasts(const Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return IsFloatCast(graph, id); });
}

}  // namespace halftone
