// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

constexpr float kHuge = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

// Bins by arithmetic in f64, of the smallest width at which everything falls inside: index counted from zero outwards,
// negative ones for numbers below zero (-1: (-width, 0)).
struct Direct {
  int exponent = 0;
  std::map<int, uint64_t> counts;
  uint64_t zeros = 0;
};

Direct DirectBins(const std::vector<float>& numbers) {
  Direct direct;
  direct.exponent = -126;
  for (const float number : numbers) {
    while (std::floor(std::fabs(double{number}) / std::pow(2.0, direct.exponent)) >= 2048) ++direct.exponent;
  }
  for (const float number : numbers) {
    const int out = static_cast<int>(std::floor(std::fabs(double{number}) / std::pow(2.0, direct.exponent)));
    ++direct.counts[number < 0 ? -1 - out : out];
    if (number == 0) ++direct.zeros;
  }
  return direct;
}

void ExpectDirect(const Histogram& histogram, const std::vector<float>& numbers) {
  const Direct direct = DirectBins(numbers);
  EXPECT_EQ(histogram.exponent(), direct.exponent);
  EXPECT_EQ(histogram.total(), numbers.size());
  EXPECT_EQ(histogram.zeros(), direct.zeros);
  std::map<int, uint64_t> counts;
  uint64_t total = 0;
  for (int i = 0; i < Histogram::kBins; ++i) {
    if (histogram.counts()[i] > 0) counts[i - Histogram::kZeroBin] = histogram.counts()[i];
    total += histogram.counts()[i];
  }
  EXPECT_EQ(counts, direct.counts);
  EXPECT_EQ(total, numbers.size());
}

enum class Kind { kNormal, kRelu, kWide, kDenormal, kHuge, kZeros, kConstant, kGrowing, kMixed, kNumKinds };

std::vector<float> Numbers(Kind kind, int count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> exponent(-44.8f, 38.5f);
  std::uniform_int_distribution<uint32_t> bits(1, 0x7fffff);
  std::vector<float> numbers(count);
  for (int i = 0; i < count; ++i) {
    const float n = normal(random);
    const float sign = n < 0 ? -1.0f : 1.0f;
    float& number = numbers[i];
    switch (kind) {
      case Kind::kRelu:
        number = std::max(n, 0.0f);
        break;
      case Kind::kWide:
        number = sign * std::pow(10.0f, exponent(random));
        break;
      case Kind::kDenormal:
        number = sign * kTiny * static_cast<float>(bits(random));
        break;
      case Kind::kHuge:
        number = sign * kHuge * std::exp2(-std::fabs(n));
        break;
      case Kind::kZeros:
        number = sign * 0.0f;
        break;
      case Kind::kConstant:
        number = -0.75f;
        break;
      case Kind::kGrowing:
        number = n * std::exp2(static_cast<float>(i) * 100 / static_cast<float>(count) - 60);
        break;
      case Kind::kMixed:
        number = i % 3 == 0 ? 0.0f : i % 7 == 0 ? -kTiny : n * 8;
        break;
      default:
        number = n;
    }
    if (!std::isfinite(number)) number = kHuge;
  }
  return numbers;
}

// Random streams, orders and pieces: always what direct binning gives.
TEST(Histogram, EqualsDirectBinningAtTheFinalWidth) {
  std::mt19937 random(1);
  for (int kind = 0; kind < static_cast<int>(Kind::kNumKinds); ++kind) {
    for (const int count : {1, 5, 100, 5000, 40000}) {
      std::vector<float> numbers = Numbers(static_cast<Kind>(kind), count, random);
      for (int order = 0; order < 3; ++order) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << count << " numbers, order " << order);
        if (order == 1) std::ranges::shuffle(numbers, random);
        if (order == 2) std::ranges::sort(numbers);
        Histogram histogram;
        size_t most = order == 0 ? numbers.size() : 1 + random() % 9000;
        for (size_t first = 0; first < numbers.size();) {
          const size_t size = std::min(numbers.size() - first, 1 + random() % most);
          histogram.Add(std::span(numbers).subspan(first, size));
          first += size;
        }
        ExpectDirect(histogram, numbers);
      }
    }
  }
}

// Enough equal numbers that 16 bits would not hold their count.
TEST(Histogram, CountsDoNotOverflow) {
  std::vector<float> numbers(1 << 20, 1.5f);
  numbers.push_back(-3);
  Histogram histogram;
  histogram.Add(numbers);
  ExpectDirect(histogram, numbers);
}

TEST(Histogram, EdgesOfBins) {
  const std::vector<float> numbers = {
      2047.5f, -2047.5f, 2047.0f, -2047.0f, 1.0f, -1.0f, std::nextafter(1.0f, 0.0f), std::nextafter(-1.0f, 0.0f),
      0.0f,    -0.0f,    kTiny,   -kTiny};
  Histogram histogram;
  histogram.Add(numbers);
  EXPECT_EQ(histogram.exponent(), 0);
  EXPECT_EQ(histogram.width(), 1);
  EXPECT_EQ(histogram.low(Histogram::kZeroBin + 7), 7);
  ExpectDirect(histogram, numbers);
  EXPECT_EQ(histogram.zeros(), 2);
  EXPECT_EQ(histogram.counts()[Histogram::kZeroBin], 4);      // 0, -0, the smallest, almost 1
  EXPECT_EQ(histogram.counts()[Histogram::kZeroBin - 1], 2);  // -0 is none of them
  histogram.Add(std::vector<float>{2048});
  EXPECT_EQ(histogram.exponent(), 1);
}

TEST(Histogram, LimitsOfF32) {
  for (const std::vector<float>& numbers :
       {std::vector<float>{kHuge, -kHuge, kTiny}, {-kTiny}, {kTiny, 0}, {std::ldexp(1.0f, 127)}}) {
    Histogram histogram;
    histogram.Add(numbers);
    ExpectDirect(histogram, numbers);
    EXPECT_LE(histogram.exponent(), Histogram::kLargestExponent);
    EXPECT_GE(histogram.exponent(), Histogram::kSmallestExponent);
  }
  EXPECT_EQ(Histogram::ExponentFor(kHuge), Histogram::kLargestExponent);
}

TEST(Histogram, MergeIsTheSameAsAdding) {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    std::vector<float> numbers;
    Histogram merged;
    for (int part = 0; part < 3; ++part) {
      const Kind kind = static_cast<Kind>(random() % static_cast<unsigned>(Kind::kNumKinds));
      const std::vector<float> some = Numbers(kind, 3000, random);
      Histogram histogram;
      histogram.Add(some);
      merged.Merge(histogram);
      numbers.insert(numbers.end(), some.begin(), some.end());
    }
    ExpectDirect(merged, numbers);
    Histogram whole;
    whole.Add(numbers);
    EXPECT_EQ(merged, whole);
  }
}

TEST(Extent, OrdersAndSeesWhatIsNotFinite) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(Extent().empty());
  const Extent extent = ExtentOf(std::vector<float>{-0.0f, 3, -7, kTiny});
  EXPECT_TRUE(extent.finite());
  EXPECT_EQ(extent.min(), -7);
  EXPECT_EQ(extent.max(), 3);
  EXPECT_EQ(extent.magnitude(), 7);
  const Extent zero = ExtentOf(std::vector<float>{-0.0f});
  EXPECT_FALSE(std::signbit(zero.min()));
  for (const float bad : {nan, -nan, inf, -inf}) {
    for (size_t at = 0; at < 70; at += 23) {
      std::vector<float> numbers(70, -kHuge);
      numbers[at] = bad;
      EXPECT_FALSE(ExtentOf(numbers).finite()) << bad;
    }
  }
  EXPECT_TRUE(ExtentOf(std::vector<float>{kHuge, -kHuge}).finite());
}

}  // namespace
}  // namespace halftone
