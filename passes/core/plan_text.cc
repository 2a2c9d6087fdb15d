#include "passes/core/plan_text.h"

#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace halftone {
namespace {

// The type variable that decides what a node computes in.
char VariableOf(OpKind op) { return op == OpKind::kCast ? 'D' : 'T'; }

}  // namespace

std::string PrintPlan(const PrecisionPlan& plan, const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.nodes()) {
    const DataType type = plan.TypeOf(graph, id, VariableOf(graph.op(id)));
    if (type == DataType::kFloat32) continue;
    text += Concat(text.empty() ? "" : ", ", graph.Label(id), "=", DataTypeName(type));
  }
  return text;
}

absl::StatusOr<PrecisionPlan> ParsePlan(std::string_view text, const Graph& graph) {
  std::map<std::string, NodeId> by_label;
  for (const NodeId id : graph.nodes()) by_label[graph.Label(id)] = id;
  PrecisionPlan plan;
  plan.planner = "text";
  for (const absl::string_view item : absl::StrSplit(AbslView(text), ',', absl::SkipWhitespace())) {
    const std::string stripped(absl::StripAsciiWhitespace(item));
    const size_t equals = stripped.rfind('=');
    const auto node = by_label.find(stripped.substr(0, equals));
    const std::optional<DataType> type =
        equals == std::string::npos ? std::nullopt : DataTypeFromName(stripped.substr(equals + 1));
    if (node == by_label.end() || !type.has_value()) {
      return absl::InvalidArgumentError(Concat("plan: '", stripped, "' is no node=type"));
    }
    const NodeId id = node->second;
    plan.decisions[{graph.node(id).origin, VariableOf(graph.op(id))}] = {*type, "given", "T", "", ""};
  }
  return plan;
}

}  // namespace halftone
