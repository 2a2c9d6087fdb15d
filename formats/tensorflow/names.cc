// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/names.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/node_graph.h"

namespace halftone::graphdef {
namespace {

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// TensorFlow: a letter, digit or dot, then also "_", "-", "/", "\" and ">".
std::string Legal(std::string_view wish) {
  std::string name(wish.substr(0, 4000));
  for (char& c : name) {
    if (!IsLetterOrDigit(c) && std::string_view("._-/\\>").find(c) == std::string_view::npos) c = '_';
  }
  if (name.empty() || (!IsLetterOrDigit(name[0]) && name[0] != '.')) name.insert(0, "n");
  return name;
}

// The node's name, else its first value's without the port.
std::string Wish(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.name.empty()) return node.name;
  for (const ValueId output : node.outputs) {
    if (!output.valid() || graph.value(output).name.empty()) continue;
    const std::string& name = graph.value(output).name;
    return name.substr(0, name.find(':'));
  }
  return "";
}

}  // namespace

bool NameTable::Holds(const std::string& name, ValueId value, int port) const {
  const FileTensor tensor = written_.Of(value);
  return tensor.port == port && names_[tensor.node.index] == name;
}

absl::StatusOr<NameTable> NameTable::Assign(const Graph& graph, bool quantized_ops) {
  NameTable table(graph, quantized_ops);
  const std::vector<NodeId> nodes = graph.nodes();
  table.names_.resize(nodes.empty() ? 0 : nodes.back().index + 1);
  std::vector<std::pair<NodeId, std::string>> later;
  for (const NodeId id : nodes) {
    if (table.written_.IsSilent(id)) continue;
    std::string wish = Wish(graph, id);
    if (wish.empty() && graph.op(id) == OpKind::kConstant) continue;
    if (!graph.node(id).name.empty() && IsNodeName(wish) && table.taken_.insert(wish).second) {
      table.names_[id.index] = std::move(wish);
    } else {
      later.emplace_back(id, wish.empty() ? std::string(OpName(graph.op(id))) : std::move(wish));
    }
  }
  for (auto& [id, wish] : later) table.names_[id.index] = table.Unique(wish);
  HALFTONE_RETURN_IF_ERROR(table.FitOutputs(graph));
  return table;
}

std::string NameTable::Unique(std::string_view wish) {
  const std::string base = Legal(wish);
  if (taken_.insert(base).second) return base;
  for (int& i = next_[base];;) {
    std::string name = Concat(base, "_", ++i);
    if (taken_.insert(name).second) return name;
  }
}

absl::Status NameTable::FitOutputs(const Graph& graph) {
  std::map<std::string, std::vector<ValueId>> wanted;  // node name -> value by port
  for (const GraphOutput& output : graph.outputs()) {
    const absl::StatusOr<TensorName> name = ParseTensorName(output.name);
    if (!name.ok() || !IsNodeName(name->node)) continue;  // a graph of another format: the name cannot be kept
    std::vector<ValueId>& values = wanted[std::string(name->node)];
    if (values.size() <= static_cast<size_t>(name->port)) values.resize(name->port + 1, kNoValue);
    values[name->port] = output.value;
  }
  std::vector<std::string> names;
  for (const auto& [name, values] : wanted) names.push_back(name);
  for (auto& [name, values] : wanted) HALFTONE_RETURN_IF_ERROR(FitOutput(graph, name, std::move(values), names));
  return absl::OkStatus();
}

// A pass may have replaced the node of an output (by a cast, for example): the new node takes the name if it can, and
// the old node gets another; else an Identity has it.
absl::Status NameTable::FitOutput(const Graph& graph, const std::string& name, std::vector<ValueId> values,
                                  const std::vector<std::string>& wanted) {
  bool fits = true;
  for (size_t port = 0; port < values.size(); ++port) {
    fits = fits && (!values[port].valid() || Holds(name, values[port], static_cast<int>(port)));
  }
  if (fits) return absl::OkStatus();

  const auto owner = taken_.contains(name) ? std::find(names_.begin(), names_.end(), name) : names_.end();
  if (owner != names_.end()) {
    const NodeId id{static_cast<int32_t>(owner - names_.begin())};
    if (graph.op(id) == OpKind::kInput) {
      return absl::InternalError(
          Concat("output '", name, "' is no longer what node '", name, "' computes, and that is an input"));
    }
    *owner = Unique(Concat(name, "_inner"));
  }
  const ValueId only = values.back();
  const NodeId producer = written_.Of(only).node;
  std::string& producer_name = names_[producer.index];
  const bool is_nameless = graph.node(producer).name.empty();
  const bool may_rename = graph.op(producer) != OpKind::kInput && (owner != names_.end() || is_nameless) &&
                          std::find(wanted.begin(), wanted.end(), producer_name) == wanted.end();
  const bool alone = std::count_if(values.begin(), values.end(), [](ValueId v) { return v.valid(); }) == 1;
  if (alone && may_rename && written_.Of(only).port == static_cast<int>(values.size()) - 1) {
    producer_name = name;
    taken_.insert(name);
    return absl::OkStatus();
  }
  taken_.insert(name);
  for (ValueId& value : values) value = value.valid() ? value : only;  // ports without consumers
  aliases_.push_back({name, std::move(values)});
  return absl::OkStatus();
}

}  // namespace halftone::graphdef
