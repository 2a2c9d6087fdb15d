// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/value_names.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/derived_names.h"

namespace halftone::onnx_format {
namespace {

// Names by which subgraphs of opaque nodes know values.
std::vector<std::pair<std::string, ValueId>> CapturedNames(const Graph& graph) {
  std::vector<std::pair<std::string, ValueId>> wanted;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const size_t first = node.inputs.size() - node.captures.size();
    for (size_t i = 0; i < node.captures.size(); ++i) {
      if (!node.captures[i].empty()) wanted.emplace_back(node.captures[i], node.inputs[first + i]);
    }
  }
  return wanted;
}

}  // namespace

// Gives the names of one graph: first those that are required, last those that are free.
class ValueNames::Assignment {
 public:
  Assignment(const Graph& graph, ValueNames& result) : graph_(graph), result_(result) {}

  absl::Status Run(const std::map<ValueId, std::string>& fixed) {
    for (const auto& [value, name] : fixed) {
      result_.names_[value.index] = name;
      result_.outer_values_.insert(value);
      owner_.emplace(name, value);
    }
    HALFTONE_RETURN_IF_ERROR(Inputs());
    if (result_.outer_ == nullptr) {
      for (const GraphOutput& output : graph_.outputs()) HALFTONE_RETURN_IF_ERROR(Want(output.value, output.name));
    }
    for (const auto& [name, value] : CapturedNames(graph_)) {
      if (value.valid()) HALFTONE_RETURN_IF_ERROR(Want(value, name));
    }
    const std::vector<DerivedName> derived = DerivedNames(graph_);
    for (const DerivedName& name : derived) derived_.insert(name.value);
    for (const bool named : {true, false}) Others(named);  // values with a name of their own come first
    for (const DerivedName& name : derived) Derive(name);
    Outputs();
    return absl::OkStatus();
  }

 private:
  bool IsNamed(ValueId value) const { return !result_.names_[value.index].empty(); }

  void Own(ValueId value, const std::string& name) {
    result_.given_.insert(name);
    owner_.emplace(name, value);
    result_.names_[value.index] = name;
  }

  absl::Status Inputs() {
    for (const NodeId id : graph_.inputs()) {
      const ValueId value = graph_.output(id);
      if (IsNamed(value)) continue;
      const std::string& name = graph_.value(value).name.empty() ? graph_.node(id).name : graph_.value(value).name;
      const bool nested = result_.outer_ != nullptr;
      if (!name.empty() && owner_.contains(name) && !nested)
        return absl::InvalidArgumentError(Concat("two inputs are called '", name, "'"));
      const bool other = name.empty() || (nested && (result_.IsTaken(name) || owner_.contains(name)));
      Own(value, other ? result_.Fresh(name.empty() ? "input" : name) : name);
    }
    return absl::OkStatus();
  }

  // The value must be known by this name.
  absl::Status Want(ValueId value, const std::string& name) {
    const auto it = owner_.find(name);
    if (it != owner_.end() && it->second == value) return absl::OkStatus();
    if (it != owner_.end()) {
      return absl::InvalidArgumentError(
          Concat("two values need the name '", name, "', as inputs, outputs or in subgraphs"));
    }
    if (!IsNamed(value)) {
      Own(value, name);
      return absl::OkStatus();
    }
    owner_.emplace(name, value);
    result_.given_.insert(name);
    result_.aliases_[value.index].push_back(name);
    return absl::OkStatus();
  }

  void Others(bool named) {
    for (const NodeId id : graph_.nodes()) {
      for (const ValueId value : graph_.node(id).outputs) {
        if (!value.valid() || IsNamed(value) || derived_.contains(value)) continue;
        const std::string& name = graph_.value(value).name;
        if (name.empty() == named) continue;
        if (named && !result_.IsTaken(name)) {
          Own(value, name);
        } else {
          const std::string& node_name = graph_.node(id).name;
          result_.names_[value.index] = result_.Fresh(named               ? name
                                                      : node_name.empty() ? OpName(graph_.op(id))
                                                                          : node_name);
        }
      }
    }
  }

  void Derive(const DerivedName& name) {
    std::string& result = result_.names_[name.value.index];
    if (!result.empty()) return;  // an input, an output or a value from around
    const bool known = name.stem.empty() && name.of.valid();
    result = result_.Fresh(Concat(known ? result_.names_[name.of.index] : name.stem, name.ending));
  }

  // Outputs of a nested graph are told apart by their places. None may be a value from around, nor, unless the file had
  // it so, an input or an output that is there already.
  void Outputs() {
    std::map<ValueId, std::string> seen;
    for (const GraphOutput& output : graph_.outputs()) {
      if (result_.outer_ == nullptr) {
        result_.outputs_.push_back(output.name);
        continue;
      }
      const bool passed = graph_.op(output.value) == OpKind::kInput && output.name != graph_.value(output.value).name;
      const auto [it, first] = seen.emplace(output.value, output.name);
      if (result_.IsOuter(output.value) || passed || (!first && it->second != output.name)) {
        result_.outputs_.push_back(result_.Fresh(output.name.empty() ? "output" : output.name));
        result_.aliases_[output.value.index].push_back(result_.outputs_.back());
      } else {
        result_.outputs_.push_back(result_.of(output.value));
      }
    }
  }

  const Graph& graph_;
  ValueNames& result_;
  std::map<std::string, ValueId> owner_;
  std::set<ValueId> derived_;
};

absl::StatusOr<ValueNames> ValueNames::Assign(const Graph& graph, NameScope scope) {
  ValueNames result;
  result.outer_ = scope.outer;
  result.fresh_ = scope.outer == nullptr ? std::make_shared<std::set<std::string>>() : scope.outer->fresh_;
  result.names_.resize(graph.num_values());
  result.aliases_.resize(graph.num_values());
  result.reserved_ = std::move(scope.reserved);
  HALFTONE_RETURN_IF_ERROR(Assignment(graph, result).Run(scope.fixed));
  return result;
}

// Whether no further value may have this name.
bool ValueNames::IsTaken(const std::string& name) const {
  if (reserved_.contains(name) || fresh_->contains(name)) return true;
  for (const ValueNames* names = this; names != nullptr; names = names->outer_) {
    if (names->given_.contains(name)) return true;
  }
  return false;
}

std::string ValueNames::Fresh(std::string_view base) {
  std::string name(base);
  int& next = next_[name];  // remembered: many values are called after their op
  while (IsTaken(name)) name = Concat(base, "_", ++next);
  fresh_->insert(name);
  return name;
}

}  // namespace halftone::onnx_format
