// SPDX-License-Identifier: Apache-2.0
#include "optimizer/benchmark_options.h"

#include "absl/log/check.h"

namespace halftone {
namespace {

struct PresetRow {
  BenchmarkPreset preset;
  int rounds;
  double round_seconds;
  int64_t round_samples;
};
constexpr PresetRow kPresets[] = {
    {BenchmarkPreset::kQuick, 5, 1.0, 1},
    {BenchmarkPreset::kStandard, 10, 0.6, 67},  // 6 s and 662 samples per variant: enough for P99
    {BenchmarkPreset::kStrict, 10, 60.0, 664},  // 600 s and 6636 samples: enough for P99.9
};

}  // namespace

void ApplyPreset(BenchmarkPreset preset, std::optional<int> rounds, std::optional<double> round_seconds,
                 BenchmarkOptions& options) {
  CHECK(preset != BenchmarkPreset::kCustom);
  const PresetRow& row = kPresets[static_cast<int>(preset)];
  CHECK(row.preset == preset);
  options.preset = rounds.has_value() || round_seconds.has_value() ? BenchmarkPreset::kCustom : preset;
  options.rounds = rounds.value_or(row.rounds);
  options.round_seconds = round_seconds.value_or(row.round_seconds);
  options.round_samples = row.round_samples;
}

}  // namespace halftone
