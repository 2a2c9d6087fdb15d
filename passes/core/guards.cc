// SPDX-License-Identifier: Apache-2.0
#include "passes/core/guards.h"

#include <algorithm>

#include "base/strings.h"
#include "passes/core/control_edges.h"

namespace halftone {
namespace {

bool Has(const std::vector<NodeId>& nodes, NodeId id) {
  return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

// Moving values is the same in any precision: only nodes that compute have one.
bool Computes(OpKind op) {
  const OpGroup group = Info(op).group;
  return group != OpGroup::kMove && group != OpGroup::kSource && group != OpGroup::kShape;
}

std::string Quoted(const Graph& graph, NodeId id) { return Concat("'", graph.Label(id), "'"); }

// Includes the name of the output if it differs from the label.
std::string IsAnOutput(const Graph& graph, ValueId value) {
  const std::string label = graph.Label(graph.producer(value));
  for (const GraphOutput& output : graph.outputs()) {
    if (output.value != value) continue;
    return Concat("'", label, "' is an output of the graph",
                  output.name == label ? "" : Concat(" ('", output.name, "')"));
  }
  return "";
}

std::string IsRead(const Graph& graph, ValueId value) {
  for (const Use& use : graph.uses(value)) {
    const Node& user = graph.node(use.node);
    const int capture = use.index - static_cast<int>(user.inputs.size() - user.captures.size());
    if (capture >= 0 && !user.captures[capture].empty()) {
      return Concat(Quoted(graph, graph.producer(value)), " is read by a subgraph of ", Quoted(graph, use.node));
    }
  }
  return "";
}

std::string GuardUsers(const Graph& graph, const Match& match) {
  for (const NodeId id : match.nodes()) {
    if (match.IsResult(id)) continue;
    for (const ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      if (std::string is = IsAnOutput(graph, output); !is.empty()) return is;
      if (std::string is = IsRead(graph, output); !is.empty()) return is;
      for (const Use& use : graph.uses(output)) {
        if (!Has(match.nodes(), use.node)) {
          return Concat(Quoted(graph, id), " has another user: ", Quoted(graph, use.node));
        }
      }
    }
  }
  return "";
}

std::string GuardPlan(const Graph& graph, const Match& match, const PrecisionPlan& plan) {
  NodeId first = kNoNode;
  for (const NodeId id : match.nodes()) {
    if (!Computes(graph.op(id))) continue;
    if (!first.valid()) first = id;
    const DataType a = plan.TypeOf(graph, first), b = plan.TypeOf(graph, id);
    if (a == b) continue;
    return Concat("parts of different precision: ", Quoted(graph, first), " is planned ", DataTypeName(a), ", ",
                  Quoted(graph, id), " ", DataTypeName(b));
  }
  return "";
}

}  // namespace

std::string OtherNeed(const Graph& graph, ValueId value) {
  if (std::string is = IsAnOutput(graph, value); !is.empty()) return is;
  if (std::string is = IsRead(graph, value); !is.empty()) return is;
  const std::vector<Use>& uses = graph.uses(value);
  if (uses.size() < 2) return "";
  return Concat(Quoted(graph, graph.producer(value)), " has another user: ", Quoted(graph, uses[0].node), " beside ",
                Quoted(graph, uses[1].node));
}

std::string GuardAgainst(const Graph& graph, const RewriteRule& rule, const Match& match, const PrecisionPlan* plan,
                         const RuleSchedule* schedule) {
  if (std::string reason = GuardUsers(graph, match); !reason.empty()) return reason;
  const std::string& device = graph.node(match.root()).device;
  for (const NodeId id : match.nodes()) {
    if (graph.node(id).device == device) continue;
    return Concat(Quoted(graph, id), " is on another device ('", graph.node(id).device, "') than ",
                  Quoted(graph, match.root()), " ('", device, "')");
  }
  if (std::string reason = GuardControlEdges(graph, rule, match, schedule); !reason.empty()) return reason;
  return plan == nullptr ? "" : GuardPlan(graph, match, *plan);
}

}  // namespace halftone
