// SPDX-License-Identifier: Apache-2.0
// A plan of a graph whose shapes depend on what is fed or computed: it is cut into parts (dynamic_stage.h), which are
// planned when their shapes are known and kept for runs in which they are the same. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_DYNAMIC_PLAN_H_
#define HALFTONE_RUNTIME_PLAN_DYNAMIC_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/control.h"
#include "runtime/plan/dynamic_stage.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_request.h"

namespace halftone {

// Whether a value that is needed has a shape that is not known.
bool NeedsDynamicPlan(const Graph& graph);

class DynamicPlan final : public Plan {
 public:
  static absl::StatusOr<std::unique_ptr<DynamicPlan>> Make(const Graph& graph, const PlanRequest& request);

  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) override;
  std::vector<StepInfo> steps() const override;
  size_t arena_bytes() const override;
  int threads() const override { return request_.options.threads; }
  void SetTiming(bool on) override;
  absl::Status WithSteps(std::span<const Tensor> inputs,
                         absl::FunctionRef<absl::Status(std::span<const BoundStep>)> work) override;
  PlanMemory memory() const override;

 private:
  using Values = std::map<ValueId, Tensor>;

  DynamicPlan(const Graph& graph, const PlanRequest& request) : graph_(graph), request_(request) {}
  void FoldConstants();
  absl::Status CheckInputs(std::span<const Tensor> inputs) const;
  absl::StatusOr<int> Follow(int stage, const std::vector<ValueId>& made, const Values& values);
  absl::StatusOr<int> AddStage(int from, const std::vector<ValueId>& made, const Values& values);
  absl::StatusOr<int> WithoutBinding(int stage);
  int Keep(std::unique_ptr<Stage> stage);
  void Forget(int stage);
  bool IsCrowded() const;
  void MakeRoom(int stage);
  absl::Status RunHost(Stage& stage, Values& values, std::vector<ValueId>& made);
  absl::StatusOr<std::vector<Tensor>> Compute(const Stage& stage, NodeId node, const Values& values);
  absl::Status RunPlan(Stage& stage, Values& values);

  Graph graph_;
  const PlanRequest request_;
  std::map<int, std::unique_ptr<Stage>> stages_;  // 0: before the inputs are known
  int next_stage_ = 0;
  size_t plan_bytes_ = 0;                                    // of the plans of all stages
  std::map<NodeId, std::unique_ptr<ControlFlow>> controls_;  // run on the host
  uint64_t uses_ = 0;
  uint64_t epoch_ = 0;
  bool timing_ = false;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_DYNAMIC_PLAN_H_
