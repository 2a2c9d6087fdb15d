// SPDX-License-Identifier: Apache-2.0
// How a plan and the plans inside it (bodies of loops, parts of a graph) are to be made. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_PLAN_REQUEST_H_
#define HALFTONE_RUNTIME_PLAN_PLAN_REQUEST_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/plan/kernel.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/plan.h"

namespace halftone {

// When the outermost run that is going on must be over. Shared by a plan and all plans inside it. Not thread-safe.
class RunClock {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RunClock(double seconds) : seconds_(seconds) {}

  bool IsOver() const { return Clock::now() > deadline_; }
  double seconds() const { return seconds_; }

  // Alive while a plan runs; the outermost one starts the clock.
  class Scope {
   public:
    explicit Scope(RunClock& clock) : clock_(clock) {
      if (clock_.depth_++ == 0) {
        clock_.deadline_ =
            Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(clock_.seconds_));
      }
    }
    ~Scope() { --clock_.depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunClock& clock_;
  };

 private:
  const double seconds_;
  int depth_ = 0;
  Clock::time_point deadline_;
};

struct PlanRequest {
  CompileOptions options;
  const Backend& backend;
  std::shared_ptr<RunClock> clock;
  // By input of the graph: whether steps may write over it. Empty: none. For bodies of loops, whose state lies in
  // memory that is theirs.
  std::vector<bool> donated = {};
  // Of one value. In bodies of loops, of which several copies are alive while a state grows, it is less.
  size_t most_value_bytes = MemoryLimit() / 2;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_PLAN_REQUEST_H_
