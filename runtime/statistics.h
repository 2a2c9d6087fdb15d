// Medians, percentiles and confidence intervals of measured times.
#ifndef HALFTONE_RUNTIME_STATISTICS_H_
#define HALFTONE_RUNTIME_STATISTICS_H_

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
// 0.90 -> 64, 0.95 -> 130, 0.99 -> 662, 0.999 -> 6636.  REQUIRES: 0 < percentile < 1, over >= 0
int64_t MinimumSamples(double percentile, int over = 1);

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

// `baseline` and `variant` hold one number a round (its median time), of the same rounds. Resamples rounds, not
// samples: what a round has in common (a slow minute, a process's memory) is in both numbers. Deterministic in the
// seed. nullopt with fewer than 3 rounds or different lengths.
std::optional<RatioEstimate> CompareRounds(std::span<const double> baseline, std::span<const double> variant,
                                           uint32_t seed, int resamples = 10000);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_STATISTICS_H_
