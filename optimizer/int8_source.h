// SPDX-License-Identifier: Apache-2.0
// Where the configs of int8 (quantization_configs.h) begin: the fused graph and the ranges of its values.
#ifndef HALFTONE_OPTIMIZER_INT8_SOURCE_H_
#define HALFTONE_OPTIMIZER_INT8_SOURCE_H_

#include "absl/status/statusor.h"
#include "optimizer/calibrate.h"
#include "optimizer/quantize.h"

namespace halftone {

struct Int8Source {
  Int8Base base;
  bool has_ranges = true;  // false: the mode needs none, and `calibrated` is empty
  CalibratedRanges calibrated;
};

// Makes the base and calibrates it; nothing is smoothed yet. `model` must outlive the result.
absl::StatusOr<Int8Source> MakeInt8Source(const OptimizedModel& model, const Target& target,
                                          const OptimizeOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INT8_SOURCE_H_
