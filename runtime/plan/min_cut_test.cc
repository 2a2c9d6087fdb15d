// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/min_cut.h"

#include <random>

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(TwoLabelsTest, EachTakesTheCheaperWhereNothingTies) {
  const std::vector<LabelPrices> prices = {{1, 2}, {2, 1}, {3, 3}};
  EXPECT_EQ(CheapestLabels(prices, {}), (std::vector<bool>{false, true, false}));
}

TEST(TwoLabelsTest, ASmallGainIsNotWorthAnEdge) {
  const std::vector<LabelPrices> prices = {{1, 5}, {3, 2}, {1, 5}};
  const std::vector<LabelEdge> dear = {{0, 1, 0.7}, {1, 2, 0.7}}, cheap = {{0, 1, 0.4}, {1, 2, 0.4}};
  EXPECT_EQ(CheapestLabels(prices, dear), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(CheapestLabels(prices, cheap), (std::vector<bool>{false, true, false}));
}

TEST(TwoLabelsTest, AsCheapAsTheBestOfAll) {
  std::mt19937 random(3);
  const auto price = [&] { return static_cast<double>(random() % 100); };
  for (int trial = 0; trial < 200; ++trial) {
    const int count = 1 + static_cast<int>(random() % 9);
    std::vector<LabelPrices> prices;
    std::vector<LabelEdge> edges;
    for (int i = 0; i < count; ++i) prices.push_back({price(), price()});
    for (int i = 0; i < 2 * count; ++i)
      edges.push_back({static_cast<int>(random() % count), static_cast<int>(random() % count), price() / 4});
    double best = 1e9;
    for (int bits = 0; bits < 1 << count; ++bits) {
      std::vector<bool> labels;
      for (int i = 0; i < count; ++i) labels.push_back((bits >> i & 1) != 0);
      best = std::min(best, PriceOf(prices, edges, labels));
    }
    EXPECT_DOUBLE_EQ(PriceOf(prices, edges, CheapestLabels(prices, edges)), best);
  }
}

TEST(TwoLabelsTest, ALongChainIsFast) {
  std::mt19937 random(5);
  std::vector<LabelPrices> prices;
  std::vector<LabelEdge> edges;
  for (int i = 0; i < 100'000; ++i) {
    prices.push_back({static_cast<double>(random() % 100), static_cast<double>(random() % 100)});
    if (i > 0) edges.push_back({i - 1, i, static_cast<double>(random() % 100)});
  }
  EXPECT_EQ(CheapestLabels(prices, edges).size(), prices.size());
}

}  // namespace
}  // namespace halftone
