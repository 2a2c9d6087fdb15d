// SPDX-License-Identifier: Apache-2.0
// Where the time of a model goes: its variants as files, and in a fresh process for each, a profile of its plan.
#ifndef HALFTONE_OPTIMIZER_PROFILE_H_
#define HALFTONE_OPTIMIZER_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/calibrate.h"
#include "optimizer/options.h"
#include "optimizer/progress.h"
#include "optimizer/run_spec.h"
#include "runtime/measure/profile.h"

namespace halftone {

// A variant that is to be profiled.
struct ProfileTarget {
  VariantKind kind = VariantKind::kFp32;
  std::string summary;
  RunSpec run;
};

// Converts the model to each of `kinds` (kFp32: the fused baseline) as RunOptimizeJob does, kInt8 with its calibration
// and search after a goal, and writes the files into options.out_dir. The rounds of options.benchmark are not read.
struct ProfileTargets {
  std::vector<ProfileTarget> targets;
  std::optional<CalibrationSummary> calibration;  // of kInt8
  std::vector<std::string> warnings;
};
absl::StatusOr<ProfileTargets> MakeProfileTargets(const OptimizeOptions& options, const std::vector<VariantKind>& kinds,
                                                  const ProgressCallback& progress);

// --- In the fresh process.
struct VariantProfile {
  PlanProfile plan;
  int64_t batch = 0;  // of the inputs
  double load_ms = 0, optimize_ms = 0, planning_ms = 0;
  std::vector<std::string> disturbances;  // InvalidReasons and NoiseReasons of runtime/measure/round_facts.h
};
absl::StatusOr<VariantProfile> ProfileVariant(const RunSpec& run);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PROFILE_H_
