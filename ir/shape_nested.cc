// SPDX-License-Identifier: Apache-2.0
// Types and shapes of what control flow makes: its nested graphs are inferred with the node's inputs.
//
// A graph that cannot be inferred is no error: exporters leave branches in their files that would only run for other
// shapes. Then what it makes is unknown, but for the types that it already has.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "ir/shape_nested_internal.h"
#include "ir/shape_rules_internal.h"

namespace halftone {
namespace {

constexpr int kMaxRounds = 8;  // until loop-carried shapes settle; beyond, nothing is known of them

// What a nested graph is given as one of its inputs.
struct Given {
  DataType type = DataType::kUnknown;
  Shape shape;
  const KnownTensor* known = nullptr;
};

// Symbols of the graph outside mean the same inside. Those that begin with '?' are numbered in each graph by itself, so
// that they are renamed inside; what a nested graph names itself means nothing outside.
class Symbols {
 public:
  Shape Inside(Shape shape) {
    for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (!dim.symbol.empty()) dim.symbol = Inside(dim.symbol);
    }
    return shape;
  }

  KnownTensor Inside(KnownTensor known) {
    for (KnownElement& element : known.elements) {
      if (element.symbol.starts_with('?')) element.symbol.clear();
      if (!element.symbol.empty()) element.symbol = Inside(element.symbol);
    }
    return known;
  }

  Shape Outside(Shape shape) const {
    for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (dim.symbol.empty()) continue;
      const auto it = outside_.find(dim.symbol);
      dim.symbol = it == outside_.end() ? "" : it->second;
    }
    return shape;
  }

 private:
  std::string Inside(const std::string& symbol) {
    std::string inside = symbol.find('?') == std::string::npos ? symbol : "^" + symbol;
    outside_[inside] = symbol;
    return inside;
  }

  std::map<std::string, std::string> outside_;
};

// What two shapes have in common: the value may have either.
Shape Either(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape();
  Shape result = a;
  for (int i = 0; i < result.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) result.mutable_dim(i) = Dim::Unknown();
  }
  return result;
}

// One node and its nested graphs.
class Inference {
 public:
  Inference(const Graph& graph, const Node& node, const NestedForm& form, ShapeValues& values, InferenceBudget& budget)
      : graph_(graph), node_(node), form_(form), values_(values), budget_(budget) {}

  absl::StatusOr<NestedInference> Run() {
    for (const ValueId output : node_.outputs) {
      result_.outputs.push_back({output.valid() ? graph_.type(output) : DataType::kUnknown, Shape(), ""});
    }
    if (node_.op == OpKind::kIf || node_.op == OpKind::kCall) {
      Branches();
    } else {
      HALFTONE_RETURN_IF_ERROR(Loop());
    }
    return std::move(result_);
  }

 private:
  void Branches();
  absl::Status Loop();
  absl::StatusOr<std::vector<Given>> Slices() const;
  absl::Status CollectScanned(const Graph& body);
  bool RunsAsOftenAsAllowed(const Graph& body) const;
  Dim Runs(const Graph& body) const;

  Given OfInput(int i) const {
    return {graph_.type(node_.inputs[i]), graph_.shape(node_.inputs[i]), values_.Find(node_.inputs[i])};
  }
  std::vector<Given> Captured() const {
    std::vector<Given> given;
    for (size_t i = node_.inputs.size() - form_.captured; i < node_.inputs.size(); ++i)
      given.push_back(OfInput(static_cast<int>(i)));
    return given;
  }

  std::optional<Graph> Infer(std::string_view name, const std::vector<Given>& given);
  // Types of outputs, as far as the nested graph knows them: also where it could not be inferred.
  void TakeTypes(const Graph& nested);
  void Keep(std::string_view name, Graph nested) { result_.graphs.emplace_back(name, std::move(nested)); }
  Shape OutputOf(const Graph& nested, int i) const { return symbols_.Outside(nested.shape(nested.outputs()[i].value)); }

  const Graph& graph_;
  const Node& node_;
  const NestedForm form_;
  ShapeValues& values_;
  InferenceBudget& budget_;
  Symbols symbols_;
  NestedInference result_;
};

// nullopt: its shapes contradict each other, or the budget is used up.
std::optional<Graph> Inference::Infer(std::string_view name, const std::vector<Given>& given) {
  Graph nested = *NestedGraph(node_, name);
  budget_.nested_nodes -= nested.num_nodes();
  if (budget_.nested_nodes < 0 || budget_.depth >= kMaxNestingDepth) return std::nullopt;
  GraphEditor edit(nested);
  // What was inferred for other inputs does not hold.
  for (const NodeId id : nested.nodes()) {
    const OpKind op = nested.op(id);
    if (op == OpKind::kConstant || IsInferredByNothing(op)) continue;
    for (const ValueId output : nested.node(id).outputs) {
      if (output.valid() && nested.shape(output) != Shape()) edit.SetShape(output, Shape());
    }
  }
  ShapeValues values(nested);
  for (size_t j = 0; j < given.size(); ++j) {
    const ValueId input = nested.output(nested.inputs()[j]);
    edit.SetShape(input, symbols_.Inside(given[j].shape));
    if (nested.type(input) == DataType::kUnknown) edit.SetType(input, given[j].type);
    if (given[j].known != nullptr) values.Set(input, symbols_.Inside(*given[j].known));
  }
  ++budget_.depth;
  const absl::Status status = InferGraph(edit, values, budget_);
  --budget_.depth;
  if (!status.ok()) return std::nullopt;
  result_.edits += edit.edits();
  return nested;
}

void Inference::TakeTypes(const Graph& nested) {
  for (size_t i = 0; i < result_.outputs.size(); ++i) {
    DataType& type = result_.outputs[i].type;
    if (type == DataType::kUnknown) type = nested.type(nested.outputs()[form_.own_outputs + i].value);
  }
}

void Inference::Branches() {
  std::vector<std::optional<Shape>> shapes(node_.outputs.size());
  for (const std::string_view name : NestedGraphNames(node_.op)) {
    std::optional<Graph> nested = Infer(name, Captured());
    TakeTypes(nested.has_value() ? *nested : *NestedGraph(node_, name));
    if (!nested.has_value()) continue;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Shape shape = OutputOf(*nested, static_cast<int>(i));
      shapes[i] = shapes[i].has_value() ? Either(*shapes[i], shape) : shape;
    }
    Keep(name, *std::move(nested));
  }
  for (size_t i = 0; i < shapes.size(); ++i) result_.outputs[i].shape = shapes[i].value_or(Shape());
}

// What a run of scan's body gets of the sequences.
absl::StatusOr<std::vector<Given>> Inference::Slices() const {
  const std::vector<int64_t> axes = node_.attributes.Ints("scan_input_axes", std::vector<int64_t>(form_.sequences, 0));
  std::vector<Given> slices;
  for (int s = 0; s < form_.sequences; ++s) {
    Given given = OfInput(form_.states + s);
    given.known = nullptr;
    if (given.shape.has_rank()) {
      if (given.shape.rank() == 0)
        return absl::InvalidArgumentError(Concat("input ", form_.states + s, " is a scalar"));
      HALFTONE_ASSIGN_OR_RETURN(const int axis, shape_rules::Axis(axes[s], given.shape.rank()));
      std::vector<Dim> dims = given.shape.dims();
      dims.erase(dims.begin() + axis);
      given.shape = Shape(std::move(dims));
    }
    slices.push_back(std::move(given));
  }
  return slices;
}

absl::Status Inference::Loop() {
  std::vector<Shape> states;
  for (int s = 0; s < form_.states; ++s) states.push_back(OfInput(form_.own_inputs + s).shape);
  std::vector<Given> slices;
  if (node_.op == OpKind::kScan) {
    HALFTONE_ASSIGN_OR_RETURN(slices, Slices());
  }
  const std::shared_ptr<const Graph> body = NestedGraph(node_, "body");
  const auto given = [&] {
    std::vector<Given> all;
    for (int j = 0; j < form_.own_inputs; ++j) {
      const Shape& shape = body->shape(body->output(body->inputs()[j]));
      all.push_back({j == 0 ? DataType::kInt64 : DataType::kBool, shape.has_rank() ? shape : Shape::Scalar(), nullptr});
    }
    for (int s = 0; s < form_.states; ++s)
      all.push_back({graph_.type(node_.inputs[form_.own_inputs + s]), states[s], nullptr});
    all.insert(all.end(), slices.begin(), slices.end());
    const std::vector<Given> captured = Captured();
    all.insert(all.end(), captured.begin(), captured.end());
    return all;
  };
  std::optional<Graph> inferred;
  for (int round = 0;; ++round) {
    inferred = Infer("body", given());
    if (!inferred.has_value()) break;
    bool settled = true;
    for (int s = 0; s < form_.states; ++s) {
      const Shape next = round < kMaxRounds ? Either(states[s], OutputOf(*inferred, form_.own_outputs + s)) : Shape();
      settled = settled && next == states[s];
      states[s] = next;
    }
    if (settled) break;
  }
  TakeTypes(inferred.has_value() ? *inferred : *body);
  if (!inferred.has_value()) return absl::OkStatus();
  for (int s = 0; s < form_.states; ++s) result_.outputs[s].shape = states[s];
  HALFTONE_RETURN_IF_ERROR(CollectScanned(*inferred));
  Keep("body", *std::move(inferred));
  if (node_.op != OpKind::kWhile) return absl::OkStatus();
  if (std::optional<Graph> condition = Infer("condition", given()); condition.has_value()) {
    Keep("condition", *std::move(condition));
  }
  return absl::OkStatus();
}

// Whether nothing but the trip count ends the loop: the condition was true and stays what it was.
bool Inference::RunsAsOftenAsAllowed(const Graph& body) const {
  const auto is_true = [](const Graph& graph, ValueId value) {
    const std::optional<double> constant = graph.ConstantScalar(value);
    return constant.has_value() && *constant != 0;
  };
  const ValueId first = node_.inputs.size() > 1 ? node_.inputs[1] : kNoValue;
  if (first.valid() && !is_true(graph_, first)) return false;
  ValueId next = body.outputs()[0].value;
  for (int i = 0; i < 8 && body.op(next) == OpKind::kIdentity; ++i) next = body.input(body.producer(next), 0);
  return next == body.output(body.inputs()[1]) || is_true(body, next);
}

Dim Inference::Runs(const Graph& body) const {
  if (node_.op == OpKind::kLoop) {
    if (node_.inputs.empty() || !node_.inputs[0].valid() || !RunsAsOftenAsAllowed(body)) return Dim::Unknown();
    const KnownTensor* count = values_.Find(node_.inputs[0]);
    if (count == nullptr || count->floating || count->elements.size() != 1) return Dim::Unknown();
    const KnownElement& element = count->elements[0];
    if (element.known) return Dim::Of(std::max<int64_t>(element.integer, 0));
    return element.symbol.starts_with('?') ? Dim::Unknown() : Dim::Symbol(element.symbol);
  }
  const std::vector<int64_t> axes = node_.attributes.Ints("scan_input_axes", std::vector<int64_t>(form_.sequences, 0));
  Dim runs;
  for (int s = 0; s < form_.sequences; ++s) {
    const Shape& shape = graph_.shape(node_.inputs[form_.states + s]);
    if (!shape.has_rank()) continue;
    const Dim& dim = shape.dim(static_cast<int>(axes[s]));  // Slices has checked the axis
    if (dim.known() || (!runs.known() && runs.symbol.empty())) runs = dim;
  }
  return runs;
}

absl::Status Inference::CollectScanned(const Graph& body) {
  if (form_.scanned == 0) return absl::OkStatus();
  const Dim runs = Runs(body);
  const std::vector<int64_t> axes = node_.attributes.Ints("scan_output_axes", std::vector<int64_t>(form_.scanned, 0));
  for (int k = 0; k < form_.scanned; ++k) {
    const Shape one = OutputOf(body, form_.own_outputs + form_.states + k);
    if (!one.has_rank()) continue;
    HALFTONE_ASSIGN_OR_RETURN(const int axis, shape_rules::Axis(axes[k], one.rank() + 1));
    std::vector<Dim> dims = one.dims();
    dims.insert(dims.begin() + axis, runs);
    result_.outputs[form_.states + k].shape = Shape(std::move(dims));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NestedInference> InferNested(const Graph& graph, NodeId id, ShapeValues& values,
                                            InferenceBudget& budget) {
  const Node& node = graph.node(id);
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  return Inference(graph, node, form, values, budget).Run();
}

}  // namespace halftone
