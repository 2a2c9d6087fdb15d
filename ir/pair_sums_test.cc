// SPDX-License-Identifier: Apache-2.0
#include "ir/pair_sums.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace halftone {
namespace {

// [O, I, taps]
WeightChannels Oihw(int64_t outputs, int64_t inputs, int64_t taps) {
  return {.outputs = outputs,
          .inputs = inputs,
          .taps = taps,
          .groups = 1,
          .group_stride = outputs * inputs * taps,
          .output_stride = inputs * taps,
          .input_stride = taps,
          .tap_stride = 1};
}

TEST(PairSums, EndsOf16Bits) {
  struct Row {
    std::vector<int8_t> weights;
    bool fit;
    int32_t most, least;
  };
  const Row rows[] = {
      {{64, 64}, true, 255 * 128, 0},              // 32640
      {{65, 64}, false, 255 * 129, 0},             // 32895
      {{-64, -64}, true, 0, -255 * 128},           // -32640
      {{-65, -64}, false, 0, -255 * 129},          // -32895
      {{127, -127}, true, 255 * 127, -255 * 127},  // one byte may be 0, both signs never add up
      {{127, 1}, true, 255 * 128, 0},
      {{127, 2}, false, 255 * 129, 0},
      {{0, 0}, true, 0, 0},
      {{127, -5, 127}, true, 255 * 127, -255 * 5},  // the large ones are no neighbours
  };
  for (const Row& row : rows) {
    const PairSums sums = PairSumsOf(row.weights, Oihw(1, static_cast<int64_t>(row.weights.size()), 1));
    EXPECT_EQ(sums.fit(), row.fit) << int{row.weights[0]};
    EXPECT_EQ(sums.most, row.most) << int{row.weights[0]};
    EXPECT_EQ(sums.least, row.least) << int{row.weights[0]};
    EXPECT_EQ(sums.worst_output, 0);
  }
}

// Neighbours along taps, and across the end of a tap's channels, are pairs too; those of other output channels are not.
TEST(PairSums, EveryOrderOfTheReducedDimension) {
  const std::vector<int8_t> taps = {100, 100};
  EXPECT_FALSE(PairSumsOf(taps, Oihw(1, 1, 2)).fit());
  EXPECT_TRUE(PairSumsOf(taps, Oihw(2, 1, 1)).fit());
  // [1, 3, 2]: the last channel of tap 0 and the first one of tap 1.
  const std::vector<int8_t> across = {0, 100, 0, 0, 100, 0};
  EXPECT_FALSE(PairSumsOf(across, Oihw(1, 3, 2)).fit());
  const std::vector<int8_t> apart = {100, 0, 0, 0, 0, 100};
  EXPECT_TRUE(PairSumsOf(apart, Oihw(1, 3, 2)).fit());
  const std::vector<int8_t> second = {1, 2, 100, 100};
  EXPECT_EQ(PairSumsOf(second, Oihw(2, 2, 1)).worst_output, 1);
}

TEST(PairSums, DepthwiseAddsNoPairs) {
  WeightChannels depthwise = Oihw(2, 1, 2);
  depthwise.inputs = depthwise.groups = 2;
  depthwise.group_stride = 2;
  const PairSums sums = PairSumsOf(std::vector<int8_t>{127, 127, 127, 127}, depthwise);
  EXPECT_TRUE(sums.fit());
  EXPECT_EQ(sums.worst_output, -1);
}

// Two results of each channel: four outputs, two taps each.
TEST(PairSums, SeveralResultsOfOneChannelPairTaps) {
  WeightChannels multiplied = Oihw(4, 1, 2);
  multiplied.inputs = multiplied.groups = 2;
  multiplied.group_stride = 4;
  EXPECT_FALSE(PairSumsOf(std::vector<int8_t>{1, 1, 127, 127, 1, 1, 1, 1}, multiplied).fit());
  EXPECT_TRUE(PairSumsOf(std::vector<int8_t>{1, 1, 64, 64, 1, 1, 1, 1}, multiplied).fit());
}

TEST(PairSums, AnyTwo) {
  EXPECT_FALSE(PairSumsOfAny(std::vector<int8_t>{100, 0, -3, 100}).fit());
  EXPECT_FALSE(PairSumsOfAny(std::vector<int8_t>{-100, 0, 3, -100}).fit());
  EXPECT_TRUE(PairSumsOfAny(std::vector<int8_t>{127, -128}).fit());
  EXPECT_TRUE(PairSumsOfAny(std::vector<int8_t>{64, 64, -64, -64, 3}).fit());
  EXPECT_TRUE(PairSumsOfAny(std::vector<int8_t>{127}).fit());
  EXPECT_TRUE(PairSumsOfAny({}).fit());
}

// No two bytes make a sum beyond what is said, and the worst ones reach it.
TEST(PairSums, AgainstAllBytes) {
  std::mt19937 random(6);
  std::uniform_int_distribution<int> weight(-127, 127);
  for (int round = 0; round < 200; ++round) {
    const std::vector<int8_t> pair = {static_cast<int8_t>(weight(random)), static_cast<int8_t>(weight(random))};
    int most = INT32_MIN, least = INT32_MAX;
    for (const int a : {0, 1, 128, 255}) {
      for (const int b : {0, 77, 255}) {
        most = std::max(most, a * pair[0] + b * pair[1]);
        least = std::min(least, a * pair[0] + b * pair[1]);
      }
    }
    const PairSums sums = PairSumsOf(pair, Oihw(1, 2, 1));
    EXPECT_EQ(sums.most, most);
    EXPECT_EQ(sums.least, least);
  }
}

}  // namespace
}  // namespace halftone
