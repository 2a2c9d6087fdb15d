// SPDX-License-Identifier: Apache-2.0
#include "ir/nested.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kBranches[] = {"then", "else"};
constexpr std::string_view kBody[] = {"body"};
constexpr std::string_view kConditionAndBody[] = {"condition", "body"};

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

absl::Status CheckCounts(std::string_view name, const Graph& nested, size_t inputs, size_t outputs) {
  if (nested.inputs().size() != inputs) {
    return Error("its graph '", name, "' has ", nested.inputs().size(), " inputs, need ", inputs);
  }
  if (nested.outputs().size() != outputs) {
    return Error("its graph '", name, "' has ", nested.outputs().size(), " outputs, need ", outputs);
  }
  return absl::OkStatus();
}

// Inputs from `first` on are there.
absl::Status CheckPresent(const Node& node, size_t first) {
  for (size_t i = first; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) return Error("input ", i, " is absent");
  }
  return absl::OkStatus();
}

absl::StatusOr<NestedForm> FormOfLoop(const Node& node, const Graph& body) {
  NestedForm form{.own_inputs = 2, .own_outputs = 1};
  const int given = std::max(0, static_cast<int>(node.inputs.size()) - 2);
  form.captured = static_cast<int>(node.captures.size());
  form.states = given - form.captured;
  form.scanned = static_cast<int>(node.outputs.size()) - form.states;
  if (form.states < 0) return Error("it has ", form.captured, " captures, but only ", given, " inputs for its body");
  if (form.scanned < 0) return Error("it has ", node.outputs.size(), " outputs for ", form.states, " states");
  HALFTONE_RETURN_IF_ERROR(CheckPresent(node, 2));
  HALFTONE_RETURN_IF_ERROR(CheckCounts("body", body, given + 2, node.outputs.size() + 1));
  return form;
}

absl::StatusOr<NestedForm> FormOfScan(const Node& node, const Graph& body) {
  NestedForm form;
  const int64_t inputs = static_cast<int64_t>(node.inputs.size());
  const int64_t sequences = node.attributes.Int("num_scan_inputs", 0);
  form.captured = static_cast<int>(node.captures.size());
  if (sequences < 1 || sequences > inputs - form.captured) {
    return Error("num_scan_inputs is ", sequences, ", need 1 to ", inputs - form.captured);
  }
  form.sequences = static_cast<int>(sequences);
  form.states = static_cast<int>(inputs - form.captured - sequences);
  form.scanned = static_cast<int>(node.outputs.size()) - form.states;
  if (form.scanned < 0) return Error("it has ", node.outputs.size(), " outputs for ", form.states, " states");
  const std::pair<std::string_view, int> lists[] = {{"scan_input_axes", form.sequences},
                                                    {"scan_input_directions", form.sequences},
                                                    {"scan_output_axes", form.scanned},
                                                    {"scan_output_directions", form.scanned}};
  for (const auto& [name, count] : lists) {
    const std::vector<int64_t> list = node.attributes.Ints(name);
    if (node.attributes.has(name) && list.size() != static_cast<size_t>(count)) {
      return Error("attribute '", name, "' has ", list.size(), " elements, need ", count);
    }
    if (!name.ends_with("directions")) continue;
    for (const int64_t direction : list) {
      if (direction != 0 && direction != 1) return Error("attribute '", name, "' holds ", direction, ", need 0 or 1");
    }
  }
  HALFTONE_RETURN_IF_ERROR(CheckPresent(node, 0));
  HALFTONE_RETURN_IF_ERROR(CheckCounts("body", body, node.inputs.size(), node.outputs.size()));
  return form;
}

absl::StatusOr<NestedForm> FormOfWhile(const Node& node, const Graph& condition, const Graph& body) {
  if (node.outputs.size() != node.inputs.size()) {
    return Error("it has ", node.inputs.size(), " inputs and ", node.outputs.size(), " outputs, need as many");
  }
  HALFTONE_RETURN_IF_ERROR(CheckPresent(node, 0));
  HALFTONE_RETURN_IF_ERROR(CheckCounts("condition", condition, node.inputs.size(), 1));
  HALFTONE_RETURN_IF_ERROR(CheckCounts("body", body, node.inputs.size(), node.inputs.size()));
  return NestedForm{.states = static_cast<int>(node.inputs.size())};
}

}  // namespace

bool HasNestedGraphs(OpKind op) { return !NestedGraphNames(op).empty(); }

std::span<const std::string_view> NestedGraphNames(OpKind op) {
  switch (op) {
    case OpKind::kIf:
      return kBranches;
    case OpKind::kWhile:
      return kConditionAndBody;
    case OpKind::kLoop:
    case OpKind::kScan:
    case OpKind::kCall:
      return kBody;
    default:
      return {};
  }
}

std::shared_ptr<const Graph> NestedGraph(const Node& node, std::string_view name) {
  const AttributeValue* value = node.attributes.find(name);
  const auto* graph = value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Graph>>(value);
  return graph == nullptr ? nullptr : *graph;
}

absl::StatusOr<NestedForm> NestedFormOf(const Node& node) {
  std::vector<std::shared_ptr<const Graph>> graphs;
  for (const std::string_view name : NestedGraphNames(node.op)) {
    graphs.push_back(NestedGraph(node, name));
    if (graphs.back() == nullptr) return Error("needs a graph as attribute '", name, "'");
  }
  if (node.op == OpKind::kLoop) return FormOfLoop(node, *graphs[0]);
  if (node.op == OpKind::kScan) return FormOfScan(node, *graphs[0]);
  if (node.op == OpKind::kWhile) return FormOfWhile(node, *graphs[0], *graphs[1]);
  const int offset = node.op == OpKind::kIf ? 1 : 0;
  const int captured = std::max(0, static_cast<int>(node.inputs.size()) - offset);
  HALFTONE_RETURN_IF_ERROR(CheckPresent(node, offset));
  for (size_t i = 0; i < graphs.size(); ++i) {
    HALFTONE_RETURN_IF_ERROR(CheckCounts(NestedGraphNames(node.op)[i], *graphs[i], captured, node.outputs.size()));
  }
  return NestedForm{.offset = offset, .captured = captured};
}

namespace {

std::vector<const Graph*> GraphsIn(const Graph& graph) {
  std::vector<const Graph*> found;
  for (const NodeId id : graph.nodes()) {
    for (const Attributes* attributes : {&graph.node(id).attributes, &graph.node(id).extra}) {
      for (const auto& [name, value] : *attributes) {
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&value)) found.push_back(one->get());
        if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&value)) {
          for (const std::shared_ptr<const Graph>& nested : *many) found.push_back(nested.get());
        }
      }
    }
  }
  std::erase(found, nullptr);
  return found;
}

}  // namespace

std::vector<const Graph*> WithNested(const Graph& graph) {
  std::vector<const Graph*> all{&graph};
  std::set<const Graph*> seen{&graph};
  for (size_t i = 0; i < all.size(); ++i) {
    for (const Graph* nested : GraphsIn(*all[i])) {
      if (seen.insert(nested).second) all.push_back(nested);
    }
  }
  return all;
}

absl::Status CheckNesting(const Graph& graph) {
  struct Extent {
    int64_t nodes;
    int depth;
  };
  struct Visit {
    const Graph* graph;
    std::vector<const Graph*> inside;
    size_t next = 0;
  };
  std::map<const Graph*, Extent> known;  // graphs that several nodes share are measured once
  std::vector<Visit> stack;
  stack.push_back({&graph, GraphsIn(graph)});
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.next < visit.inside.size()) {
      const Graph* nested = visit.inside[visit.next++];
      if (stack.size() > static_cast<size_t>(kMaxNestingDepth)) {
        return Error("graphs are nested more than ", kMaxNestingDepth, " deep");
      }
      if (!known.contains(nested)) stack.push_back({nested, GraphsIn(*nested)});
      continue;
    }
    Extent extent{visit.graph->num_nodes(), 0};
    for (const Graph* nested : visit.inside) {
      const Extent& inside = known.at(nested);
      extent.nodes += inside.nodes;
      extent.depth = std::max(extent.depth, inside.depth + 1);
      if (extent.nodes > kMaxNestedNodes) {
        return Error("nested graphs have more than ", kMaxNestedNodes, " nodes, counted each time they are run from");
      }
    }
    if (extent.depth > kMaxNestingDepth) return Error("graphs are nested more than ", kMaxNestingDepth, " deep");
    known[visit.graph] = extent;
    stack.pop_back();
  }
  return absl::OkStatus();
}

}  // namespace halftone
