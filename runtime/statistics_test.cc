#include "runtime/statistics.h"

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

// Lognormal noise and a drift that both variants share: the interval holds the true ratio about 19 times of 20.
TEST(StatisticsTest, IntervalCoversTheTruth) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.02);
  constexpr int kTrials = 400, kRounds = 20;
  constexpr double kTruth = 0.6;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> baseline, variant;
    for (int round = 0; round < kRounds; ++round) {
      const double drift = 1 + 0.02 * round;
      baseline.push_back(10 * drift * std::exp(noise(random)));
      variant.push_back(10 * kTruth * drift * std::exp(noise(random)));
    }
    const auto estimate = CompareRounds(baseline, variant, static_cast<uint32_t>(trial), 500);
    if (estimate->interval.low <= kTruth && kTruth <= estimate->interval.high) ++covered;
  }
  EXPECT_GT(covered, kTrials * 90 / 100);
  EXPECT_LT(covered, kTrials * 99 / 100);
}

}  // namespace
}  // namespace halftone
