// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/type_changes.h"

#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "passes/fusion/contraction.h"

namespace halftone {

TypeChanges::TypeChanges(GraphEditor& edit) : edit_(edit), g_(edit.graph()), nodes_(g_.nodes()) {
  for (int i = 0; i < g_.num_values(); ++i) before_.push_back(g_.type(ValueId{i}));
}

std::optional<DataType> TypeChanges::Before(ValueId value) const {
  if (!value.valid() || static_cast<size_t>(value.index) >= before_.size()) return std::nullopt;
  return before_[value.index];
}

absl::Status TypeChanges::FixReaders() {
  for (const NodeId id : nodes_) {
    for (size_t i = 0; i < g_.node(id).inputs.size(); ++i) {
      const int input = static_cast<int>(i);
      const std::optional<DataType> before = Before(g_.input(id, input));
      if (!before.has_value()) continue;
      const std::optional<DataType> wanted = Wanted(id, input, *before);
      if (!wanted.has_value()) continue;
      HALFTONE_RETURN_IF_ERROR(ReadAs(id, input, *wanted));
    }
  }
  return FixOutputs();
}

absl::Status TypeChanges::ReadAs(NodeId id, int i, DataType wanted) {
  const ValueId value = g_.input(id, i);
  if (g_.type(value) == wanted) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(const ValueId converted, Convert(value, wanted));
  // A subgraph reads by name: the name goes where the type is the old one.
  const Node& node = g_.node(id);
  const int capture = i - static_cast<int>(node.inputs.size() - node.captures.size());
  const bool captured = capture >= 0 && !node.captures[capture].empty();
  edit_.SetInput(id, i, converted);
  if (captured && renamed_.insert(value).second) MoveNames(value, converted);
  return absl::OkStatus();
}

// An output whose value has a different type now reads a conversion, which takes over the name.
absl::Status TypeChanges::FixOutputs() {
  std::vector<GraphOutput> outputs = g_.outputs();
  bool changed = false;
  for (GraphOutput& output : outputs) {
    const ValueId value = output.value;
    const std::optional<DataType> before = Before(value);
    if (!before.has_value() || g_.type(value) == *before) continue;
    HALFTONE_ASSIGN_OR_RETURN(output.value, Convert(value, *before));
    if (renamed_.insert(value).second) MoveNames(value, output.value);
    changed = true;
  }
  if (changed) edit_.SetGraphOutputs(std::move(outputs));
  return absl::OkStatus();
}

absl::StatusOr<ValueId> TypeChanges::Convert(ValueId value, DataType type) {
  const auto key = std::pair(value, type);
  if (const auto it = converted_.find(key); it != converted_.end()) return it->second;
  HALFTONE_ASSIGN_OR_RETURN(const ValueId result, MakeConverted(value, type));
  converted_.emplace(key, result);
  return result;
}

// `to` takes over the names by which callers know `from`; in a GraphDef these are names of nodes.
void TypeChanges::MoveNames(ValueId from, ValueId to) {
  const NodeId producer = g_.producer(from);
  const std::string node_name = g_.node(producer).name;
  if (!node_name.empty() && g_.node(producer).outputs.size() == 1) {
    edit_.SetName(producer, FreshName(g_, Concat(node_name, "/", DataTypeName(g_.type(from)))));
    edit_.SetName(g_.producer(to), node_name);
  }
  const std::string value_name = g_.value(from).name;
  if (value_name.empty()) return;
  edit_.SetValueName(from, "");
  edit_.SetValueName(to, value_name);
}

NodeId TypeChanges::AddCast(ValueId value, DataType type) {
  const NodeId from = g_.producer(value);
  const std::string& name = g_.value(value).name;
  Node cast;
  cast.op = OpKind::kCast;
  cast.name = FreshName(g_, Concat(name.empty() ? g_.Label(from) : name, "/", DataTypeName(type)));
  cast.inputs = {value};
  cast.device = g_.node(from).device;
  return edit_.AddNode(std::move(cast), {{type, g_.shape(value), ""}});
}

absl::StatusOr<ValueId> TypeChanges::CopyConstant(ValueId value, DataType type) {
  const NodeId old = g_.producer(value);
  absl::StatusOr<Tensor> tensor = g_.ConstantTensor(value)->ConvertTo(type);
  if (!tensor.ok()) return Annotate(tensor.status(), AbslView(Concat("constant '", g_.Label(old), "'")));
  const std::string name = g_.node(old).name, value_name = g_.value(value).name;
  const NodeId copy = edit_.Clone(old);
  const std::string fresh = name.empty() ? "" : FreshName(g_, Concat(name, "/", DataTypeName(type)));
  edit_.SetName(copy, fresh);
  edit_.SetAttribute(copy, "value", *std::move(tensor));
  edit_.SetType(g_.output(copy), type);
  if (!value_name.empty()) edit_.SetValueName(g_.output(copy), fresh.empty() ? FreshName(g_, value_name) : fresh);
  return g_.output(copy);
}

}  // namespace halftone
