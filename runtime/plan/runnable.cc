// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/runnable.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "runtime/plan/control.h"
#include "runtime/plan/memory.h"

namespace halftone {

std::vector<NodeId> NeededNodes(const Graph& graph) {
  std::set<NodeId> needed(graph.inputs().begin(), graph.inputs().end());
  std::vector<NodeId> stack;
  const auto visit = [&](NodeId node) {
    if (node.valid() && needed.insert(node).second) stack.push_back(node);
  };
  for (const GraphOutput& output : graph.outputs()) visit(graph.producer(output.value));
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const ValueId input : graph.node(node).inputs) {
      if (input.valid()) visit(graph.producer(input));
    }
  }
  std::vector<NodeId> result;
  for (const NodeId node : graph.TopologicalOrder()) {
    if (needed.contains(node)) result.push_back(node);
  }
  return result;
}

namespace {

// Of a loop or call: its first node that cannot run. Branches are looked at when they are taken.
std::string WhyBodyCannotRun(const Graph& graph, NodeId id, const Backend& backend) {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kIf) return "";
  for (const std::string_view name : NestedGraphNames(node.op)) {
    const std::shared_ptr<const Graph> nested = NestedGraph(node, name);
    if (nested == nullptr) return Concat("'", graph.Label(id), "' (no graph '", name, "')");
    for (const NodeId inner : NeededNodes(*nested)) {
      const std::string why = WhyNodeCannotRun(*nested, inner, backend);
      if (!why.empty()) return Concat("'", graph.Label(id), "': in its ", name, " ", why);
    }
  }
  return "";
}

// Types that are known, each once: "f32, s64".
std::string TypesOf(const Graph& graph, std::span<const ValueId> values) {
  std::vector<std::string> names;
  for (const ValueId value : values) {
    if (!value.valid() || graph.type(value) == DataType::kUnknown) continue;
    std::string name(DataTypeName(graph.type(value)));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

std::string OpWithTypes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string op = node.op != OpKind::kOpaque ? std::string(OpName(node.op))
                         : node.domain.empty()      ? node.spelling
                                                    : Concat(node.domain, ".", node.spelling);
  const std::string inputs = TypesOf(graph, node.inputs), outputs = TypesOf(graph, node.outputs);
  return Concat("op ", op, inputs.empty() ? "" : " of ", inputs, outputs == inputs || outputs.empty() ? "" : " to ",
                outputs == inputs ? "" : outputs);
}

std::string WhyNodeCannotRun(const Graph& graph, NodeId id, const Backend& backend) {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kInput || node.op == OpKind::kConstant) return "";
  const std::string label = Concat("'", graph.Label(id), "'");
  const auto unknown = [&] { return Concat(label, " (", OpWithTypes(graph, id), ", which no kernel knows)"); };
  if (node.op == OpKind::kOpaque) return unknown();
  if (IsControlFlow(node.op)) return WhyBodyCannotRun(graph, id, backend);
  if (Info(node.op).group == OpGroup::kStructural) return Concat(label, " (control flow: ", OpName(node.op), ")");
  if (backend.Kernels(node.op).empty()) return unknown();
  for (const ValueId output : node.outputs) {
    if (!output.valid() || (graph.uses(output).empty() && !graph.IsOutput(output))) continue;
    const DataType type = graph.type(output);
    if (ElementSize(type) == 0) {
      return Concat(label, " (", OpWithTypes(graph, id), ": no kernel for type ", DataTypeName(type), ")");
    }
  }
  return "";
}

absl::Status CannotRun(const std::vector<std::string>& refusals) {
  if (refusals.empty()) return absl::OkStatus();
  return absl::UnimplementedError(Concat("cannot run ", refusals.size(),
                                         refusals.size() == 1 ? " node: " : " nodes: ", absl::StrJoin(refusals, ", ")));
}

std::string ValueLabel(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.name.empty()) return Concat("value '", v.name, "'");
  return Concat("output ", v.port);
}

absl::Status CheckSize(const Graph& graph, ValueId value, std::span<const int64_t> dims, size_t most_bytes) {
  constexpr int64_t kMostElements = int64_t{1} << 36;
  const auto error = [&](std::string_view limit) {
    return absl::ResourceExhaustedError(Concat("node '", graph.Label(graph.producer(value)),
                                               "': ", ValueLabel(graph, value), " of shape ",
                                               Shape::Of(dims).ToString(), " is too large to be computed; ", limit));
  };
  const std::optional<int64_t> elements = CheckedProduct(dims);
  if (!elements.has_value() || *elements > kMostElements) return error("the limit is 2^36 elements");
  const size_t bytes = static_cast<size_t>(*elements) * ElementSize(graph.type(value));
  if (bytes > most_bytes) return error(Concat("it has ", bytes, " bytes, the limit on this machine is ", most_bytes));
  return absl::OkStatus();
}

}  // namespace halftone
