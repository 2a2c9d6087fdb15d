// SPDX-License-Identifier: Apache-2.0
// The runs of a loop's body in which no shape changes: the states lie in memory of the loop, where the body's plan
// reads them and may write over them; what it leaves elsewhere is copied back. No tensor is made. Private to
// runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_STATIC_LOOP_H_
#define HALFTONE_RUNTIME_PLAN_STATIC_LOOP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/nested.h"
#include "runtime/plan/loop_runner.h"
#include "runtime/plan/static_plan.h"

namespace halftone {

class StaticLoop {
 public:
  // Goes on with `call` from run number `trip` of the body. All arguments must outlive this.
  StaticLoop(const NestedForm& form, const std::vector<bool>& invariant, StaticPlan& body, LoopCall& call,
             int64_t trip);
  StaticLoop(const StaticLoop&) = delete;
  StaticLoop& operator=(const StaticLoop&) = delete;

  // A plan that reads the states and says whether to go on.
  void UseCondition(StaticPlan& condition);
  bool has_condition() const { return condition_ != nullptr; }
  absl::StatusOr<bool> AskCondition();

  absl::Status RunBody();
  // Whether neither the body's own condition nor the number of trips ended the loop.
  bool GoesOn() const { return goes_on_ && trip_ < call_.trips; }
  int64_t trip() const { return trip_; }
  // The states as they are now; they change in place.
  std::vector<Tensor> StateViews() const;
  // At the end: gives the states to the call.
  void TakeStates();

 private:
  struct State {
    std::shared_ptr<Buffer> buffer;  // null: invariant, never written
    std::byte* data = nullptr;
    size_t bytes = 0;
  };
  // Brings a result to where its state lies. One that lies where another state does is saved first.
  struct Move {
    const std::byte* from;
    std::byte* to;
    size_t bytes;
    std::vector<std::byte> saved;
  };
  void PlaceInputs(const std::vector<bool>& invariant);
  void FindMoves();

  const NestedForm& form_;
  StaticPlan& body_;
  LoopCall& call_;
  StaticPlan* condition_ = nullptr;
  int64_t trip_;
  uint8_t go_ = 1;  // the body's input
  bool goes_on_ = true;
  std::vector<State> states_;
  std::vector<std::shared_ptr<Buffer>> slices_;
  std::vector<std::byte*> inputs_;  // of the body
  std::vector<Move> moves_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_STATIC_LOOP_H_
