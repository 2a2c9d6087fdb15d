// SPDX-License-Identifier: Apache-2.0
// Runs the body of a loop until it ends. Private to runtime/plan.
//
// Where the shapes of the states stay what they are, which is nearly always, the states lie in memory of the loop: the
// body's plan reads them there, writes over them where it may, and what it leaves elsewhere is copied back. No tensor
// is made in a run of the body. Where shapes change from run to run (a list that grows), each run takes and gives
// tensors.
#ifndef HALFTONE_RUNTIME_PLAN_LOOP_RUNNER_H_
#define HALFTONE_RUNTIME_PLAN_LOOP_RUNNER_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/nested.h"
#include "ir/tensor.h"
#include "runtime/plan/body_plans.h"
#include "runtime/plan/plan_request.h"
#include "runtime/plan/scan_output.h"

namespace halftone {

// One execution of a loop: what it starts from, and what is left when it ended.
struct LoopCall {
  std::vector<Tensor> states;
  std::vector<Tensor> captured;
  std::vector<Tensor> sequences;  // whole
  std::vector<int> sequence_axes;
  std::vector<bool> sequence_reversed;
  int64_t trips = std::numeric_limits<int64_t>::max();
  bool go = true;
  std::vector<ScanOutput> scanned;
};

class LoopRunner {
 public:
  // `condition`: asked with the states before each run of the body; nullptr: the body's first output says whether to go
  // on (form.own_outputs = 1), or only the number of trips. invariant[i]: the body gives state i back as it is.
  LoopRunner(const NestedForm& form, std::vector<bool> invariant, BodyPlans& body, BodyPlans* condition,
             const PlanRequest& request)
      : form_(form), invariant_(std::move(invariant)), body_(body), condition_(condition), request_(request) {}

  absl::Status Run(LoopCall& call);
  // The body's inputs in its run number `trip`.
  std::vector<Tensor> Arguments(const LoopCall& call, int64_t trip) const;

 private:
  bool KeepsShapes(const BodyPlan& plan, const LoopCall& call) const;
  absl::Status CheckLimits(int64_t trip) const;
  absl::StatusOr<bool> AskCondition(std::span<const Tensor> states);
  absl::Status RunOnce(std::span<const Tensor> arguments, LoopCall& call);
  absl::Status RunStatic(StaticPlan& plan, LoopCall& call, int64_t trip);

  const NestedForm form_;
  const std::vector<bool> invariant_;
  BodyPlans& body_;
  BodyPlans* const condition_;
  const PlanRequest& request_;
};

// Whether the single element of a condition is not zero. Error: INVALID_ARGUMENT where it is not single.
absl::StatusOr<bool> IsTrue(const Tensor& condition);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_LOOP_RUNNER_H_
