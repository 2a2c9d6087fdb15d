// SPDX-License-Identifier: Apache-2.0
// Flags of the variant int8: calibration, quantization, accuracy goal.
#ifndef HALFTONE_CLIENT_CLI_INT8_FLAGS_H_
#define HALFTONE_CLIENT_CLI_INT8_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/cli/inputs.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

struct Int8Flags {
  std::vector<std::string> calibration;
  std::string ranges;
  std::string calibration_method;
  double percentile = 0;
  std::string activations;
  bool symmetric = false;
  bool per_tensor_weights = false;
  std::string fallback_precision;
  std::string quant_format;
  std::string mode;
  bool no_bias_correction = false;
  bool no_equalization = false;
  bool smooth_quant = false;
  bool clip_weights = false;
  bool reduce_range = false;
  std::string trim_ranges;  // as text: empty is not given
  bool no_ranges_cache = false;
  std::vector<std::string> accuracy_goal;  // "KEY=VALUE"
  bool no_config_search = false;
  bool sensitivity = false;
  double budget = 0;
};

void AddInt8Flags(CLI::App& app, Int8Flags* flags);          // calibration, mode and file
void AddAdvancedInt8Flags(CLI::App& app, Int8Flags* flags);  // algorithms
// --accuracy-goal, --no-config-search, --budget, --sensitivity
void AddInt8GoalFlags(CLI::App& app, Int8Flags* flags);

// Overrides the policy by the flags. Usage errors: a flag without int8 among the policy's precisions, an unknown value, a
// number out of its limits, flags that contradict each other.
absl::Status SetInt8(const Int8Flags& flags, v1::Policy* policy);

// --calibration or --ranges, whichever was given. Spec: OptimizeSpec, BenchSpec, ProfileSpec. Errors are usage errors.
template <typename Spec>
absl::Status ResolveCalibration(const Int8Flags& flags, Spec* spec, Blobs* blobs) {
  if (!flags.ranges.empty() && !flags.calibration.empty()) {
    return UsageError("--ranges takes the place of --calibration: give one of the two");
  }
  if (!flags.calibration.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*spec->mutable_calibration(), ResolveSamples("--calibration", flags.calibration, blobs));
  }
  if (!flags.ranges.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*spec->mutable_ranges(), ResolveRanges(flags.ranges, blobs));
  }
  return absl::OkStatus();
}

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_INT8_FLAGS_H_
