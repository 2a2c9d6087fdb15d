// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/log/check.h"

namespace halftone {
namespace {

// Reorders `values`.
double MedianInPlace(std::vector<double>& values) {
  CHECK(!values.empty());
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  const double lower = *std::max_element(values.begin(), values.begin() + middle);
  return (lower + upper) / 2;
}

// The value below which `share` of the sorted values lie, between two of them by straight line.
double Quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double fraction = position - static_cast<double>(below);
  return sorted[below] * (1 - fraction) + sorted[below + 1] * fraction;
}

// P(Binomial(n, p) <= k), by logarithms so that n may be large.
double BinomialAtMost(int64_t k, int64_t n, double p) {
  double sum = 0;
  for (int64_t i = 0; i <= k; ++i) {
    const double log_choose = std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
    sum += std::exp(log_choose + i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return sum;
}

// MT19937's numbers are the same everywhere; std::uniform_int_distribution's are not. The bias is below n / 2^32.
size_t PickBelow(std::mt19937& random, size_t n) {
  return static_cast<size_t>((static_cast<uint64_t>(random()) * n) >> 32);
}

// The median of as many values as there are, each drawn from all of them, in `drawn`.
double MedianOfDrawn(std::span<const double> values, std::mt19937& random, std::vector<double>& drawn) {
  for (double& value : drawn) value = values[PickBelow(random, values.size())];
  return MedianInPlace(drawn);
}

// 95 % of what was resampled out of `rounds` rounds, widened as CompareRounds says.
Interval PercentileInterval(std::vector<double> resampled, size_t rounds) {
  constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %
  const double n = static_cast<double>(rounds);
  const double tail = std::erfc(kNormalQuantile * std::sqrt(n / (n - 1)) / std::sqrt(2.0)) / 2;
  std::sort(resampled.begin(), resampled.end());
  return {.low = Quantile(resampled, tail), .high = Quantile(resampled, 1 - tail)};
}

}  // namespace

double Median(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  return MedianInPlace(values);
}

double MedianAbsoluteDeviation(std::span<const double> samples) {
  const double middle = Median(samples);
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::fabs(sample - middle));
  return MedianInPlace(deviations);
}

double GeometricMean(std::span<const double> samples) {
  CHECK(!samples.empty());
  double sum = 0;
  for (const double sample : samples) sum += std::log(sample);
  return std::exp(sum / static_cast<double>(samples.size()));
}

int64_t MinimumSamples(double percentile, int over, double confidence) {
  CHECK(percentile > 0 && percentile < 1 && confidence > 0 && confidence < 1 && over >= 0);
  const double doubt = 1 - confidence;
  const double p = 1 - percentile;
  int64_t low = over;  // too few: P = 1
  int64_t high = over + 1;
  while (BinomialAtMost(over, high, p) > doubt) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (BinomialAtMost(over, middle, p) > doubt ? low : high) = middle;
  }
  return high;
}

std::optional<double> Percentile(std::span<const double> samples, double percentile) {
  if (static_cast<int64_t>(samples.size()) < MinimumSamples(percentile)) return std::nullopt;
  std::vector<double> values(samples.begin(), samples.end());
  // The epsilon keeps 0.9 * 100 from becoming rank 91.
  const double rank = std::ceil(percentile * static_cast<double>(values.size()) - 1e-9);
  const size_t index = std::min(values.size() - 1, static_cast<size_t>(std::max(rank - 1, 0.0)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[index];
}

std::optional<RatioEstimate> CompareRounds(std::span<const double> baseline, std::span<const double> variant,
                                           uint32_t seed, int resamples) {
  if (baseline.size() != variant.size() || baseline.size() < kFewestRounds || resamples < 1) return std::nullopt;
  const size_t rounds = baseline.size();
  std::vector<double> ratios(rounds);
  for (size_t i = 0; i < rounds; ++i) ratios[i] = variant[i] / baseline[i];

  std::mt19937 random(seed);
  std::vector<double> drawn(rounds);
  std::vector<double> medians(resamples);
  for (double& median : medians) median = MedianOfDrawn(ratios, random, drawn);
  return RatioEstimate{.ratio = Median(ratios),
                       .interval = PercentileInterval(std::move(medians), rounds),
                       .rounds = static_cast<int>(rounds)};
}

std::optional<RatioEstimate> CompareRuns(std::span<const double> baseline, std::span<const double> variant,
                                         uint32_t seed, int resamples) {
  const size_t rounds = std::min(baseline.size(), variant.size());
  if (rounds < kFewestRounds || resamples < 1) return std::nullopt;
  std::mt19937 random(seed);
  std::vector<double> drawn_baseline(baseline.size()), drawn_variant(variant.size());
  std::vector<double> ratios(resamples);
  for (double& ratio : ratios) {
    const double below = MedianOfDrawn(baseline, random, drawn_baseline);
    ratio = MedianOfDrawn(variant, random, drawn_variant) / below;
  }
  return RatioEstimate{.ratio = Median(variant) / Median(baseline),
                       .interval = PercentileInterval(std::move(ratios), rounds),
                       .rounds = static_cast<int>(rounds)};
}

Verdict Judge(const Interval& ratio) {
  if (ratio.high < 1 / kSameWithin) return Verdict::kFaster;
  if (ratio.low > kSameWithin) return Verdict::kSlower;
  const bool within = ratio.low >= 1 / kSameWithin && ratio.high <= kSameWithin;
  return within ? Verdict::kSame : Verdict::kUndecided;
}

double NoiseFactor(const Interval& self_check) { return std::max({1.0, self_check.high, 1 / self_check.low}); }

Interval WidenedByNoise(const Interval& ratio, const Interval& self_check) {
  const double factor = NoiseFactor(self_check);
  return {ratio.low / factor, ratio.high * factor};
}

}  // namespace halftone
