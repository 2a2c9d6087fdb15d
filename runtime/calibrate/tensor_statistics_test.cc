// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/tensor_statistics.h"

#include <omp.h>

#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

std::vector<float> Normal(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.5f, 2.0f);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

TEST(TensorStatistics, CountsAreElementsTimesSamples) {
  TensorStatistics statistics;
  const std::vector<float> numbers = Normal(70001, 1);
  for (int batch = 0; batch < 5; ++batch) EXPECT_EQ(statistics.Add(numbers), std::nullopt);
  EXPECT_EQ(statistics.count(), 5 * numbers.size());
  EXPECT_EQ(statistics.batches(), 5);
  EXPECT_EQ(statistics.min(), *std::ranges::min_element(numbers));
  EXPECT_EQ(statistics.max(), *std::ranges::max_element(numbers));
  EXPECT_EQ(statistics.last_widening(), 0);
  EXPECT_TRUE(statistics.ChannelMagnitudes().empty());
}

// The same histogram in any layout; channels as the layout says, also where a value is longer than what is looked
// at at once.
TEST(TensorStatistics, ChannelsInEveryLayout) {
  const ChannelLayout layouts[] = {{6, 49, 1},     {32, 5000, 16}, {24, 4000, 8}, {96, 900, 96}, {17, 1, 1},
                                   {3, 100000, 3}, {2, 70000, 1},  {4096, 1, 1},  {32, 25, 16},  {1, 9, 1}};
  for (const ChannelLayout& layout : layouts) {
    SCOPED_TRACE(testing::Message() << layout.channels << " " << layout.inner << " " << layout.block);
    const int64_t images = 2;
    std::vector<float> numbers = Normal(images * layout.channels * layout.inner, 3);
    std::vector<float> expected(layout.channels, 0.0f);
    std::vector<double> sums(layout.channels, 0.0);
    for (size_t i = 0; i < numbers.size(); ++i) {
      // Channel 1 never fires, others but little.
      const int64_t channel = layout.ChannelOf(static_cast<int64_t>(i));
      ASSERT_LT(channel, layout.channels);
      if (channel == 1) numbers[i] = i % 2 == 0 ? 0.0f : -0.0f;
      expected[channel] = std::max(expected[channel], std::fabs(numbers[i]));
      sums[channel] += numbers[i];
    }
    TensorStatistics statistics, plain;
    ASSERT_EQ(statistics.Add(numbers, layout), std::nullopt);
    ASSERT_EQ(plain.Add(numbers), std::nullopt);
    EXPECT_EQ(statistics.ChannelMagnitudes(), expected);
    const std::vector<float> means = statistics.ChannelMeans();
    if (layout.channels > TensorStatistics::kMostMeans) {
      EXPECT_TRUE(means.empty());
    } else {
      ASSERT_EQ(means.size(), sums.size());
      for (size_t c = 0; c < means.size(); ++c)
        EXPECT_NEAR(means[c], sums[c] / static_cast<double>(images * layout.inner), 2e-5) << c;
    }
    EXPECT_EQ(statistics.histogram(), plain.histogram());
    EXPECT_EQ(statistics.count(), numbers.size());
    EXPECT_LE(statistics.MemoryBytes(), TensorStatistics::kMostBytes);
  }
}

// Extremes of one sign or both, and what is not finite, wherever they lie in every layout.
TEST(TensorStatistics, ExtremesInEveryLayout) {
  const ChannelLayout layouts[] = {{},           {6, 49, 1},   {2, 70000, 1}, {32, 500, 16}, {24, 400, 8},
                                   {27, 90, 27}, {3, 3000, 3}, {13, 3, 13},   {900, 1, 1},   {1, 1, 1}};
  for (const ChannelLayout& layout : layouts) {
    for (const float sign : {-1.0f, 0.0f, 1.0f}) {
      SCOPED_TRACE(testing::Message() << layout.channels << " " << layout.inner << " " << layout.block << " " << sign);
      std::vector<float> numbers = Normal(layout.channels == 0 ? 5003 : 3 * layout.channels * layout.inner, 4);
      for (float& number : numbers) {
        if (sign != 0) number = std::copysign(std::fabs(number) + 0.25f, sign);
      }
      for (const size_t at : {size_t{0}, numbers.size() / 2, numbers.size() - 1}) {
        std::vector<float> these = numbers;
        these[at] *= 100;
        TensorStatistics statistics;
        ASSERT_EQ(statistics.Add(these, layout), std::nullopt);
        EXPECT_EQ(statistics.min(), *std::ranges::min_element(these));
        EXPECT_EQ(statistics.max(), *std::ranges::max_element(these));
        for (const float bad : {std::nanf(""), -std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
          these[at] = bad;
          EXPECT_EQ(TensorStatistics().Add(these, layout), static_cast<int64_t>(at)) << bad;
        }
      }
    }
  }
}

// Sums of f32 are exactly those of plain loops: of 64 K numbers, in their order, but sixteen in turn for numbers of one
// channel side by side.
TEST(TensorStatistics, SumsAreInOrder) {
  constexpr int64_t kLanes = 16, kPiece = 64 << 10;
  const ChannelLayout layouts[] = {{3, 30000, 1}, {6, 49, 1},     {32, 5000, 16},
                                   {24, 4000, 8}, {27, 9000, 27}, {3, 100, 3}};
  for (const ChannelLayout& layout : layouts) {
    SCOPED_TRACE(testing::Message() << layout.channels << " " << layout.inner << " " << layout.block);
    const std::vector<float> numbers = Normal(layout.channels * layout.inner, 6);
    const int64_t count = static_cast<int64_t>(numbers.size()), piece = kPiece / layout.block * layout.block;
    std::vector<double> totals(layout.channels, 0.0);
    for (int64_t first = 0; first < count; first += piece) {
      const int64_t end = std::min(first + piece, count);
      std::vector<float> sums(layout.channels, 0.0f);
      for (int64_t at = first, stop = 0; at < end; at = stop) {
        stop = std::min(layout.block == 1 ? (at / layout.inner + 1) * layout.inner : at + 1, end);
        float lanes[kLanes] = {};
        for (int64_t i = at; i < stop; ++i) lanes[(i - at) % kLanes] += numbers[i];
        for (const float lane : lanes) sums[layout.ChannelOf(at)] += lane;
      }
      for (int64_t c = 0; c < layout.channels; ++c) totals[c] += sums[c];
    }
    std::vector<float> expected;
    for (const double total : totals) expected.push_back(static_cast<float>(total / static_cast<double>(layout.inner)));
    TensorStatistics statistics;
    ASSERT_EQ(statistics.Add(numbers, layout), std::nullopt);
    EXPECT_EQ(statistics.ChannelMeans(), expected);
  }
}

TEST(TensorStatistics, BatchesOfOtherChannelsAreNotToldApart) {
  TensorStatistics statistics;
  ASSERT_EQ(statistics.Add(Normal(12, 1), {.channels = 3, .inner = 4}), std::nullopt);
  EXPECT_EQ(statistics.ChannelMagnitudes().size(), 3);
  ASSERT_EQ(statistics.Add({}, {.channels = 5, .inner = 0}), std::nullopt);
  EXPECT_EQ(statistics.ChannelMagnitudes().size(), 3);
  ASSERT_EQ(statistics.Add(Normal(12, 1), {.channels = 4, .inner = 3}), std::nullopt);
  EXPECT_TRUE(statistics.ChannelMagnitudes().empty());
  ASSERT_EQ(statistics.Add(Normal(12, 1), {.channels = 3, .inner = 4}), std::nullopt);
  EXPECT_TRUE(statistics.ChannelMagnitudes().empty());
  EXPECT_EQ(statistics.count(), 36);
  EXPECT_EQ(statistics.batches(), 4);
}

TEST(TensorStatistics, TooManyChannelsAreNotTold) {
  TensorStatistics statistics;
  ASSERT_EQ(statistics.Add(Normal(5000, 1), {.channels = 5000}), std::nullopt);
  EXPECT_TRUE(statistics.ChannelMagnitudes().empty());
  EXPECT_LE(statistics.MemoryBytes(), TensorStatistics::kMostBytes);
}

TEST(TensorStatistics, NamesTheFirstNumberThatIsNotFinite) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, -nan, inf, -inf}) {
    for (const int64_t at : {0, 77, 65536, 99999}) {
      std::vector<float> numbers = Normal(100000, 2);
      numbers[at] = bad;
      numbers.back() = bad;
      TensorStatistics statistics;
      EXPECT_EQ(statistics.Add(numbers), at);
    }
  }
}

TEST(TensorStatistics, AveragesAndWidening) {
  TensorStatistics statistics;
  ASSERT_EQ(statistics.Add(std::vector<float>{-1, 2}), std::nullopt);
  ASSERT_EQ(statistics.Add(std::vector<float>{-3, 4}), std::nullopt);
  EXPECT_NEAR(statistics.average_min(), -1.02, 1e-12);
  EXPECT_NEAR(statistics.average_max(), 2.02, 1e-12);
  EXPECT_EQ(statistics.last_widening(), 1);
  ASSERT_EQ(statistics.Add(std::vector<float>{0, 4.01f}), std::nullopt);  // by less than a hundredth
  EXPECT_EQ(statistics.last_widening(), 1);
  ASSERT_EQ(statistics.Add(std::vector<float>{-4, 0}), std::nullopt);
  EXPECT_EQ(statistics.last_widening(), 3);
  ASSERT_EQ(statistics.Add({}), std::nullopt);
  EXPECT_EQ(statistics.batches(), 5);
}

// Counts and channels of threads add up; the first bad number is named whoever found one.
TEST(TensorStatistics, AnyNumberOfThreads) {
  const ChannelLayout layout{48, 9000, 16};
  std::vector<float> numbers = Normal(2 * 48 * 9000, 5);
  numbers[700000] = 1e5f;
  std::vector<TensorStatistics> all(4);
  const int before = omp_get_max_threads();
  for (int threads = 1; threads <= 4; ++threads) {
    omp_set_num_threads(threads);
    TensorStatistics& statistics = all[threads - 1];
    for (int batch = 0; batch < 3; ++batch) ASSERT_EQ(statistics.Add(numbers, layout), std::nullopt);
    EXPECT_EQ(statistics.histogram(), all[0].histogram()) << threads;
    EXPECT_EQ(statistics.ChannelMagnitudes(), all[0].ChannelMagnitudes()) << threads;
    EXPECT_EQ(statistics.ChannelMeans(), all[0].ChannelMeans()) << threads;
    EXPECT_EQ(statistics.average_max(), all[0].average_max()) << threads;
    std::vector<float> bad = numbers;
    for (const int64_t at : {800000, 300000, 500000}) bad[at] = std::nanf("");
    EXPECT_EQ(TensorStatistics().Add(bad, layout), 300000) << threads;
  }
  omp_set_num_threads(before);
  EXPECT_EQ(all[0].count(), 3 * numbers.size());
}

// Every number counts the same, however large its batch was.
TEST(TensorStatistics, MeansOfBatches) {
  TensorStatistics statistics;
  ASSERT_EQ(statistics.Add(std::vector<float>{1, 2, 30, 40}, {.channels = 2, .inner = 2}), std::nullopt);
  EXPECT_EQ(statistics.ChannelMeans(), (std::vector<float>{1.5f, 35}));
  ASSERT_EQ(statistics.Add(std::vector<float>{-6, -60}, {.channels = 2, .inner = 1}), std::nullopt);
  EXPECT_NEAR(statistics.ChannelMeans()[0], -1, 1e-6);
  EXPECT_NEAR(statistics.ChannelMeans()[1], 10.0 / 3, 1e-6);
  ASSERT_EQ(statistics.Add({}, {.channels = 2, .inner = 0}), std::nullopt);
  EXPECT_NEAR(statistics.ChannelMeans()[0], -1, 1e-6);
  ASSERT_EQ(statistics.Add(Normal(12, 1), {.channels = 4, .inner = 3}), std::nullopt);
  EXPECT_TRUE(statistics.ChannelMeans().empty());
}

TEST(TensorStatistics, MeansThatAreNoNumbersAreNotKnown) {
  TensorStatistics statistics;
  const std::vector<float> large(64, std::numeric_limits<float>::max());
  ASSERT_EQ(statistics.Add(large, {.channels = 2, .inner = 32}), std::nullopt);
  EXPECT_EQ(statistics.ChannelMagnitudes().size(), 2);
  EXPECT_TRUE(statistics.ChannelMeans().empty());
  ASSERT_EQ(statistics.Add(Normal(4, 1), {.channels = 2, .inner = 2}), std::nullopt);
  EXPECT_TRUE(statistics.ChannelMeans().empty());
}

TEST(TensorStatistics, NothingSeen) {
  TensorStatistics statistics;
  EXPECT_EQ(statistics.min(), 0);
  EXPECT_EQ(statistics.max(), 0);
  EXPECT_EQ(statistics.last_widening(), -1);
}

}  // namespace
}  // namespace halftone
