// SPDX-License-Identifier: Apache-2.0
// What the verifier asks of nodes with nested graphs.

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "ir/verifier_internal.h"

namespace halftone::verifier {
namespace {

// A value and how to call it.
struct Typed {
  std::string name;
  DataType type;
};

absl::Status CheckSame(const Typed& a, const Typed& b) {
  if (a.type == b.type || a.type == DataType::kUnknown || b.type == DataType::kUnknown) return absl::OkStatus();
  return absl::InvalidArgumentError(Concat(a.name, " is ", DataTypeName(a.type), " but ", b.name, " is ",
                                           DataTypeName(b.type), ": they must have one type"));
}

Typed NodeInput(const Graph& graph, const Node& node, int i) {
  return {Concat("input ", i), graph.type(node.inputs[i])};
}

Typed NodeOutput(const Graph& graph, const Node& node, int i) {
  const ValueId value = node.outputs[i];
  return {Concat("output ", i), value.valid() ? graph.type(value) : DataType::kUnknown};
}

// The nested graph itself is verified later: it may hold anything by now.
DataType TypeIn(const Graph& nested, ValueId value) {
  return value.valid() && value.index < nested.num_values() ? nested.type(value) : DataType::kUnknown;
}

ValueId InputOf(const Graph& nested, int i) {
  const NodeId node = nested.inputs()[i];
  return nested.alive(node) ? nested.output(node) : kNoValue;
}

Typed NestedInput(std::string_view name, const Graph& nested, int i) {
  return {Concat("input ", i, " of '", name, "'"), TypeIn(nested, InputOf(nested, i))};
}

Typed NestedOutput(std::string_view name, const Graph& nested, int i) {
  return {Concat("output ", i, " of '", name, "'"), TypeIn(nested, nested.outputs()[i].value)};
}

// Inputs of the nested graph against those of the node.
absl::Status CheckInputs(const Graph& graph, const Node& node, const NestedForm& form, std::string_view name,
                         const Graph& nested) {
  const int count = static_cast<int>(nested.inputs().size());
  for (int j = form.own_inputs; j < count; ++j) {
    HALFTONE_RETURN_IF_ERROR(CheckSame(NodeInput(graph, node, j + form.offset), NestedInput(name, nested, j)));
  }
  return absl::OkStatus();
}

absl::Status CheckIterationAndCondition(const Graph& body) {
  for (int j = 0; j < 2; ++j) {
    const ValueId value = InputOf(body, j);
    const DataType type = TypeIn(body, value);
    const bool fits = type == DataType::kUnknown || (j == 0 ? IsInteger(type) : type == DataType::kBool);
    if (!fits) return absl::InvalidArgumentError(Concat("input ", j, " of 'body' is ", DataTypeName(type)));
    const Shape shape = value.valid() ? body.shape(value) : Shape();
    if (!shape.has_rank() || shape.rank() == 0 || (shape.rank() == 1 && shape.dim(0).value == 1)) continue;
    return absl::InvalidArgumentError(Concat("input ", j, " of 'body' is ", shape.ToString(), ", need [] or [1]"));
  }
  return absl::OkStatus();
}

// Each state enters the next run as the previous run returned it: types and shapes must agree.
absl::Status CheckStates(const Graph& graph, const Node& node, const NestedForm& form, const Graph& body) {
  for (int s = 0; s < form.states; ++s) {
    const int input = form.own_inputs + s, output = form.own_outputs + s;
    HALFTONE_RETURN_IF_ERROR(CheckSame(NestedInput("body", body, input), NestedOutput("body", body, output)));
    HALFTONE_RETURN_IF_ERROR(CheckSame(NodeInput(graph, node, input + form.offset), NodeOutput(graph, node, s)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckNestedGraphs(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  for (const std::string_view name : NestedGraphNames(node.op)) {
    const Graph& nested = *NestedGraph(node, name);
    if (nested.layout() != graph.layout()) {
      return absl::InvalidArgumentError(Concat("its graph '", name, "' has another layout than the graph around it"));
    }
    HALFTONE_RETURN_IF_ERROR(CheckInputs(graph, node, form, name, nested));
    if (name == "condition") continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int output = static_cast<int>(i);
      HALFTONE_RETURN_IF_ERROR(
          CheckSame(NodeOutput(graph, node, output), NestedOutput(name, nested, form.own_outputs + output)));
    }
    HALFTONE_RETURN_IF_ERROR(CheckStates(graph, node, form, nested));
  }
  return node.op == OpKind::kLoop ? CheckIterationAndCondition(*NestedGraph(node, "body")) : absl::OkStatus();
}

}  // namespace halftone::verifier
