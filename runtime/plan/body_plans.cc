// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/body_plans.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "runtime/plan/bound_shapes.h"
#include "runtime/plan/dynamic_plan.h"
#include "runtime/plan/static_plan.h"

namespace halftone {
namespace {

constexpr size_t kMostPlans = 128;

bool SameDims(const BodyPlan& plan, std::span<const Tensor> inputs) {
  return std::equal(plan.dims.begin(), plan.dims.end(), inputs.begin(), inputs.end(),
                    [](const std::vector<int64_t>& dims, const Tensor& tensor) { return dims == tensor.dims(); });
}

}  // namespace

BodyPlans::BodyPlans(const Graph& graph, const PlanRequest& request, std::vector<bool> donated)
    : graph_(graph), request_(request) {
  request_.donated = std::move(donated);
  request_.most_value_bytes = std::min(request_.most_value_bytes, MemoryLimit() / 8);
}
BodyPlans::~BodyPlans() = default;

void BodyPlans::BindConstant(int input, const Tensor& tensor) {
  const ValueId value = graph_.output(graph_.inputs()[input]);
  if (tensor.type() != graph_.type(value)) return;
  GraphEditor edit(graph_);
  edit.ReplaceUses(value, edit.AddConstant("", tensor));
}

absl::StatusOr<BodyPlan*> BodyPlans::For(std::span<const Tensor> inputs) {
  for (const std::unique_ptr<BodyPlan>& plan : plans_) {
    if (!SameDims(*plan, inputs)) continue;
    plan->last_use = ++uses_;
    return plan.get();
  }
  if (inputs.size() != graph_.inputs().size()) {
    return absl::InvalidArgumentError(
        Concat("a nested graph has ", graph_.inputs().size(), " inputs and is given ", inputs.size()));
  }
  auto made = std::make_unique<BodyPlan>();
  Graph graph = graph_;
  KnownDims known;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId value = graph.output(graph.inputs()[i]);
    if (graph.type(value) == DataType::kUnknown) GraphEditor(graph).SetType(value, inputs[i].type());
    if (inputs[i].type() != graph.type(value)) {
      return absl::InvalidArgumentError(Concat("input '", graph.Label(graph.inputs()[i]), "' of a nested graph is ",
                                               DataTypeName(graph.type(value)), ", given is ",
                                               DataTypeName(inputs[i].type())));
    }
    known[value] = inputs[i].dims();
    made->dims.push_back(inputs[i].dims());
  }
  HALFTONE_RETURN_IF_ERROR(InferFrom(known, graph));
  for (const GraphOutput& output : graph.outputs()) made->outputs.push_back(graph.shape(output.value));
  if (NeedsDynamicPlan(graph)) {
    PlanRequest request = request_;
    request.donated.clear();
    HALFTONE_ASSIGN_OR_RETURN(made->dynamic, DynamicPlan::Make(graph, request));
    if (timing_) made->dynamic->SetTiming(true);
  } else {
    HALFTONE_ASSIGN_OR_RETURN(made->fixed, StaticPlan::Make(std::move(graph), request_));
    if (timing_) made->fixed->SetTiming(true);
  }
  while (plans_.size() >= kMostPlans || (!plans_.empty() && arena_bytes() > MemoryLimit() / 8)) {
    plans_.erase(std::min_element(plans_.begin(), plans_.end(),
                                  [](const auto& a, const auto& b) { return a->last_use < b->last_use; }));
  }
  made->last_use = ++uses_;
  plans_.push_back(std::move(made));
  return plans_.back().get();
}

absl::StatusOr<std::vector<Tensor>> BodyPlans::Run(std::span<const Tensor> inputs) {
  HALFTONE_ASSIGN_OR_RETURN(BodyPlan* const plan, For(inputs));
  if (plan->fixed == nullptr) return plan->dynamic->Run(inputs);
  std::vector<Tensor> own(inputs.begin(), inputs.end());
  for (size_t i = 0; i < own.size() && i < request_.donated.size(); ++i) {  // it may be written over: not the caller's
    if (!request_.donated[i] || own[i].byte_size() == 0) continue;
    Tensor copy(own[i].type(), own[i].dims());
    std::copy_n(own[i].raw(), own[i].byte_size(), copy.mutable_raw());
    own[i] = std::move(copy);
  }
  return plan->fixed->Run(own);
}

std::vector<StepInfo> BodyPlans::steps() const {
  std::vector<StepInfo> result;
  for (const std::unique_ptr<BodyPlan>& plan : plans_)
    MergeSteps(plan->fixed != nullptr ? plan->fixed->steps() : plan->dynamic->steps(), result);
  return result;
}

void BodyPlans::SetTiming(bool on) {
  timing_ = on;
  for (const std::unique_ptr<BodyPlan>& plan : plans_) {
    if (plan->fixed != nullptr) plan->fixed->SetTiming(on);
    if (plan->dynamic != nullptr) plan->dynamic->SetTiming(on);
  }
}

size_t BodyPlans::arena_bytes() const {
  size_t bytes = 0;
  for (const std::unique_ptr<BodyPlan>& plan : plans_)
    bytes += plan->fixed != nullptr ? plan->fixed->arena_bytes() : plan->dynamic->arena_bytes();
  return bytes;
}

void MergeSteps(const std::vector<StepInfo>& more, std::vector<StepInfo>& steps) {
  if (steps.empty()) {
    steps = more;
    return;
  }
  using Key = std::tuple<int32_t, std::string, std::string, std::string>;
  const auto key = [](const StepInfo& step) { return Key(step.node.index, step.label, step.op, step.kernel.name); };
  std::map<Key, std::vector<size_t>>
      there;  // a node may have several reorders: the first of one meets that of the other
  for (size_t i = steps.size(); i-- > 0;) there[key(steps[i])].push_back(i);
  for (const StepInfo& step : more) {
    std::vector<size_t>& same = there[key(step)];
    if (same.empty()) {
      steps.push_back(step);
      continue;
    }
    StepInfo& known = steps[same.back()];
    same.pop_back();
    if (step.median_us.has_value()) known.median_us = known.median_us.value_or(0) + *step.median_us;
  }
}

}  // namespace halftone
