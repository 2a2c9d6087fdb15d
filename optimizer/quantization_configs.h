// SPDX-License-Identifier: Apache-2.0
// Ways to make the int8 variant that need no new samples. The search after an accuracy goal (accuracy_control.h) tries
// them before it takes nodes out of int8: what they change costs no speed.
#ifndef HALFTONE_OPTIMIZER_QUANTIZATION_CONFIGS_H_
#define HALFTONE_OPTIMIZER_QUANTIZATION_CONFIGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "ir/value_ranges.h"
#include "optimizer/int8_source.h"
#include "optimizer/options.h"
#include "optimizer/quantize.h"

namespace halftone {

struct QuantizationConfig {
  Calibrator calibrator = Calibrator::kMinMax;
  bool smooth = false;        // passes/quantize/smooth_activations.h
  bool clip_weights = false;  // passes/quantize/weight_clipping.h

  bool operator==(const QuantizationConfig&) const = default;
};

// As the command line spells it: "percentile, smooth, clip-weights".
std::string DescribeConfig(const QuantizationConfig& config);

// What an int8 variant is made of.
struct Int8Candidate {
  QuantizationConfig config;
  OptimizeOptions options;  // the job's, with the config in them
  Int8Base base;            // smoothed where the config says so
  ValueRanges ranges;       // of its values
};

// What the job asks for: its own options, and the ranges as they were calibrated or given.
absl::StatusOr<Int8Candidate> OwnCandidate(const Int8Source& source, const Target& target,
                                           const OptimizeOptions& options);

// Another config from the same source. Where its calibrator is another one, ranges are chosen again from what the
// samples showed (RangesByCalibrator, which `source` keeps that for).
absl::StatusOr<Int8Candidate> MakeCandidate(const QuantizationConfig& config, Int8Source& source, const Target& target,
                                            const OptimizeOptions& options);

// Whether something was smoothed: a config that wants it of a model without outliers is the one without it.
bool IsSmoothed(const Int8Candidate& candidate, const Int8Source& source);

// One thing about a config.
enum class ConfigChange : uint8_t { kSmooth, kMeanSquaredError, kPercentile, kEntropy, kClipWeights };

// Those that may be tried, in this order: not of what the user named, nor of ranges that a file gave. None for modes
// without ranges.
std::vector<ConfigChange> ChangesFor(const Int8Options& int8);

QuantizationConfig Changed(QuantizationConfig config, ConfigChange change);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_QUANTIZATION_CONFIGS_H_
