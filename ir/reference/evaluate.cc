// SPDX-License-Identifier: Apache-2.0
// Evaluates one node by its function and a graph node by node. Types, shapes and quantizations are checked before and after.

#include <algorithm>
#include <utility>

#include "ir/nested.h"
#include "ir/reference/control_internal.h"
#include "ir/reference/function_table_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/reference.h"

namespace halftone::reference {
namespace {

using enum OpKind;
using enum Domain;

bool IsNumber(DataType type) { return IsFloatingPoint(type) || IsInteger(type) || type == DataType::kBool; }

// `type` is known.
absl::Status CheckInputType(Domain domain, const Port& port, int i, DataType type) {
  const bool moved = domain == kBytes && port.type_variable != 'I' && i == 0;
  const bool any_part = domain == kBytes && (moved || port.variadic || port.type_variable == 'T');
  if (any_part ? ElementSize(type) > 0 : IsNumber(type)) return absl::OkStatus();
  return absl::UnimplementedError(Concat("input '", port.name, "' is ", DataTypeName(type)));
}

absl::Status CheckOutputType(Domain domain, DataType type) {
  if (type == DataType::kUnknown || domain != kNumbers || IsNumber(type)) return absl::OkStatus();
  return absl::UnimplementedError(Concat("an output is ", DataTypeName(type)));
}

// Checks that required inputs are present and have types that the function supports.
absl::Status CheckInputs(const Node& node, Domain domain, const std::vector<Tensor>& inputs) {
  const int count = static_cast<int>(inputs.size());
  if (inputs.size() != node.inputs.size()) return Error(count, " tensors for ", node.inputs.size(), " inputs");
  int required = 0;
  for (const Port& port : Info(node.op).inputs) required += port.optional ? 0 : 1;
  if (count < required) return Error(count, " inputs, need at least ", required);
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    if (port == nullptr) return Error("input ", i, " is one too many");
    const DataType type = inputs[i].type();
    if (type == DataType::kUnknown) {
      if (!port->optional) return Error("input '", port->name, "' is absent");
      continue;
    }
    HALFTONE_RETURN_IF_ERROR(CheckInputType(domain, *port, i, type));
  }
  return absl::OkStatus();
}

// The type of each requested output.
absl::StatusOr<std::vector<DataType>> OutputTypes(const Graph& graph, const Node& node, Domain domain,
                                                  const std::vector<Tensor>& inputs) {
  std::vector<DataType> types;
  for (const ValueId output : node.outputs) {
    DataType type = output.valid() ? graph.type(output) : DataType::kUnknown;
    if (output.valid() && type == DataType::kUnknown && types.empty()) {  // not inferred: most ops keep the type of x
      if (node.op == kCast) return Error("the target type of the cast is unknown");
      const Port* port = OutputPort(node.op, 0);
      type = port != nullptr && port->type != DataType::kUnknown ? port->type
             : inputs.empty()                                    ? DataType::kInt64
                                                                 : inputs[0].type();
    }
    HALFTONE_RETURN_IF_ERROR(CheckOutputType(domain, type));
    types.push_back(type);
  }
  const bool none = std::all_of(types.begin(), types.end(), [](DataType type) { return type == DataType::kUnknown; });
  if (none) return Error("no output is wanted");
  return types;
}

// Replaces quantized integers by the real numbers (f32) that they represent.
absl::StatusOr<std::vector<Tensor>> RealInputs(const Graph& graph, const Node& node, std::vector<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size() && i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || inputs[i].type() == DataType::kUnknown) continue;
    const Quantization* quantization = graph.quantization(node.inputs[i]);
    if (quantization == nullptr) continue;
    const std::string wrong = WrongQuantization(*quantization, inputs[i].type(), inputs[i].shape());
    if (!wrong.empty()) return Error("quantization of input ", i, ": ", wrong);
    inputs[i] = Dequantized(inputs[i], *quantization);
  }
  return inputs;
}

// The types of the node's results before quantization: f32 for results that are written as integers.
std::vector<DataType> RealTypes(const Graph& graph, const Node& node, std::vector<DataType> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (node.outputs[i].valid() && graph.quantization(node.outputs[i]) != nullptr) types[i] = DataType::kFloat32;
  }
  return types;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node, const std::vector<Tensor>& given) {
  const FunctionRow& row = RowOf(node.op);
  if (row.function == nullptr) return absl::UnimplementedError("this op has no reference function");
  const bool real = !PassesIntegers(node.op);
  absl::StatusOr<std::vector<Tensor>> real_inputs = std::vector<Tensor>();
  if (real) real_inputs = RealInputs(graph, node, given);
  HALFTONE_RETURN_IF_ERROR(real_inputs.status());
  const std::vector<Tensor>& inputs = real ? *real_inputs : given;
  HALFTONE_RETURN_IF_ERROR(CheckInputs(node, row.domain, inputs));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<DataType> types, OutputTypes(graph, node, row.domain, inputs));
  if (real) types = RealTypes(graph, node, std::move(types));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, row.function(Call{graph, node, inputs, types}));
  outputs.resize(types.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (types[i] == DataType::kUnknown) outputs[i] = Tensor();
    if (outputs[i].type() == types[i] || outputs[i].type() == DataType::kUnknown) continue;
    HALFTONE_ASSIGN_OR_RETURN(outputs[i], outputs[i].ConvertTo(types[i]));  // moved elements with a different type
  }
  for (size_t i = 0; real && i < outputs.size(); ++i) {
    const Quantization* quantization = node.outputs[i].valid() ? graph.quantization(node.outputs[i]) : nullptr;
    if (quantization == nullptr || outputs[i].type() == DataType::kUnknown) continue;
    const DataType type = graph.type(node.outputs[i]);
    const std::string wrong = WrongQuantization(*quantization, type, outputs[i].shape());
    if (!wrong.empty()) return Error("quantization of its result: ", wrong);
    outputs[i] = Quantized(outputs[i], type, *quantization);
  }
  return outputs;
}

}  // namespace

bool HasReference(OpKind op) { return HasNestedGraphs(op) || RowOf(op).function != nullptr; }

absl::Status CheckTypes(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (HasNestedGraphs(node.op)) return absl::OkStatus();
  const Domain domain = RowOf(node.op).domain;
  const int count = static_cast<int>(node.inputs.size());
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    if (port == nullptr || !node.inputs[i].valid() || graph.type(node.inputs[i]) == DataType::kUnknown) continue;
    HALFTONE_RETURN_IF_ERROR(CheckInputType(domain, *port, i, graph.type(node.inputs[i])));
  }
  for (const ValueId output : node.outputs) {
    if (output.valid()) HALFTONE_RETURN_IF_ERROR(CheckOutputType(domain, graph.type(output)));
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<std::vector<Tensor>> EvaluateWithin(const Graph& graph, NodeId id, const std::vector<Tensor>& inputs,
                                                   Budget& budget) {
  const Node& node = graph.node(id);
  absl::StatusOr<std::vector<Tensor>> outputs =
      HasNestedGraphs(node.op) ? ControlFlow(node, inputs, budget) : Evaluate(graph, node, inputs);
  if (outputs.ok()) return outputs;
  const std::string_view name = node.op == OpKind::kOpaque ? std::string_view(node.spelling) : OpName(node.op);
  return Annotate(outputs.status(), Concat("node '", graph.Label(id), "' (", name, ")"));
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId id, const std::vector<Tensor>& inputs,
                                                 const RunLimits& limits) {
  Budget budget{limits};
  return EvaluateWithin(graph, id, inputs, budget);
}

absl::StatusOr<std::vector<Tensor>> EvaluateGraph(const Graph& graph, const std::vector<Tensor>& inputs,
                                                  const RunLimits& limits) {
  Budget budget{limits};
  return PreparedGraph(graph).Run(inputs, budget);
}

absl::StatusOr<std::vector<Tensor>> PreparedGraph::Run(const std::vector<Tensor>& inputs, Budget& budget) const {
  if (inputs.size() != graph_.inputs().size())
    return Error(inputs.size(), " tensors for ", graph_.inputs().size(), " graph inputs");
  std::vector<Tensor> values(graph_.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) values[graph_.output(graph_.inputs()[i]).index] = inputs[i];
  for (const NodeId id : order_) {
    const Node& node = graph_.node(id);
    if (node.op == OpKind::kInput || node.op == OpKind::kNoOp) continue;
    std::vector<Tensor> arguments;
    for (const ValueId input : node.inputs) arguments.push_back(input.valid() ? values[input.index] : Tensor());
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> results, EvaluateWithin(graph_, id, arguments, budget));
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i].valid()) values[node.outputs[i].index] = std::move(results[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const GraphOutput& output : graph_.outputs()) outputs.push_back(values[output.value.index]);
  return outputs;
}

}  // namespace halftone::reference
