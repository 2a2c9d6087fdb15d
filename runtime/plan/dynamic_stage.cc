// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/dynamic_stage.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "runtime/plan/control.h"
#include "runtime/plan/runnable.h"

namespace halftone {
namespace {

constexpr int64_t kMostBoundElements = 1024;

// What of a graph can be done with what is there.
class Survey final {
 public:
  Survey(const Graph& graph, const KnownDims& dims) : graph_(graph), dims_(dims), ready_(graph.num_values(), false) {
    FindNeeded();
    for (const NodeId node : needed_) Look(node);
  }

  bool IsDone() const { return needed_.empty(); }
  const std::vector<NodeId>& computable() const { return computable_; }
  const std::vector<NodeId>& blocked() const { return blocked_; }

  // There already: computed before, or a constant.
  bool IsThere(ValueId value) const { return dims_.contains(value) || graph_.IsConstant(value); }

  // Blocked nodes with all their inputs there.
  std::vector<NodeId> Startable() const {
    std::vector<NodeId> result;
    for (const NodeId node : blocked_) {
      const std::vector<ValueId>& inputs = graph_.node(node).inputs;
      if (std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return !v.valid() || IsThere(v); }))
        result.push_back(node);
    }
    return result;
  }

  // Small values that are there and keep a blocked node from having a shape.
  std::vector<ValueId> Bindable() const {
    std::set<ValueId> result;
    for (const NodeId id : blocked_) {
      const Node& node = graph_.node(id);
      const int count = static_cast<int>(node.inputs.size());
      for (int i = 0; i < count; ++i) {
        const ValueId value = node.inputs[i];
        const Port* port = InputPort(node.op, i, count);
        if (!value.valid() || port == nullptr || !port->decides_shape || ElementSize(graph_.type(value)) == 0) continue;
        const auto it = dims_.find(value);
        if (it != dims_.end() && CheckedProduct(it->second).value_or(kMostBoundElements + 1) <= kMostBoundElements)
          result.insert(value);
      }
    }
    return {result.begin(), result.end()};
  }

  // Values of computable nodes that a blocked node or the caller wants.
  std::vector<ValueId> WantedOfComputable() const {
    std::set<ValueId> made, result;
    for (const NodeId node : computable_) {
      for (const ValueId output : graph_.node(node).outputs) {
        if (output.valid()) made.insert(output);
      }
    }
    for (const NodeId node : blocked_) {
      for (const ValueId input : graph_.node(node).inputs) {
        if (made.contains(input)) result.insert(input);
      }
    }
    for (const GraphOutput& output : graph_.outputs()) {
      if (made.contains(output.value)) result.insert(output.value);
    }
    return {result.begin(), result.end()};
  }

 private:
  // Nodes that are still to be computed, in order.
  void FindNeeded() {
    std::set<NodeId> needed;
    std::vector<NodeId> work;
    const auto visit = [&](ValueId value) {
      if (value.valid() && !IsThere(value) && needed.insert(graph_.producer(value)).second)
        work.push_back(graph_.producer(value));
    };
    for (const GraphOutput& output : graph_.outputs()) visit(output.value);
    while (!work.empty()) {
      const NodeId node = work.back();
      work.pop_back();
      for (const ValueId input : graph_.node(node).inputs) visit(input);
    }
    if (needed.empty()) return;
    for (const NodeId node : graph_.TopologicalOrder()) {
      if (needed.contains(node)) needed_.push_back(node);
    }
  }

  void Look(NodeId id) {
    const Node& node = graph_.node(id);
    const bool has_inputs = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return !input.valid() || IsThere(input) || ready_[input.index];
    });
    const bool has_shapes = std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
      if (!output.valid() || (graph_.uses(output).empty() && !graph_.IsOutput(output))) return true;
      return graph_.shape(output).fully_known();
    });
    if (!has_inputs || !has_shapes) {
      blocked_.push_back(id);
      return;
    }
    computable_.push_back(id);
    for (const ValueId output : node.outputs) {
      if (output.valid()) ready_[output.index] = true;
    }
  }

  const Graph& graph_;
  const KnownDims& dims_;
  std::vector<bool> ready_;  // by value: a computable node makes it
  std::vector<NodeId> needed_, computable_, blocked_;
};

// The graph of the computable nodes alone: what was computed before is an input of it, ids stay.
absl::Status PlanComputable(const Survey& survey, const PlanRequest& request, Stage& stage) {
  Graph part = stage.graph;
  GraphEditor edit(part);
  stage.plan_outputs = survey.WantedOfComputable();
  std::vector<GraphOutput> outputs;
  std::set<ValueId> read;
  for (const ValueId value : stage.plan_outputs) outputs.push_back({ValueLabel(part, value), value});
  for (const NodeId node : survey.computable()) {
    for (const ValueId input : part.node(node).inputs) {
      if (input.valid() && stage.dims.contains(input)) read.insert(input);
    }
  }
  edit.SetGraphOutputs(std::move(outputs));
  for (const NodeId input : part.inputs()) stage.plan_inputs.push_back(part.output(input));
  for (const ValueId value : read) {
    if (part.op(value) == OpKind::kInput) continue;
    edit.ReplaceUses(value, edit.AddInput("", part.type(value), part.shape(value)));
    stage.plan_inputs.push_back(value);
  }
  edit.RemoveDeadNodes();
  HALFTONE_ASSIGN_OR_RETURN(stage.plan, StaticPlan::Make(std::move(part), request));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Stage>> MakeStage(Graph graph, KnownDims dims, bool may_bind,
                                                 const PlanRequest& request) {
  auto stage = std::make_unique<Stage>();
  stage->graph = std::move(graph);
  stage->dims = std::move(dims);
  const Survey survey(stage->graph, stage->dims);
  if (survey.IsDone()) {
    stage->kind = Stage::Kind::kDone;
    return stage;
  }
  if (may_bind) stage->bound = survey.Bindable();
  if (!stage->bound.empty()) {
    stage->kind = Stage::Kind::kBind;
    return stage;
  }
  stage->nodes = survey.Startable();
  if (!stage->nodes.empty()) {
    stage->kind = Stage::Kind::kHost;
    stage->spent_us.assign(stage->nodes.size(), 0);
    return stage;
  }
  if (survey.computable().empty()) {
    std::vector<std::string> refusals;
    for (const NodeId node : survey.blocked())
      refusals.push_back(Concat("'", stage->graph.Label(node), "' (the shape of its output cannot be known)"));
    return CannotRun(refusals);
  }
  stage->kind = Stage::Kind::kPlan;
  HALFTONE_RETURN_IF_ERROR(PlanComputable(survey, request, *stage));
  return stage;
}

}  // namespace halftone
