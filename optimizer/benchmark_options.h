// How a job measures: the profiles and what a user may change of them.
#ifndef HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_
#define HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone {

enum class BenchmarkProfile { kQuick, kStandard, kStrict, kCustom };

struct BenchmarkOptions {
  BenchmarkProfile profile = BenchmarkProfile::kQuick;
  int rounds = 5;             // processes (or groups of them) that measure each variant
  double round_seconds = 1;   // timed inference in each
  int64_t round_samples = 1;  // at least
  int threads = 1;            // of one instance
  int instances = 1;          // processes side by side
  int64_t batch = 1;
  bool cold_weights = false;
  std::vector<int> cores;   // to pin to, instance by instance; empty: chosen
  std::string wait_policy;  // OMP_WAIT_POLICY; empty: see RoundEnvironment
  bool skip = false;
  uint64_t seed = 1;

  // Percentiles beside the median: where the profile has them.
  bool percentiles() const { return profile != BenchmarkProfile::kQuick; }
};

// Sets what the profile says, and over it what the user says; that makes it kCustom. REQUIRES: profile is not kCustom
void ApplyProfile(BenchmarkProfile profile, std::optional<int> rounds, std::optional<double> round_seconds,
                  BenchmarkOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_BENCHMARK_OPTIONS_H_
