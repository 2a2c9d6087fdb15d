// SPDX-License-Identifier: Apache-2.0
// A nested graph and the plans that were made of it, one for each set of input shapes. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_BODY_PLANS_H_
#define HALFTONE_RUNTIME_PLAN_BODY_PLANS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/plan/nested_plans.h"
#include "runtime/plan/plan_request.h"

namespace halftone {

class DynamicPlan;
class StaticPlan;

// Exactly one of the two is there.
struct BodyPlan {
  std::vector<std::vector<int64_t>> dims;  // of the inputs
  std::vector<Shape> outputs;              // as far as they are known before it runs
  std::unique_ptr<StaticPlan> fixed;
  std::unique_ptr<DynamicPlan> dynamic;  // shapes depend on what is computed
  uint64_t last_use = 0;
};

class BodyPlans final : public NestedPlans {
 public:
  // `donated`: see PlanRequest.
  BodyPlans(const Graph& graph, const PlanRequest& request, std::vector<bool> donated);
  ~BodyPlans() override;

  // Before the first plan: the input is this tensor in every run, whatever is given.
  void BindConstant(int input, const Tensor& tensor);

  const Graph& graph() const { return graph_; }
  // Errors: INVALID_ARGUMENT names the input whose type is wrong, or the node whose inputs do not fit.
  absl::StatusOr<BodyPlan*> For(std::span<const Tensor> inputs);
  // Through whichever plan it is.
  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs);

  std::vector<StepInfo> steps() const override;
  void SetTiming(bool on) override;
  size_t arena_bytes() const override;

 private:
  Graph graph_;
  PlanRequest request_;
  std::vector<std::unique_ptr<BodyPlan>> plans_;
  uint64_t uses_ = 0;
  bool timing_ = false;
};

// Adds the steps to those that are there already; of the same node, op and kernel the times are added up.
void MergeSteps(const std::vector<StepInfo>& more, std::vector<StepInfo>& steps);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_BODY_PLANS_H_
