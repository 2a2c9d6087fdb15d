#include "passes/core/equivalence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"

namespace halftone {
namespace {

float LargestMagnitude(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return 0;
  float largest = 0;
  for (const float x : tensor.ToFloats()) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

absl::Status CanRun(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const OpKind op = graph.op(id);
    if (op != OpKind::kInput && op != OpKind::kConstant && !reference::HasReference(op)) {
      return absl::UnimplementedError(Concat("node '", graph.Label(id), "' (", OpName(op), ") cannot be run"));
    }
  }
  for (const NodeId id : graph.inputs()) {
    if (!graph.shape(graph.output(id)).fully_known()) {
      return absl::InvalidArgumentError(Concat("input '", graph.Label(id), "' has free dimensions"));
    }
    const DataType type = graph.type(graph.output(id));
    if (!IsFloatingPoint(type) && !IsInteger(type) && type != DataType::kBool) {
      return absl::UnimplementedError(Concat("input '", graph.Label(id), "' is of type ", DataTypeName(type)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> CompareAnswers(const Graph& before, const Graph& after, uint64_t seed, float tolerance) {
  HALFTONE_RETURN_IF_ERROR(CanRun(before));
  const std::vector<Tensor> inputs = reference::RandomInputs(before, seed);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> expected, reference::EvaluateGraph(before, inputs));
  absl::StatusOr<std::vector<Tensor>> actual = reference::EvaluateGraph(after, inputs);
  if (!actual.ok()) return Concat("the graph cannot be run any more: ", actual.status().message());
  if (actual->size() != expected.size()) {
    return Concat("there are ", actual->size(), " outputs instead of ", expected.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string name = before.outputs()[i].name;
    if (after.outputs()[i].name != name) return Concat("output '", name, "' became '", after.outputs()[i].name, "'");
    if ((*actual)[i].type() != expected[i].type()) {
      return Concat("output '", name, "' became ", DataTypeName((*actual)[i].type()));
    }
    const float absolute = tolerance * std::max(LargestMagnitude(expected[i]), 1e-6f);
    const std::string difference = reference::Compare((*actual)[i], expected[i], /*relative=*/0, absolute);
    if (!difference.empty()) return Concat("output '", name, "': ", difference);
  }
  return std::string();
}

absl::Status CheckEquivalence(const Pass& pass, const Graph& before, const Graph& after, PassContext& context) {
  absl::StatusOr<std::string> difference = CompareAnswers(before, after, context.equivalence.seed, pass.tolerance());
  if (!difference.ok()) {
    const std::string note = Concat("answers were not checked: ", difference.status().message());
    if (std::find(context.notes.begin(), context.notes.end(), note) == context.notes.end())
      context.notes.push_back(note);
    return absl::OkStatus();
  }
  if (difference->empty()) return absl::OkStatus();
  return absl::InternalError(Concat("moved an answer (seed ", context.equivalence.seed, "): ", *difference));
}

}  // namespace halftone
