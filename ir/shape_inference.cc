// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_inference.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "ir/shape_nested_internal.h"
#include "ir/shape_rules_internal.h"
#include "ir/shape_values.h"

namespace halftone {
namespace {

constexpr int64_t kNodesInsideOne = 200'000;  // that are inferred for one node of control flow by itself
constexpr int kMaxRank = 255;                 // a few hostile nodes could double the rank again and again

using enum OpKind;

// The type of output `index`: what the value says, else that of an input tied to it by a type variable, else the op's
// usual.
DataType OutputType(const Graph& graph, const Node& node, int index) {
  const ValueId output = node.outputs[index];
  if (output.valid() && graph.type(output) != DataType::kUnknown) return graph.type(output);
  if (node.op == kConstant) {
    const AttributeValue* value = node.attributes.find("value");
    const Tensor* tensor = value == nullptr ? nullptr : std::get_if<Tensor>(value);
    return tensor == nullptr ? DataType::kUnknown : tensor->type();
  }
  if (node.op == kEyeLike && !node.inputs.empty()) return graph.type(node.inputs[0]);  // unless the format says another
  const Port* port = OutputPort(node.op, index);
  if (port == nullptr || port->type_variable == '*') return port == nullptr ? DataType::kUnknown : port->type;
  const int count = static_cast<int>(node.inputs.size());
  bool reads_integers = false;  // which stand for numbers in f32
  for (int i = 0; i < count; ++i) {
    const Port* tied = InputPort(node.op, i, count);
    if (tied == nullptr || tied->type_variable != port->type_variable || !node.inputs[i].valid()) continue;
    if (graph.quantization(node.inputs[i]) != nullptr && !PassesIntegers(node.op)) {
      reads_integers = true;
    } else if (graph.type(node.inputs[i]) != DataType::kUnknown) {
      return graph.type(node.inputs[i]);
    }
  }
  return reads_integers ? DataType::kFloat32 : port->type;
}

// A node whose required inputs are not there has no shapes to talk about: rules may rely on them.
absl::Status CheckInputs(const Node& node) {
  const int count = static_cast<int>(node.inputs.size());
  int required = 0;
  for (const Port& port : Info(node.op).inputs) required += port.optional ? 0 : 1;
  if (count < required) return absl::InvalidArgumentError(Concat(count, " inputs, need at least ", required));
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    if (port != nullptr && !port->optional && !node.inputs[i].valid()) {
      return absl::InvalidArgumentError(Concat("input '", port->name, "' is absent"));
    }
  }
  return absl::OkStatus();
}

absl::Status WithNode(const absl::Status& status, const Graph& graph, NodeId id) {
  return Annotate(status, Concat("node '", graph.Label(id), "' (", OpName(graph.op(id)), ")"));
}

absl::StatusOr<std::vector<ValueSpec>> InferWith(const Graph& graph, NodeId id, ShapeValues& values) {
  const Node& node = graph.node(id);
  absl::Status inputs = CheckInputs(node);
  const shape_rules::Rule rule = Info(node.op).shape_rule;
  shape_rules::Shapes shapes =
      inputs.ok() ? rule(shape_rules::Context(graph, id, values)) : shape_rules::Shapes(inputs);
  if (!shapes.ok()) return WithNode(shapes.status(), graph, id);
  shapes->resize(node.outputs.size());
  for (const Shape& shape : *shapes) {
    if (shape.has_rank() && shape.rank() > kMaxRank) {
      return absl::InvalidArgumentError(Concat("node '", graph.Label(id), "' (", OpName(node.op), ") makes rank ",
                                               shape.rank(), ", need at most ", kMaxRank));
    }
  }
  std::vector<ValueSpec> result;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    result.push_back({OutputType(graph, node, static_cast<int>(i)), std::move((*shapes)[i]), ""});
  }
  return result;
}

std::string Label(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.name.empty()) return Concat("value '", v.name, "'");
  return Concat("output ", v.port, " of node '", graph.Label(v.producer), "'");
}

absl::Status WriteOutputs(GraphEditor& edit, NodeId id, const std::vector<ValueSpec>& specs) {
  const std::vector<ValueId> outputs = edit.graph().node(id).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId output = outputs[i];
    if (!output.valid()) continue;
    const Shape& declared = edit.graph().shape(output);
    const absl::StatusOr<Shape> merged = shape_rules::Merge(specs[i].shape, declared);
    if (!merged.ok()) {
      return absl::InvalidArgumentError(Concat(Label(edit.graph(), output), " is declared ", declared.ToString(),
                                               ", but ", OpName(edit.graph().op(id)), " makes ",
                                               specs[i].shape.ToString()));
    }
    if (*merged != declared) edit.SetShape(output, *merged);
    edit.SetType(output, specs[i].type);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ValueSpec>> InferNode(const Graph& graph, NodeId node) {
  ShapeValues values(graph);
  if (!HasNestedGraphs(graph.op(node))) return InferWith(graph, node, values);
  InferenceBudget budget{.nested_nodes = kNodesInsideOne};
  absl::StatusOr<NestedInference> nested = InferNested(graph, node, values, budget);
  if (!nested.ok()) return WithNode(nested.status(), graph, node);
  return std::move(nested->outputs);
}

namespace {

bool HasShapesOf(const Graph& a, const Graph& b) {
  for (int v = 0; v < a.num_values(); ++v) {
    if (a.shape({v}) != b.shape({v})) return false;
  }
  return true;
}

// A node of control flow; its nested graphs are put back as they were inferred.
absl::Status InferControlFlow(GraphEditor& edit, NodeId id, ShapeValues& values, InferenceBudget& budget) {
  absl::StatusOr<NestedInference> nested = InferNested(edit.graph(), id, values, budget);
  if (!nested.ok()) return WithNode(nested.status(), edit.graph(), id);
  HALFTONE_RETURN_IF_ERROR(WriteOutputs(edit, id, nested->outputs));
  for (auto& [name, graph] : nested->graphs) {
    const bool same = nested->edits == 0 && HasShapesOf(graph, *NestedGraph(edit.graph().node(id), name));
    if (!same) edit.SetNestedGraph(id, name, std::move(graph), std::exchange(nested->edits, 0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferGraph(GraphEditor& edit, ShapeValues& values, InferenceBudget& budget) {
  for (const NodeId id : edit.graph().TopologicalOrder()) {
    if (HasNestedGraphs(edit.graph().op(id))) {
      HALFTONE_RETURN_IF_ERROR(InferControlFlow(edit, id, values, budget));
      continue;
    }
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferWith(edit.graph(), id, values));
    HALFTONE_RETURN_IF_ERROR(WriteOutputs(edit, id, specs));
  }
  return absl::OkStatus();
}

absl::Status InferShapes(GraphEditor& edit) {
  ShapeValues values(edit.graph());
  InferenceBudget budget;
  return InferGraph(edit, values, budget);
}

bool IsInferredByNothing(OpKind op) {
  const OpGroup group = Info(op).group;
  return group == OpGroup::kOpaque || (group == OpGroup::kStructural && !HasNestedGraphs(op));
}

namespace {

Shape Bind(Shape shape, const std::map<std::string, int64_t>& symbols) {
  if (!shape.has_rank()) return shape;
  for (int i = 0; i < shape.rank(); ++i) {
    Dim& dim = shape.mutable_dim(i);
    if (dim.known()) continue;
    const auto it = symbols.find(dim.symbol);
    if (it != symbols.end()) dim = Dim::Of(it->second);
  }
  return shape;
}

// Binds the inputs; the symbols of first dimensions that `symbols` does not have are added to it.
absl::Status BindInputs(GraphEditor& edit, std::map<std::string, int64_t>& symbols, int64_t batch) {
  const Graph& graph = edit.graph();
  for (const NodeId input : graph.inputs()) {
    const Shape& shape = graph.shape(graph.output(input));
    if (batch < 0 || !shape.has_rank() || shape.rank() == 0 || shape.dim(0).known() || shape.dim(0).symbol.empty())
      continue;
    symbols.emplace(shape.dim(0).symbol, batch);
  }
  std::vector<std::string> free;
  for (const NodeId input : graph.inputs()) {
    const ValueId value = graph.output(input);
    Shape shape = Bind(graph.shape(value), symbols);
    if (!shape.has_rank()) {
      free.push_back(Concat("'", graph.Label(input), "' (unknown rank)"));
      continue;
    }
    for (int i = 0; i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (!dim.known() && i == 0 && batch >= 0) dim = Dim::Of(batch);
      if (dim.known()) continue;
      free.push_back(
          Concat("'", graph.Label(input), "' dimension ", i, dim.symbol.empty() ? "" : Concat(" (", dim.symbol, ")")));
    }
    edit.SetShape(value, std::move(shape));
  }
  if (free.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Concat("give a number for each of these: input ", absl::StrJoin(free, ", input ")));
}

}  // namespace

absl::Status Specialize(GraphEditor& edit, const std::map<std::string, int64_t>& symbols, int64_t batch) {
  for (const auto& [symbol, number] : symbols) {
    if (number < 0) return absl::InvalidArgumentError(Concat("dimension ", symbol, " cannot be ", number));
  }
  std::map<std::string, int64_t> bound = symbols;
  HALFTONE_RETURN_IF_ERROR(BindInputs(edit, bound, batch));
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op == kInput) continue;
    const bool keep = IsInferredByNothing(node.op);
    for (const ValueId output : node.outputs) {
      if (!output.valid() || graph.shape(output).fully_known()) continue;
      edit.SetShape(output, keep ? Bind(graph.shape(output), bound) : Shape());
    }
  }
  return InferShapes(edit);
}

}  // namespace halftone
