// SPDX-License-Identifier: Apache-2.0
// From what was seen of a value to the range that its integers shall reach over. Pure functions: one pass over the
// samples serves every calibrator.
//
//   min-max             everything that was seen
//   moving-average      the extremes of batches, each new one with the weight TensorStatistics::kNewBatchWeight
//   percentile          all but (100 - p) % of the numbers: half of them cut at either end, or by magnitude where the
//                       range is symmetric or all numbers have one sign; between the edges of a bin by its share
//   entropy             clips magnitudes at the edge of the bin where the distribution of the integers loses the least
//                       information: Kullback-Leibler divergence, as in S. Migacz's "8-bit inference with TensorRT"
//                       (GTC 2017); bins are shared among the integers as evenly as they go
//   mse                 clips at the edge of the bin where the sum of squared errors is least, every number counted at
//   the
//                       middle of its bin; for ranges that are not symmetric one end after the other, until none moves
//
// Zeros count for nothing in the last two: 0 is an integer exactly, whatever the range. No range is wider than what was
// seen and 0; that a symmetric one reaches as far on the other side is the work of QuantizationFor.
#ifndef HALFTONE_RUNTIME_CALIBRATE_CALIBRATORS_H_
#define HALFTONE_RUNTIME_CALIBRATE_CALIBRATORS_H_

#include "absl/status/statusor.h"
#include "ir/value_ranges.h"
#include "runtime/calibrate/tensor_statistics.h"

namespace halftone {

struct CalibratorOptions {
  Calibrator calibrator = Calibrator::kMinMax;
  // What the range will be quantized to: decides how many integers there are for it.
  QuantizationChoice integers = {};
  double percentile = 99.99;  // in (50, 100]
};

struct Range {
  double min = 0;
  double max = 0;
};

// Errors: INVALID_ARGUMENT for an option out of its limits; kLog is no way to choose. A value of which nothing was seen
// has the range [0, 0].
absl::StatusOr<Range> ChooseRange(const TensorStatistics& statistics, const CalibratorOptions& options);

// ChooseRange, with everything that is known of the value.
absl::StatusOr<ValueRange> MakeValueRange(const TensorStatistics& statistics, const CalibratorOptions& options);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_CALIBRATORS_H_
