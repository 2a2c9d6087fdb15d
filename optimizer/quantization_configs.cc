// SPDX-License-Identifier: Apache-2.0
#include "optimizer/quantization_configs.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

absl::StatusOr<Int8Candidate> CandidateOf(const QuantizationConfig& config, const Int8Base& base, ValueRanges ranges,
                                          const Target& target, const OptimizeOptions& options) {
  Int8Candidate candidate{config, options, base, std::move(ranges)};
  Int8Options& int8 = candidate.options.int8;
  int8.calibrator.calibrator = config.calibrator;
  int8.smooth = config.smooth;
  int8.quantize.clip_weights = config.clip_weights;
  const bool has_ranges = int8.mode == Int8Mode::kStatic;
  if (has_ranges) HALFTONE_RETURN_IF_ERROR(SmoothBase(candidate.base, candidate.ranges, target, candidate.options));
  return candidate;
}

}  // namespace

std::string DescribeConfig(const QuantizationConfig& config) {
  return Concat(CalibratorName(config.calibrator), config.smooth ? ", smooth-quant" : "",
                config.clip_weights ? ", clip-weights" : "");
}

absl::StatusOr<Int8Candidate> OwnCandidate(const Int8Source& source, const Target& target,
                                           const OptimizeOptions& options) {
  const QuantizationConfig config{source.calibrated.origin.calibrator, options.int8.smooth,
                                  options.int8.quantize.clip_weights};
  return CandidateOf(config, source.base, source.calibrated.ranges, target, options);
}

absl::StatusOr<Int8Candidate> MakeCandidate(const QuantizationConfig& config, Int8Source& source, const Target& target,
                                            const OptimizeOptions& options) {
  if (config.calibrator == source.calibrated.origin.calibrator) {
    return CandidateOf(config, source.base, source.calibrated.ranges, target, options);
  }
  OptimizeOptions others = options;
  others.int8.calibrator.calibrator = config.calibrator;
  HALFTONE_ASSIGN_OR_RETURN(ValueRanges ranges, RangesByCalibrator(source.base.graph, others, source.calibrated));
  return CandidateOf(config, source.base, std::move(ranges), target, options);
}

bool IsSmoothed(const Int8Candidate& candidate, const Int8Source& source) {
  return candidate.base.rewrites.applied.size() > source.base.rewrites.applied.size();
}

std::vector<ConfigChange> ChangesFor(const Int8Options& int8) {
  std::vector<ConfigChange> changes;
  if (int8.mode != Int8Mode::kStatic || !int8.search_configs) return changes;
  if (!int8.smooth) changes.push_back(ConfigChange::kSmooth);
  if (!int8.calibrator_is_named && !int8.ranges.has_value()) {
    changes.insert(changes.end(), {ConfigChange::kMeanSquaredError, ConfigChange::kPercentile, ConfigChange::kEntropy});
  }
  if (!int8.quantize.clip_weights) changes.push_back(ConfigChange::kClipWeights);
  return changes;
}

QuantizationConfig Changed(QuantizationConfig config, ConfigChange change) {
  switch (change) {
    case ConfigChange::kSmooth:
      config.smooth = true;
      break;
    case ConfigChange::kMeanSquaredError:
      config.calibrator = Calibrator::kMeanSquaredError;
      break;
    case ConfigChange::kPercentile:
      config.calibrator = Calibrator::kPercentile;
      break;
    case ConfigChange::kEntropy:
      config.calibrator = Calibrator::kEntropy;
      break;
    case ConfigChange::kClipWeights:
      config.clip_weights = true;
      break;
  }
  return config;
}

}  // namespace halftone
