#include "optimizer/benchmark_options.h"

#include "absl/log/check.h"

namespace halftone {
namespace {

struct ProfileRow {
  BenchmarkProfile profile;
  int rounds;
  double round_seconds;
  int64_t round_samples;
};
constexpr ProfileRow kProfiles[] = {
    {BenchmarkProfile::kQuick, 5, 1.0, 1},
    {BenchmarkProfile::kStandard, 10, 0.6, 67},  // 6 s and 662 samples a variant: enough for P99
    {BenchmarkProfile::kStrict, 10, 60.0, 664},  // 600 s and 6636 samples: enough for P99.9
};

}  // namespace

void ApplyProfile(BenchmarkProfile profile, std::optional<int> rounds, std::optional<double> round_seconds,
                  BenchmarkOptions& options) {
  CHECK(profile != BenchmarkProfile::kCustom);
  const ProfileRow& row = kProfiles[static_cast<int>(profile)];
  CHECK(row.profile == profile);
  options.profile = rounds.has_value() || round_seconds.has_value() ? BenchmarkProfile::kCustom : profile;
  options.rounds = rounds.value_or(row.rounds);
  options.round_seconds = round_seconds.value_or(row.round_seconds);
  options.round_samples = row.round_samples;
}

}  // namespace halftone
