// SPDX-License-Identifier: Apache-2.0
#include "passes/core/equivalence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "passes/core/bind_inputs.h"

namespace halftone {
namespace {

constexpr float kLowPrecision = 0.05f;  // a few roundings to bf16 with cancellation

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
    const DataType type = graph.type(graph.output(id));
    if (!IsFloatingPoint(type) && !IsInteger(type) && type != DataType::kBool) {
      return absl::UnimplementedError(Concat("input '", graph.Label(id), "' is of type ", DataTypeName(type)));
    }
  }
  return absl::OkStatus();
}

bool HasReducedPrecision(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    if (graph.node(id).attributes.has("math_mode")) return true;
    for (const ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      if (graph.type(output) == DataType::kBFloat16 || graph.type(output) == DataType::kFloat16) return true;
    }
  }
  return false;
}

bool Quantizes(const Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.op(id) == OpKind::kQuantizeLinear; });
}

// REQUIRES: the inputs of both graphs have known shapes
absl::StatusOr<std::string> CompareBound(const Graph& before, const Graph& after, uint64_t seed, float tolerance) {
  const std::vector<Tensor> inputs = reference::RandomInputs(before, seed);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> expected, reference::EvaluateGraph(before, inputs));
  absl::StatusOr<std::vector<Tensor>> actual = reference::EvaluateGraph(after, inputs);
  if (!actual.ok()) return Concat("the graph can no longer be run: ", actual.status().message());
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

std::string Numbers(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += Concat(text.empty() ? "" : ", ", shape.ToString());
  return text;
}

}  // namespace

absl::StatusOr<std::string> CompareOutputs(const Graph& before, const Graph& after, uint64_t seed, float tolerance) {
  HALFTONE_RETURN_IF_ERROR(CanRun(before));
  if (!HasFreeInputs(before)) return CompareBound(before, after, seed, tolerance);
  for (const int64_t batch : {1, 2}) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ChooseInputShapes(before, batch));
    HALFTONE_ASSIGN_OR_RETURN(const Graph bound, WithInputShapes(before, shapes));
    const absl::StatusOr<Graph> bound_after = WithInputShapes(after, shapes);
    if (!bound_after.ok()) {
      return Concat("inputs of ", Numbers(shapes), " no longer match: ", bound_after.status().message());
    }
    HALFTONE_ASSIGN_OR_RETURN(const std::string difference, CompareBound(bound, *bound_after, seed, tolerance));
    if (!difference.empty()) return Concat("with inputs of ", Numbers(shapes), ": ", difference);
  }
  return std::string();
}

float AllowedDifference(float declared, const Graph& before, const Graph& after) {
  if (declared == kBitExact) return 0;
  const bool low =
      HasReducedPrecision(before) || HasReducedPrecision(after) || (!Quantizes(before) && Quantizes(after));
  return low ? std::max(declared, kLowPrecision) : declared;
}

absl::Status CheckEquivalence(const Pass& pass, const Graph& before, const Graph& after, PassContext& context) {
  if (std::isinf(pass.tolerance())) return absl::OkStatus();  // the user asked for a pass that changes outputs
  const float allowed = AllowedDifference(pass.tolerance(), before, after);
  absl::StatusOr<std::string> difference = CompareOutputs(before, after, context.equivalence.seed, allowed);
  if (!difference.ok()) {
    const std::string note = Concat("outputs were not checked: ", difference.status().message());
    if (std::find(context.notes.begin(), context.notes.end(), note) == context.notes.end())
      context.notes.push_back(note);
    return absl::OkStatus();
  }
  if (difference->empty()) return absl::OkStatus();
  return absl::InternalError(Concat("changed an output beyond what it declares (",
                                    pass.tolerance() == kBitExact ? "bit-exact" : Concat(allowed, " of the largest"),
                                    "; seed ", context.equivalence.seed, "): ", *difference));
}

}  // namespace halftone
