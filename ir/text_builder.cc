// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/text_statements_internal.h"
#include "ir/verifier.h"

namespace halftone::text_internal {
namespace {

class Builder {
 public:
  explicit Builder(ParsedGraph parsed) : parsed_(std::move(parsed)) {}
  absl::StatusOr<Graph> Build();

 private:
  absl::StatusOr<ValueId> Resolve(const Operand& operand) const;
  absl::Status InferMissing(GraphEditor& edit);

  ParsedGraph parsed_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::vector<NodeId> built_;  // by statement
};

absl::StatusOr<ValueId> Builder::Resolve(const Operand& operand) const {
  if (const ByName* name = std::get_if<ByName>(&operand)) {
    const auto it = values_.find(name->key);
    if (it == values_.end()) {
      return absl::InvalidArgumentError(
          Concat(name->line, ":", name->column, ": no value is called '", name->key, "'"));
    }
    return it->second;
  }
  if (const NestedCall* call = std::get_if<NestedCall>(&operand)) return graph_.output(built_[call->statement]);
  return kNoValue;
}

absl::StatusOr<Graph> Builder::Build() {
  GraphEditor edit(graph_);
  edit.SetGraphName(parsed_.name);
  edit.SetLayout(parsed_.layout);
  for (const auto& [name, value] : parsed_.header) edit.SetHeader(name, value);

  const auto make = [&](Statement& statement) -> absl::StatusOr<NodeId> {
    std::vector<ValueSpec> specs;
    for (const Declared& declared : statement.outputs)
      specs.push_back({declared.type, declared.shape, NameOf(declared.key), declared.quantization});
    if (!statement.has_name && !specs.empty() && statement.outputs[0].key != "_") statement.node.name = specs[0].name;
    const NodeId id = edit.AddNode(statement.node, std::move(specs));
    for (size_t i = 0; i < statement.outputs.size(); ++i) {
      const std::string& key = statement.outputs[i].key;
      if (key.empty() || key == "_") continue;
      if (!values_.emplace(key, graph_.output(id, static_cast<int>(i))).second) {
        return absl::InvalidArgumentError(
            Concat(statement.line, ":", statement.column, ": the value '", key, "' is made twice"));
      }
    }
    return id;
  };
  std::vector<NodeId> input_nodes;
  for (Statement& input : parsed_.inputs) {
    HALFTONE_ASSIGN_OR_RETURN(const NodeId id, make(input));
    input_nodes.push_back(id);
  }
  std::vector<std::vector<ValueId>> literals(parsed_.statements.size());
  for (size_t i = 0; i < parsed_.statements.size(); ++i) {
    for (const Operand& operand : parsed_.statements[i].operands) {
      const Tensor* literal = std::get_if<Tensor>(&operand);
      literals[i].push_back(literal == nullptr ? kNoValue : edit.AddConstant("", *literal));
    }
    HALFTONE_ASSIGN_OR_RETURN(const NodeId id, make(parsed_.statements[i]));
    built_.push_back(id);
  }
  for (size_t i = 0; i < parsed_.statements.size(); ++i) {
    std::vector<ValueId> operands;
    for (size_t j = 0; j < parsed_.statements[i].operands.size(); ++j) {
      HALFTONE_ASSIGN_OR_RETURN(const ValueId value, Resolve(parsed_.statements[i].operands[j]));
      operands.push_back(value.valid() ? value : literals[i][j]);
    }
    edit.SetInputs(built_[i], std::move(operands));
    edit.DropAbsentOutputs(built_[i], [&] {
      std::vector<bool> absent;
      for (const Declared& declared : parsed_.statements[i].outputs) absent.push_back(declared.key == "_");
      return absent;
    }());
  }
  std::unordered_map<std::string, NodeId> labels;
  for (const NodeId id : graph_.nodes()) labels.emplace(graph_.Label(id), id);
  const auto set_control = [&](const Statement& statement, NodeId id) -> absl::Status {
    std::vector<NodeId> control;
    for (const std::string& name : statement.after) {
      const auto it = labels.find(name);
      if (it == labels.end()) {
        return absl::InvalidArgumentError(
            Concat(statement.line, ":", statement.column, ": after an unknown node '", name, "'"));
      }
      control.push_back(it->second);
    }
    edit.SetControlInputs(id, std::move(control));
    return absl::OkStatus();
  };
  for (size_t i = 0; i < parsed_.inputs.size(); ++i)
    HALFTONE_RETURN_IF_ERROR(set_control(parsed_.inputs[i], input_nodes[i]));
  for (size_t i = 0; i < parsed_.statements.size(); ++i)
    HALFTONE_RETURN_IF_ERROR(set_control(parsed_.statements[i], built_[i]));

  for (size_t i = 0; i < parsed_.returns.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(ValueId value, Resolve(parsed_.returns[i].operand));
    if (const Tensor* literal = std::get_if<Tensor>(&parsed_.returns[i].operand))
      value = edit.AddConstant("", *literal);
    if (!value.valid()) return absl::InvalidArgumentError("an output of the graph is absent ('_')");
    const std::string& own = graph_.value(value).name;
    const std::string name = !parsed_.returns[i].name.empty() ? parsed_.returns[i].name
                             : !own.empty()                   ? own
                                                              : Concat("out", i);
    edit.AddGraphOutput(name, value);
  }
  HALFTONE_RETURN_IF_ERROR(InferMissing(edit));
  HALFTONE_RETURN_IF_ERROR(VerifyGraph(graph_));
  return std::move(graph_);
}

// Types and shapes of the values that the text gave none.
absl::Status Builder::InferMissing(GraphEditor& edit) {
  std::vector<bool> missing(graph_.num_values(), false);
  bool any = false;
  for (size_t i = 0; i < parsed_.statements.size(); ++i) {
    for (size_t j = 0; j < parsed_.statements[i].outputs.size(); ++j) {
      const ValueId value = graph_.output(built_[i], static_cast<int>(j));
      if (parsed_.statements[i].outputs[j].annotated || !value.valid()) continue;
      missing[value.index] = true;
      any = true;
    }
  }
  if (!any) return absl::OkStatus();
  for (const NodeId id : graph_.TopologicalOrder()) {
    const Node& node = graph_.node(id);
    bool wanted = false;
    for (const ValueId output : node.outputs) wanted = wanted || (output.valid() && missing[output.index]);
    if (!wanted) continue;
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferNode(graph_, id));
    for (size_t i = 0; i < specs.size() && i < node.outputs.size(); ++i) {
      const ValueId output = graph_.output(id, static_cast<int>(i));
      if (!output.valid() || !missing[output.index]) continue;
      edit.SetType(output, specs[i].type);
      edit.SetShape(output, specs[i].shape);
    }
  }
  return absl::OkStatus();
}
}  // namespace

absl::StatusOr<Graph> BuildGraph(ParsedGraph parsed) { return Builder(std::move(parsed)).Build(); }

}  // namespace halftone::text_internal
