// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/measure/statistics.h"
#include "runtime/plan/dynamic_plan.h"
#include "runtime/plan/nested_plans.h"
#include "runtime/plan/plan_request.h"
#include "runtime/plan/static_plan.h"

namespace halftone {

absl::StatusOr<std::unique_ptr<Plan>> Plan::Compile(const Graph& graph, const CompileOptions& options,
                                                    const Backend& backend) {
  if (options.threads < 1) return absl::InvalidArgumentError("a plan needs at least one thread");
  const PlanRequest request{options, backend, std::make_shared<RunClock>(options.loops.seconds)};
  if (NeedsDynamicPlan(graph)) return DynamicPlan::Make(graph, request);
  return StaticPlan::Make(graph, request);
}

absl::StatusOr<std::vector<StepInfo>> Plan::Profile(std::span<const Tensor> inputs, int repetitions, double seconds) {
  constexpr int kFewest = 3;
  using Clock = std::chrono::steady_clock;
  HALFTONE_RETURN_IF_ERROR(Run(inputs).status());  // warm
  const Clock::time_point start = Clock::now();
  std::vector<StepInfo> result;
  std::vector<std::vector<double>> times;
  for (int repetition = 0; repetition < std::max(repetitions, 1); ++repetition) {
    if (repetition >= kFewest && std::chrono::duration<double>(Clock::now() - start).count() > seconds) break;
    SetTiming(true);
    const absl::Status status = Run(inputs).status();
    const std::vector<StepInfo> timed = steps();
    SetTiming(false);
    HALFTONE_RETURN_IF_ERROR(status);
    if (result.size() != timed.size()) {  // the first; or a loop that took another way
      result = timed;
      times.assign(timed.size(), {});
    }
    for (size_t i = 0; i < timed.size(); ++i) {
      if (timed[i].median_us.has_value()) times[i].push_back(*timed[i].median_us);
    }
  }
  for (size_t i = 0; i < result.size(); ++i) {
    result[i].median_us =
        DoesWork(result[i].kind) && !times[i].empty() ? std::optional<double>(Median(times[i])) : std::nullopt;
  }
  return result;
}

void AppendNested(const std::vector<StepInfo>& nested, size_t outer, std::vector<StepInfo>& steps) {
  for (const StepInfo& step : nested) {
    if (step.median_us.has_value() && steps[outer].median_us.has_value())
      *steps[outer].median_us = std::max(0.0, *steps[outer].median_us - *step.median_us);
    steps.push_back(step);
    steps.back().node = steps[outer].node;
    steps.back().label = Concat(steps[outer].label, "/", step.label);
  }
}

int CountConversions(std::span<const StepInfo> steps) {
  return static_cast<int>(std::ranges::count_if(steps, [](const StepInfo& step) {
    const bool converts = step.kind == StepKind::kConversion || step.op == OpName(OpKind::kCast);
    return converts && DoesWork(step.kind) && step.src_type != step.dst_type;
  }));
}

std::string Plan::OpText(const Graph& graph, NodeId node) {
  std::string text(OpName(graph.op(node)));
  const OpKind op = graph.op(node);
  if (op == OpKind::kConv || op == OpKind::kMatMul) {
    if (graph.input(node, 2).valid()) text += "+bias";
  }
  const Attributes& attributes = graph.node(node).attributes;
  const std::string activation = attributes.String("activation", "");
  const bool residual = (op == OpKind::kConv || op == OpKind::kMatMul) && graph.input(node, 3).valid();
  const bool first = attributes.Bool("activation_first", false);
  if (residual && !first) text += "+residual";
  if (!activation.empty()) absl::StrAppend(&text, "+", activation);
  if (residual && first) text += "+residual";
  return text;
}

}  // namespace halftone
