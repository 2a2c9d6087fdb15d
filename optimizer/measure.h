// SPDX-License-Identifier: Apache-2.0
// A step of a job: the benchmark of all its variants. Rounds in random order, each round of each variant fresh processes.
// The method is docs/design/benchmark_method.md, the arithmetic runtime/measure/summary.h and
// runtime/measure/statistics.h.
#ifndef HALFTONE_OPTIMIZER_MEASURE_H_
#define HALFTONE_OPTIMIZER_MEASURE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/benchmark_options.h"
#include "optimizer/progress.h"
#include "optimizer/variant_child.h"
#include "runtime/measure/statistics.h"
#include "runtime/measure/summary.h"

namespace halftone {

// Cores of a benchmark, instance by instance; empty where there are too few of them.
struct BenchmarkCores {
  std::vector<int> chosen;
  int allowed = 0;  // cores that might be used
};

// Errors: INVALID_ARGUMENT where the options name cores, or want several instances, and there are not so many. (One
// instance with too many threads is measured, and INVALID.)
absl::StatusOr<BenchmarkCores> CoresFor(const BenchmarkOptions& options);

struct MeasuredVariant {
  std::string name;
  RunSpec run;
  std::string expected_hash;           // of the outputs, from the evaluation
  std::optional<double> load_ms = {};  // of the process that prepared run.prepared_graph; nullopt: that of each round
  std::vector<std::string> reasons;    // why it is invalid on any machine
};

// Ratio over the fused fp32 baseline: above 1 is faster.
struct SpeedupResult {
  double median = 0;
  double low = 0;
  double high = 0;
  Verdict verdict = Verdict::kUndecided;
};

using RoundData = std::vector<RoundResult>;  // one entry per instance

struct BenchmarkResult {
  SampleSummary summary;
  std::optional<SpeedupResult> speedup;
  std::vector<std::string> invalid_reasons;  // its own and those of the whole
  std::vector<std::string> noise;            // the same: what disturbed it
  bool valid =
      false;  // nothing in invalid_reasons, and no noise (of it or the baseline) that the interval does not decide
  std::vector<RoundData> rounds;
};

struct SelfCheckResult {
  SpeedupResult speedup;
  SampleSummary summary;
  std::vector<RoundData> rounds;
};

struct BenchmarkRunResult {
  std::vector<BenchmarkResult> variants;      // in the order they were given
  std::optional<SelfCheckResult> self_check;  // nullopt with fewer than 3 rounds
  std::vector<std::string> invalid_reasons;   // of the whole
  std::vector<std::string> noise;             // of the whole
  std::vector<std::string> order;             // of each round: names, in the order of their turns
  std::vector<std::string> variables;         // that processes were started with
  BenchmarkCores cores;
  double spin_drift = 0;
  double test_slow_down = 0;
};

// `baseline` is the index of the variant that speed-ups refer to, and that is measured twice in each round.
absl::StatusOr<BenchmarkRunResult> MeasureVariants(const std::vector<MeasuredVariant>& variants, size_t baseline,
                                                   const BenchmarkOptions& options, const BenchmarkCores& cores,
                                                   ChildRunner& children, const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_MEASURE_H_
