// SPDX-License-Identifier: Apache-2.0
// Plans inside a step (bodies of loops, branches), so that reports see what runs there. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_NESTED_PLANS_H_
#define HALFTONE_RUNTIME_PLAN_NESTED_PLANS_H_

#include <vector>

#include "runtime/plan/plan.h"

namespace halftone {

// Whatever is made of steps. While times are taken, the median_us of its steps is the time spent in each since
// SetTiming(true), over all runs.
class NestedPlans {
 public:
  virtual ~NestedPlans() = default;
  virtual std::vector<StepInfo> steps() const = 0;
  virtual void SetTiming(bool on) = 0;
  virtual size_t arena_bytes() const = 0;
};

// The steps as a part of the step `outer`: named and numbered after it. Their time is taken from outer's.
void AppendNested(const std::vector<StepInfo>& nested, size_t outer, std::vector<StepInfo>& steps);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_NESTED_PLANS_H_
