// SPDX-License-Identifier: Apache-2.0
// One step by itself, on memory of its own. Private to runtime/profile.
#ifndef HALFTONE_RUNTIME_MEASURE_PROFILE_ALONE_H_
#define HALFTONE_RUNTIME_MEASURE_PROFILE_ALONE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "runtime/measure/profile.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/plan.h"

namespace halftone {

// Stands for what the other steps of a run read and write: reading it takes from the caches what they would.
class OtherMemory {
 public:
  // As large as all that a run touches; more than the caches hold is not needed.
  static absl::StatusOr<OtherMemory> Allocate(size_t bytes);
  void Read() const;

 private:
  Pages pages_;
};

struct AloneTimes {
  double warm_us = 0;  // the best of several runs, one after the other
  double cold_us =
      0;  // the median of runs after others.Read(), with the inputs fetched again: weights and code are cold
};

// The step's inputs must be there; it stays bound as it was, and its results are not touched.
absl::StatusOr<AloneTimes> TimeAlone(const BoundStep& bound, const OtherMemory& others, const ProfileOptions& options);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_PROFILE_ALONE_H_
