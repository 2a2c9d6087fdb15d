// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/statistics.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(StatisticsTest, MedianOfOddAndEvenNumbers) {
  EXPECT_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median(std::vector<double>{7}), 7);
  EXPECT_EQ(MedianAbsoluteDeviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_NEAR(GeometricMean(std::vector<double>{0.5, 2, 4}), std::cbrt(4.0), 1e-12);
}

// The numbers that MLPerf's early stopping gives; 662 is also its multi-stream minimum.
TEST(StatisticsTest, MinimumSamplesForAPercentileWith99PercentConfidence) {
  struct Row {
    double percentile;
    int64_t none_over, one_over;
  };
  for (const Row& row : {Row{0.90, 44, 64}, {0.95, 90, 130}, {0.99, 459, 662}, {0.999, 4603, 6636}}) {
    EXPECT_EQ(MinimumSamples(row.percentile, 0), row.none_over) << row.percentile;
    EXPECT_EQ(MinimumSamples(row.percentile, 1), row.one_over) << row.percentile;
  }
}

TEST(StatisticsTest, PercentileOnlyWithEnoughSamples) {
  std::vector<double> samples;
  for (int i = 63; i >= 1; --i) samples.push_back(i);
  EXPECT_EQ(Percentile(samples, 0.90), std::nullopt);
  samples.push_back(64);
  EXPECT_EQ(Percentile(samples, 0.90), 58);  // rank ceil(57.6)
  EXPECT_EQ(Percentile(samples, 0.99), std::nullopt);
  for (int i = 65; i <= 1000; ++i) samples.push_back(i);
  EXPECT_EQ(Percentile(samples, 0.90), 900);
  EXPECT_EQ(Percentile(samples, 0.99), 990);
}

TEST(StatisticsTest, RatioOfConstantRoundsIsExact) {
  const auto estimate = CompareRounds(std::vector<double>{10, 20, 30}, std::vector<double>{5, 10, 15}, 1);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->ratio, 0.5);  // a slow round is slow for both
  EXPECT_EQ(estimate->interval.low, 0.5);
  EXPECT_EQ(estimate->interval.high, 0.5);
  EXPECT_EQ(estimate->rounds, 3);
}

TEST(StatisticsTest, RatioNeedsThreePairs) {
  EXPECT_FALSE(CompareRounds(std::vector<double>{1, 2}, std::vector<double>{1, 2}, 1).has_value());
  EXPECT_FALSE(CompareRounds(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2}, 1).has_value());
}

TEST(StatisticsTest, IntervalIsDeterministicInItsSeed) {
  const std::vector<double> baseline = {10, 11, 9, 10.5, 9.7}, variant = {5, 6, 4.4, 5.1, 5.2};
  const auto a = CompareRounds(baseline, variant, 7), b = CompareRounds(baseline, variant, 7);
  EXPECT_EQ(a->interval.low, b->interval.low);
  EXPECT_EQ(a->interval.high, b->interval.high);
  EXPECT_LT(a->interval.low, a->ratio);
  EXPECT_GT(a->interval.high, a->ratio);
}

// P(Binomial(n, p) <= k) by the recurrence of its terms, in another order and precision than the code under test.
long double ExactAtMost(int k, int64_t n, long double p) {
  long double term = std::pow(1 - p, static_cast<long double>(n));
  long double sum = term;
  for (int i = 0; i < k; ++i) {
    term *= (static_cast<long double>(n - i) / (i + 1)) * (p / (1 - p));
    sum += term;
  }
  return sum;
}

// F-5: 20 percentiles x 5 confidences x 10 numbers of samples over the bound.
TEST(StatisticsTest, MinimumSamplesIsTheExactBinomials) {
  int cases = 0;
  for (int i = 0; i < 20; ++i) {
    const double percentile = 1 - 0.5 * std::pow(0.65, i);  // 0.5 .. 0.99986
    for (const double confidence : {0.8, 0.9, 0.95, 0.99, 0.999}) {
      for (int over = 0; over < 10; ++over) {
        const int64_t n = MinimumSamples(percentile, over, confidence);
        EXPECT_LE(ExactAtMost(over, n, 1 - percentile), 1 - confidence)
            << percentile << " " << confidence << " " << over;
        if (n > over + 1) {
          EXPECT_GT(ExactAtMost(over, n - 1, 1 - percentile), 1 - confidence) << n;
        }
        ++cases;
      }
    }
  }
  EXPECT_EQ(cases, 1000);
}

// F-6: lognormal noise and a drift that both variants share: of 1000 intervals, 950 +- 20 hold the true ratio.
TEST(StatisticsTest, IntervalCoversTheTruth) {
  constexpr int kTrials = 1000;
  constexpr double kTruth = 0.6;
  for (const int rounds : {10, 20}) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 0.02);
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> baseline, variant;
      for (int round = 0; round < rounds; ++round) {
        const double drift = 1 + 0.02 * round;
        baseline.push_back(10 * drift * std::exp(noise(random)));
        variant.push_back(10 * kTruth * drift * std::exp(noise(random)));
      }
      const auto estimate = CompareRounds(baseline, variant, static_cast<uint32_t>(trial), 2000);
      if (estimate->interval.low <= kTruth && kTruth <= estimate->interval.high) ++covered;
    }
    EXPECT_GE(covered, 930) << rounds << " rounds";
    EXPECT_LE(covered, 970) << rounds << " rounds";
  }
}

TEST(StatisticsTest, RunsOfTwoDaysAreComparedWithoutPairs) {
  const std::vector<double> monday = {10, 11, 9, 10.5, 9.7}, friday = {20, 19, 21};
  const auto estimate = CompareRuns(monday, friday, 7);
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->ratio, 2);
  EXPECT_EQ(estimate->rounds, 3);
  EXPECT_LT(estimate->interval.low, 2);
  EXPECT_GT(estimate->interval.high, 2);
  EXPECT_EQ(estimate->interval.low, CompareRuns(monday, friday, 7)->interval.low);
  EXPECT_FALSE(CompareRuns(monday, std::vector<double>{1, 2}, 7).has_value());
}

TEST(StatisticsTest, TheIntervalDecides) {
  EXPECT_EQ(Judge({0.5, 0.98}), Verdict::kFaster);
  EXPECT_EQ(Judge({0.5, 0.99}), Verdict::kUndecided) << "the high end is not 2 % faster";
  EXPECT_EQ(Judge({1.03, 1.9}), Verdict::kSlower);
  EXPECT_EQ(Judge({1.01, 1.9}), Verdict::kUndecided);
  EXPECT_EQ(Judge({0.99, 1.015}), Verdict::kSame);
  EXPECT_EQ(Judge({0.7, 1.4}), Verdict::kUndecided);
}

TEST(WidenedByNoise, ByWhatTheSelfCheckShows) {
  EXPECT_EQ(NoiseFactor({0.999, 1.001}), 1 / 0.999);
  EXPECT_EQ(NoiseFactor({0.8, 1.1}), 1.25);
  EXPECT_EQ(NoiseFactor({1.01, 1.04}), 1.04);
  const Interval wide = WidenedByNoise({0.5, 0.6}, {0.8, 1.1});
  EXPECT_DOUBLE_EQ(wide.low, 0.4);
  EXPECT_DOUBLE_EQ(wide.high, 0.75);
  EXPECT_EQ(Judge(wide), Verdict::kFaster);
  EXPECT_EQ(Judge(WidenedByNoise({0.7, 0.9}, {0.8, 1.1})), Verdict::kUndecided);
}

}  // namespace
}  // namespace halftone
