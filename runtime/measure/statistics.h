// SPDX-License-Identifier: Apache-2.0
// Medians, percentiles and confidence intervals of measured times.
#ifndef HALFTONE_RUNTIME_MEASURE_STATISTICS_H_
#define HALFTONE_RUNTIME_MEASURE_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone {

// The middle, or the mean of the two in the middle. REQUIRES: not empty
double Median(std::span<const double> samples);

// Median of |x - median|. REQUIRES: not empty
double MedianAbsoluteDeviation(std::span<const double> samples);

// exp(mean(log)). REQUIRES: not empty, all > 0
double GeometricMean(std::span<const double> samples);

// The smallest number of samples n for which "at most `over` of n samples lie above the bound" shows with 99 %
// confidence that a share `percentile` of all lies below it: P(Binomial(n, 1 - percentile) <= over) <= 0.01. over = 1:
// 0.90 -> 64, 0.95 -> 130, 0.99 -> 662, 0.999 -> 6636.  REQUIRES: 0 < percentile, confidence < 1, over >= 0
int64_t MinimumSamples(double percentile, int over = 1, double confidence = 0.99);

// The nearest-rank percentile; nullopt with fewer samples than MinimumSamples says.
std::optional<double> Percentile(std::span<const double> samples, double percentile);

struct Interval {
  double low = 0;
  double high = 0;
};

// The ratio of two variants over the rounds of a benchmark.
struct RatioEstimate {
  double ratio = 0;   // median over rounds of variant / baseline: below 1, the variant is faster
  Interval interval;  // 95 %
  int rounds = 0;
};

inline constexpr int kResamples = 10000;
inline constexpr size_t kFewestRounds = 3;  // below, there is no interval

// `baseline` and `variant` hold one number a round (its median time), of the same rounds. Resamples rounds, not
// samples: what a round has in common (a slow minute, a process's memory) is in both numbers. Deterministic in the
// seed. nullopt with fewer than 3 rounds or different lengths.
//
// The bootstrap's spread is that of n rounds drawn from n, too small by sqrt((n - 1) / n): the cuts at 2.5 % and 97.5 %
// are moved out by that. Without it the interval of 10 rounds holds the truth 93 times of 100, with it 95.
std::optional<RatioEstimate> CompareRounds(std::span<const double> baseline, std::span<const double> variant,
                                           uint32_t seed, int resamples = kResamples);

// The same of two benchmarks whose rounds do not belong together (two files, two days): median / median, the rounds of
// each resampled on their own. `rounds` is the smaller number. nullopt with fewer than 3 rounds on a side.
std::optional<RatioEstimate> CompareRuns(std::span<const double> baseline, std::span<const double> variant,
                                         uint32_t seed, int resamples = kResamples);

// What may be claimed of a ratio of times. It is the interval that decides, not the number in its middle.
enum class Verdict {
  kFaster,     // all of the interval is below 1 / 1.02
  kSlower,     // all of it is above 1.02
  kSame,       // all of it is within 1 / 1.02 .. 1.02
  kUndecided,  // none of these: more rounds, or a quieter machine, would tell
};
inline constexpr double kSameWithin = 1.02;
Verdict Judge(const Interval& ratio);

// How far two equal things came apart in an A/A test, as a factor of at least 1. On a noisy machine, intervals count as
// wider by it at both ends.
double NoiseFactor(const Interval& self_check);
Interval WidenedByNoise(const Interval& ratio, const Interval& self_check);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_STATISTICS_H_
