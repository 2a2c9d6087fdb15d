// SPDX-License-Identifier: Apache-2.0
// How a job measures: the presets and what a user may change of them.
#ifndef HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_
#define HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/dim_sizes.h"
#include "runtime/measure/round_facts.h"

namespace halftone {

enum class BenchmarkPreset { kQuick, kStandard, kStrict, kCustom };

struct BenchmarkOptions {
  BenchmarkPreset preset = BenchmarkPreset::kQuick;
  int rounds = 5;             // processes (or groups of them) that measure each variant
  double round_seconds = 1;   // timed inference in each
  int64_t round_samples = 1;  // at least
  int threads = 1;            // of one instance
  int instances = 1;          // processes side by side
  DimSizes sizes;             // of the inputs
  bool cold_cache = false;
  std::vector<int> cores;   // to pin to, instance by instance; empty: chosen
  std::string wait_policy;  // OMP_WAIT_POLICY; empty: see RoundEnvironment
  NoiseLimits noise_limits;
  bool skip = false;
  uint64_t seed = 1;

  // Percentiles beside the median: where the preset has them.
  bool percentiles() const { return preset != BenchmarkPreset::kQuick; }
};

// Sets what the preset says; values of the user override it and make it kCustom. REQUIRES: preset is not kCustom
void ApplyPreset(BenchmarkPreset preset, std::optional<int> rounds, std::optional<double> round_seconds,
                 BenchmarkOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_
