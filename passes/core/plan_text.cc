// SPDX-License-Identifier: Apache-2.0
#include "passes/core/plan_text.h"

#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr char kF32Output[] = "->f32";

// The type variable that decides the precision of a node.
char VariableOf(OpKind op) { return op == OpKind::kCast ? 'D' : 'T'; }

}  // namespace

std::string PrintPlan(const PrecisionPlan& plan, const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.nodes()) {
    const Decision* decision = plan.Find(graph, id, VariableOf(graph.op(id)));
    if (decision == nullptr || !decision->IsReduced()) continue;
    text += Concat(text.empty() ? "" : ", ", graph.Label(id), "=", DataTypeName(decision->type),
                   decision->f32_output ? kF32Output : "");
  }
  return text;
}

absl::StatusOr<PrecisionPlan> ParsePlan(std::string_view text, const Graph& graph) {
  std::map<std::string, NodeId> by_label;
  for (const NodeId id : graph.nodes()) by_label[graph.Label(id)] = id;
  PrecisionPlan plan;
  plan.planner = "text";
  for (const absl::string_view item : absl::StrSplit(AbslView(text), ',', absl::SkipWhitespace())) {
    absl::string_view assignment = absl::StripAsciiWhitespace(item);
    const bool f32_output = absl::ConsumeSuffix(&assignment, kF32Output);
    const std::string stripped(assignment);
    const size_t equals = stripped.rfind('=');
    const auto node = by_label.find(stripped.substr(0, equals));
    const std::optional<DataType> type =
        equals == std::string::npos ? std::nullopt : DataTypeFromName(stripped.substr(equals + 1));
    if (node == by_label.end() || !type.has_value()) {
      return absl::InvalidArgumentError(Concat("plan: '", stripped, "' is not node=type"));
    }
    const NodeId id = node->second;
    plan.decisions[{graph.node(id).origin, VariableOf(graph.op(id))}] = {
        .type = *type, .reason = "given", .type_attribute = "T", .f32_output = f32_output};
  }
  return plan;
}

}  // namespace halftone
