// SPDX-License-Identifier: Apache-2.0
// A plan of a graph whose shapes are all known. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_STATIC_PLAN_H_
#define HALFTONE_RUNTIME_PLAN_STATIC_PLAN_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/nested_plans.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/plan_request.h"

namespace halftone {

class StaticPlan final : public Plan {
 public:
  static absl::StatusOr<std::unique_ptr<StaticPlan>> Make(Graph graph, const PlanRequest& request);

  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) override;
  std::vector<StepInfo> steps() const override;
  size_t arena_bytes() const override;
  int threads() const override { return request_.options.threads; }
  absl::Status WithSteps(std::span<const Tensor> inputs,
                         absl::FunctionRef<absl::Status(std::span<const BoundStep>)> work) override;
  PlanMemory memory() const override;

  // --- For loops, which run it many times on memory of their own: no tensor is made.
  const Graph& graph() const { return graph_; }
  size_t num_outputs() const { return planned_.outputs.size(); }
  const std::vector<int64_t>& output_dims(size_t i) const { return planned_.output_dims[i]; }
  size_t output_bytes(size_t i) const { return output_bytes_[i]; }
  // Where the inputs lie from now on, each as large as its type and shape say. REQUIRES: one per input of the graph
  void BindInputs(std::span<std::byte* const> inputs);
  absl::Status RunSteps();
  // Where RunSteps left output i; it stays until the next run. May be the memory of an input.
  const std::byte* output(size_t i) const { return addresses_[planned_.outputs[i]]; }

  void SetTiming(bool on) override;

 private:
  StaticPlan(Graph graph, const PlanRequest& request) : graph_(std::move(graph)), request_(request) {}
  absl::Status LayOutMemory();
  absl::Status TooLarge(size_t bytes) const;
  void BindStep(PlannedStep& step);
  absl::Status CheckInputs(std::span<const Tensor> inputs) const;
  void BindTensors(std::span<const Tensor> inputs);
  absl::Status RunTimed();

  const Graph graph_;
  const PlanRequest request_;
  PlannedGraph planned_;
  Pages arena_;
  std::vector<std::byte*> addresses_;  // of blocks
  std::vector<int> active_;            // steps that do something
  std::vector<int> reads_input_;       // steps to bind again when the caller's tensors move
  std::vector<size_t> output_bytes_;
  bool timing_ = false;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_STATIC_PLAN_H_
