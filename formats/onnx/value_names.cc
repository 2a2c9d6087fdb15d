#include "formats/onnx/value_names.h"

#include <map>
#include <utility>

#include "base/strings.h"

namespace halftone::onnx_format {
namespace {

// Names that a value must have, in order: those of the graph's outputs, then those by which subgraphs know it.
std::vector<std::pair<std::string, ValueId>> WantedNames(const Graph& graph) {
  std::vector<std::pair<std::string, ValueId>> wanted;
  for (const GraphOutput& output : graph.outputs()) wanted.emplace_back(output.name, output.value);
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const size_t first = node.inputs.size() - node.captures.size();
    for (size_t i = 0; i < node.captures.size(); ++i) wanted.emplace_back(node.captures[i], node.inputs[first + i]);
  }
  return wanted;
}

}  // namespace

absl::StatusOr<ValueNames> ValueNames::Assign(const Graph& graph, std::set<std::string> reserved) {
  ValueNames result;
  result.names_.resize(graph.num_values());
  result.aliases_.resize(graph.num_values());
  result.taken_ = std::move(reserved);
  std::map<std::string, ValueId> owner;
  const auto own = [&](ValueId value, const std::string& name) {
    result.taken_.insert(name);
    owner.emplace(name, value);
    result.names_[value.index] = name;
  };
  for (const NodeId id : graph.inputs()) {
    const ValueId value = graph.output(id);
    const std::string& name = graph.value(value).name.empty() ? graph.node(id).name : graph.value(value).name;
    if (!name.empty() && owner.contains(name))
      return absl::InvalidArgumentError(Concat("two inputs are called '", name, "'"));
    own(value, name.empty() ? result.Fresh("input") : name);
  }
  for (const auto& [name, value] : WantedNames(graph)) {
    if (!value.valid()) continue;
    const auto it = owner.find(name);
    if (it != owner.end() && it->second == value) continue;
    if (it != owner.end()) {
      return absl::InvalidArgumentError(
          Concat("two values need the name '", name, "', as inputs, outputs or in subgraphs"));
    }
    if (result.names_[value.index].empty()) {
      own(value, name);
      continue;
    }
    owner.emplace(name, value);
    result.taken_.insert(name);
    result.aliases_[value.index].push_back(name);
  }
  for (const bool named : {true, false}) {  // values with a name of their own choose first
    for (const NodeId id : graph.nodes()) {
      for (const ValueId value : graph.node(id).outputs) {
        if (!value.valid() || !result.names_[value.index].empty()) continue;
        const std::string& name = graph.value(value).name;
        if (name.empty() == named) continue;
        if (named && !result.taken_.contains(name)) {
          own(value, name);
        } else {
          const std::string& node_name = graph.node(id).name;
          result.names_[value.index] = result.Fresh(named               ? name
                                                    : node_name.empty() ? OpName(graph.op(id))
                                                                        : node_name);
        }
      }
    }
  }
  return result;
}

std::string ValueNames::Fresh(std::string_view base) {
  std::string name(base);
  int& next = next_[name];  // remembered: many values are called after their op
  while (!taken_.insert(name).second) name = Concat(base, "_", ++next);
  return name;
}

}  // namespace halftone::onnx_format
