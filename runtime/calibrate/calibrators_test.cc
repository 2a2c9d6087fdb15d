// SPDX-License-Identifier: Apache-2.0
// The calibrators against searches by the book over all numbers at hand.
#include "runtime/calibrate/calibrators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace halftone {
namespace {

using Numbers = std::vector<float>;

// --- The same by the book: all numbers at hand, plain loops over bins.

struct Bins {
  double width = 1;
  std::vector<double> counts;  // from -half to half around zero; zeros left out
  int half = 2048;
};

Bins BinsOf(const Numbers& numbers) {
  double most = 0;
  for (const float x : numbers) most = std::max(most, std::fabs(double{x}));
  Bins bins;
  bins.width = std::pow(2.0, -126);
  while (bins.width * bins.half <= most) bins.width *= 2;
  bins.counts.assign(2 * bins.half, 0);
  for (const float x : numbers) {
    if (x == 0) continue;
    const int out = static_cast<int>(std::fabs(x) / bins.width);
    ++bins.counts[x > 0 ? bins.half + out : bins.half - 1 - out];
  }
  return bins;
}

std::vector<double> Magnitudes(const Bins& bins) {
  std::vector<double> folded(bins.half);
  for (int i = 0; i < bins.half; ++i) folded[i] = bins.counts[bins.half + i] + bins.counts[bins.half - 1 - i];
  while (!folded.empty() && folded.back() == 0) folded.pop_back();
  return folded;
}

double Divergence(const std::vector<double>& all, size_t first, size_t last, size_t levels) {
  const std::vector<double> inside(all.begin() + first, all.begin() + last);
  std::vector<double> p = inside, q(p.size(), 0.0);
  for (size_t i = 0; i < first; ++i) p.front() += all[i];
  for (size_t i = last; i < all.size(); ++i) p.back() += all[i];
  for (size_t level = 0; level < levels; ++level) {
    const size_t from = level * p.size() / levels, to = (level + 1) * p.size() / levels;
    double sum = 0, filled = 0;
    for (size_t i = from; i < to; ++i) sum += inside[i];
    for (size_t i = from; i < to; ++i) filled += p[i] > 0;
    if (sum == 0) sum = 1;  // clipped numbers in a level that has none
    for (size_t i = from; i < to; ++i) q[i] = p[i] > 0 ? sum / filled : 0;
  }
  if (std::ranges::all_of(inside, [](double count) { return count == 0; }))
    return std::numeric_limits<double>::infinity();
  double p_sum = 0, q_sum = 0, divergence = 0;
  for (const double x : p) p_sum += x;
  for (const double x : q) q_sum += x;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    divergence += p[i] / p_sum * std::log(p[i] / p_sum / (q[i] / q_sum));
  }
  return divergence;
}

double EntropyThreshold(const Numbers& numbers, size_t levels) {
  const Bins bins = BinsOf(numbers);
  const std::vector<double> folded = Magnitudes(bins);
  double least = std::numeric_limits<double>::infinity();
  size_t best = folded.size();
  for (size_t edge = levels; edge <= folded.size(); ++edge) {
    const double divergence = Divergence(folded, 0, edge, levels);
    if (divergence < least) {
      least = divergence;
      best = edge;
    }
  }
  return static_cast<double>(best) * bins.width;
}

double EntropyWindow(const Numbers& numbers, size_t levels) {
  const Bins bins = BinsOf(numbers);
  const int low =
      static_cast<int>(std::ranges::find_if(bins.counts, [](double c) { return c > 0; }) - bins.counts.begin());
  int high = 2 * bins.half;
  while (bins.counts[high - 1] == 0) --high;
  double least = std::numeric_limits<double>::infinity();
  int best = bins.half;
  for (int edge = 1; edge <= bins.half; ++edge) {
    const int first = std::max(bins.half - edge, low), last = std::min(bins.half + edge, high);
    if (last - first < static_cast<int>(levels)) continue;
    const double divergence = Divergence(bins.counts, first, last, levels);
    if (divergence < least) {
      least = divergence;
      best = edge;
    }
  }
  return best * bins.width;
}

// Of numbers clipped at `threshold` and rounded to its 1/steps.
double SquaredError(const Numbers& numbers, double threshold, int steps) {
  const double step = threshold / steps;
  double error = 0;
  for (const float x : numbers) {
    const double magnitude = std::fabs(double{x});
    const double difference = magnitude - std::min<double>(std::nearbyint(magnitude / step), steps) * step;
    error += difference * difference;
  }
  return error;
}

double ErrorThreshold(const Numbers& numbers, int steps) {
  const Bins bins = BinsOf(numbers);
  const std::vector<double> folded = Magnitudes(bins);
  double least = std::numeric_limits<double>::infinity();
  size_t best = 0;
  for (size_t edge = 1; edge <= folded.size(); ++edge) {
    const double step = static_cast<double>(edge) / steps;
    double error = 0;
    for (size_t i = 0; i < folded.size(); ++i) {
      const double middle = static_cast<double>(i) + 0.5;
      const double difference = middle - std::min<double>(std::nearbyint(middle / step), steps) * step;
      error += folded[i] * difference * difference;
    }
    if (error < least) {
      least = error;
      best = edge;
    }
  }
  return static_cast<double>(best) * bins.width;
}

double ErrorOfEnds(const Bins& bins, int low, int high, int steps) {
  const double step = static_cast<double>(high - low) / steps;
  const double zero = std::nearbyint(-low / step);
  double error = 0;
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    if (bins.counts[i] == 0) continue;
    const double middle = static_cast<double>(i) - bins.half + 0.5;
    const double q = std::clamp<double>(std::nearbyint(middle / step) + zero, 0, steps);
    const double difference = middle - (q - zero) * step;
    error += bins.counts[i] * difference * difference;
  }
  return error;
}

// --- Data

struct Data {
  std::string name;
  Numbers numbers;
};

std::vector<Data> TwoSided() {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(3);
  std::exponential_distribution<float> exponential;
  std::uniform_real_distribution<float> uniform(-1, 2);
  std::vector<Data> all = {{"normal", {}},   {"heavy", {}},  {"laplace", {}}, {"uniform", {}},
                           {"outliers", {}}, {"skewed", {}}, {"bimodal", {}}};
  for (int i = 0; i < 60000; ++i) {
    const float n = normal(random);
    all[0].numbers.push_back(n * 3);
    all[1].numbers.push_back(heavy(random));
    all[2].numbers.push_back(std::copysign(exponential(random), n));
    all[3].numbers.push_back(uniform(random));
    all[4].numbers.push_back(i % 5000 == 0 ? n * 60 : n);
    all[5].numbers.push_back(exponential(random) - 0.3f);
    all[6].numbers.push_back(i % 3 == 0 ? 0.5f * n - 2 : 0.3f * n + 3);
  }
  return all;
}

std::vector<Data> OneSided() {
  std::vector<Data> all = TwoSided();
  for (Data& data : all) {
    for (float& x : data.numbers) x = std::max(x, 0.0f);
  }
  return all;
}

TensorStatistics StatisticsOf(const Numbers& numbers, size_t batches = 7) {
  TensorStatistics statistics;
  for (size_t i = 0; i < batches; ++i) {
    const size_t first = numbers.size() * i / batches, last = numbers.size() * (i + 1) / batches;
    EXPECT_EQ(statistics.Add(std::span(numbers).subspan(first, last - first)), std::nullopt);
  }
  return statistics;
}

ValueRange RangeFor(const Numbers& numbers, Calibrator calibrator, DataType type, bool symmetric,
                    double percentile = 99.99) {
  const absl::StatusOr<ValueRange> range =
      MakeValueRange(StatisticsOf(numbers), {calibrator, {type, symmetric}, percentile});
  EXPECT_TRUE(range.ok()) << range.status();
  EXPECT_EQ(range->count, numbers.size());
  return *range;
}

constexpr DataType kU8 = DataType::kUInt8, kS8 = DataType::kInt8;

TEST(Calibrators, EntropyIsThatOfTheBook) {
  for (const Data& data : TwoSided()) {
    SCOPED_TRACE(data.name);
    const double width = BinsOf(data.numbers).width;
    const ValueRange symmetric = RangeFor(data.numbers, Calibrator::kEntropy, kS8, true);
    const double threshold = EntropyThreshold(data.numbers, 128);
    EXPECT_NEAR(symmetric.max, std::min<double>(threshold, symmetric.observed_max), 1.001 * width);
    EXPECT_NEAR(symmetric.min, std::max<double>(-threshold, symmetric.observed_min), 1.001 * width);
    const ValueRange ends = RangeFor(data.numbers, Calibrator::kEntropy, kU8, false);
    const double window = EntropyWindow(data.numbers, 256);
    EXPECT_NEAR(ends.max, std::min<double>(window, ends.observed_max), 1.001 * width);
    EXPECT_NEAR(ends.min, std::max<double>(-window, ends.observed_min), 1.001 * width);
  }
  for (const Data& data : OneSided()) {
    SCOPED_TRACE(data.name);
    const double width = BinsOf(data.numbers).width;
    const ValueRange range = RangeFor(data.numbers, Calibrator::kEntropy, kU8, false);
    EXPECT_EQ(range.min, 0);
    EXPECT_NEAR(range.max, std::min<double>(EntropyThreshold(data.numbers, 256), range.observed_max), 1.001 * width);
    const ValueRange fewer = RangeFor(data.numbers, Calibrator::kEntropy, kS8, true);
    EXPECT_NEAR(fewer.max, std::min<double>(EntropyThreshold(data.numbers, 128), range.observed_max), 1.001 * width);
  }
}

// One value alone is kept whole: no number of integers makes a clipped one better.
TEST(Calibrators, ConstantsAreThoseOfTheBook) {
  for (const float constant : {3.5f, -0.7f, 1e-30f, 1e30f}) {
    SCOPED_TRACE(constant);
    const Numbers numbers(5000, constant);
    for (const auto& [calibrator, threshold] : {std::pair(Calibrator::kEntropy, EntropyThreshold(numbers, 256)),
                                                std::pair(Calibrator::kMeanSquaredError, ErrorThreshold(numbers, 255))}) {
      const ValueRange range = RangeFor(numbers, calibrator, kU8, false);
      EXPECT_NEAR(constant > 0 ? range.max : -range.min, threshold, 1.001 * range.bin_width);
    }
  }
}

TEST(Calibrators, EntropyClipsOutliers) {
  Numbers numbers = TwoSided()[0].numbers;  // up to 13 or so
  numbers.push_back(1000);
  for (const DataType type : {kU8, kS8}) {
    const ValueRange range = RangeFor(numbers, Calibrator::kEntropy, type, true);
    EXPECT_EQ(range.observed_max, 1000);
    EXPECT_LE(range.max, 64);  // as many bins as there are integers
    EXPECT_GT(range.max, 10);
  }
}

TEST(Calibrators, MeanSquaredErrorIsThatOfTheBook) {
  for (const Data& data : TwoSided()) {
    SCOPED_TRACE(data.name);
    const ValueRange range = RangeFor(data.numbers, Calibrator::kMeanSquaredError, kS8, true);
    const double threshold = ErrorThreshold(data.numbers, 127);
    EXPECT_NEAR(range.max, std::min<double>(threshold, range.observed_max), 1.001 * range.bin_width);
    EXPECT_NEAR(range.min, std::max<double>(-threshold, range.observed_min), 1.001 * range.bin_width);
  }
  for (const Data& data : OneSided()) {
    SCOPED_TRACE(data.name);
    const ValueRange range = RangeFor(data.numbers, Calibrator::kMeanSquaredError, kU8, false);
    EXPECT_EQ(range.min, 0);
    EXPECT_NEAR(range.max, std::min<double>(ErrorThreshold(data.numbers, 255), range.observed_max),
                1.001 * range.bin_width);
  }
}

// How much bins hide of what the numbers themselves would say: the error over all numbers, against that of the best of
// many thresholds. Where outliers make bins wide, a step of 255 to the threshold has but two or three of them.
TEST(Calibrators, MeanSquaredErrorOfTheNumbersThemselves) {
  const auto check = [](const Data& data, DataType type, bool symmetric, int steps, double limit) {
    SCOPED_TRACE(data.name);
    const TensorStatistics statistics = StatisticsOf(data.numbers);
    const Range range = ChooseRange(statistics, {Calibrator::kMeanSquaredError, {type, symmetric}}).value();
    const double most = std::max<double>(-statistics.min(), statistics.max());
    double least = std::numeric_limits<double>::infinity();
    for (int i = 1; i <= 250; ++i) least = std::min(least, SquaredError(data.numbers, most * i / 250, steps));
    EXPECT_LE(SquaredError(data.numbers, std::max(-range.min, range.max), steps), limit * least);
  };
  for (const Data& data : TwoSided()) check(data, kS8, true, 127, 1.005);
  for (const Data& data : OneSided()) check(data, kU8, false, 255, data.name == "outliers" ? 1.05 : 1.01);
}

// Neither end can be moved to a bin's edge with less error, and the error is less than that of everything seen.
TEST(Calibrators, MeanSquaredErrorByEnds) {
  for (const Data& data : TwoSided()) {
    SCOPED_TRACE(data.name);
    const Bins bins = BinsOf(data.numbers);
    const TensorStatistics statistics = StatisticsOf(data.numbers);
    const Range range = ChooseRange(statistics, {Calibrator::kMeanSquaredError, {kU8, false}}).value();
    const int low = static_cast<int>(std::floor(range.min / bins.width));
    const int high = static_cast<int>(std::ceil(range.max / bins.width));
    const int lowest = static_cast<int>(std::floor(statistics.min() / bins.width));
    const int highest = static_cast<int>(std::ceil(statistics.max() / bins.width));
    const double error = ErrorOfEnds(bins, low, high, 255) * (1 - 1e-9);
    EXPECT_LE(error, ErrorOfEnds(bins, lowest, highest, 255));
    for (int edge = 0; edge <= highest; edge += 16) EXPECT_LE(error, ErrorOfEnds(bins, low, edge, 255)) << edge;
    for (int edge = 0; edge >= lowest; edge -= 16) EXPECT_LE(error, ErrorOfEnds(bins, edge, high, 255)) << edge;
  }
}

// The ends that are found one after the other are about as good as the best pair of a search of all pairs.
TEST(Calibrators, MeanSquaredErrorByEndsAgainstAllPairs) {
  constexpr int kStride = 32;  // of edges
  for (const Data& data : TwoSided()) {
    SCOPED_TRACE(data.name);
    const Bins bins = BinsOf(data.numbers);
    const TensorStatistics statistics = StatisticsOf(data.numbers);
    const Range range = ChooseRange(statistics, {Calibrator::kMeanSquaredError, {kU8, false}}).value();
    const int low = static_cast<int>(std::floor(range.min / bins.width));
    const int high = static_cast<int>(std::ceil(range.max / bins.width));
    const int lowest = static_cast<int>(std::floor(statistics.min() / bins.width));
    const int highest = static_cast<int>(std::ceil(statistics.max() / bins.width));
    double least = std::numeric_limits<double>::infinity();
    for (int first = 0; first >= lowest; first -= kStride) {
      for (int last = first == 0 ? kStride : 0; last <= highest; last += kStride) {
        least = std::min(least, ErrorOfEnds(bins, first, last, 255));
      }
    }
    EXPECT_LE(ErrorOfEnds(bins, low, high, 255), 1.01 * least);
  }
}

TEST(Calibrators, PercentileInterpolates) {
  for (const Data& data : TwoSided()) {
    SCOPED_TRACE(data.name);
    Numbers sorted = data.numbers;
    std::ranges::sort(sorted);
    const double count = static_cast<double>(sorted.size());
    for (const double percentile : {90.0, 99.0, 99.9}) {
      const ValueRange ends = RangeFor(data.numbers, Calibrator::kPercentile, kU8, false, percentile);
      const double cut = (100 - percentile) / 200;
      // The number with so many below it, and its neighbours: where there are few, they lie far apart.
      const size_t low = static_cast<size_t>(std::lround(cut * count)), high = sorted.size() - low;
      EXPECT_GE(ends.min, sorted[low - 1] - 1.001 * ends.bin_width);
      EXPECT_LE(ends.min, sorted[low] + 1.001 * ends.bin_width);
      EXPECT_GE(ends.max, sorted[high - 1] - 1.001 * ends.bin_width);
      EXPECT_LE(ends.max, sorted[high] + 1.001 * ends.bin_width);
    }
    for (float& x : sorted) x = std::fabs(x);
    std::ranges::sort(sorted);
    const ValueRange symmetric = RangeFor(data.numbers, Calibrator::kPercentile, kS8, true, 99);
    EXPECT_NEAR(std::max(symmetric.max, -symmetric.min), sorted[static_cast<size_t>(0.99 * count)],
                1.001 * symmetric.bin_width);
    const ValueRange all = RangeFor(data.numbers, Calibrator::kPercentile, kS8, true, 100);
    EXPECT_EQ(all.min, all.observed_min);
    EXPECT_EQ(all.max, all.observed_max);
  }
  // Between the edges of one bin: 1000 numbers spread over [1, 1 + 1/1024).
  Numbers numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(1 + static_cast<float>(i) / (1000 * 1024));
  const ValueRange range = RangeFor(numbers, Calibrator::kPercentile, kU8, false, 60);
  EXPECT_EQ(range.bin_width, 1.0 / 1024);
  EXPECT_NEAR(range.max, 1 + 0.6 / 1024, 1e-5);
}

}  // namespace
}  // namespace halftone
