// SPDX-License-Identifier: Apache-2.0
#include "ir/value_ranges.h"

#include <cmath>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using testing::HasSubstr;

constexpr float kHuge = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

std::vector<QuantizationChoice> AllChoices() {
  std::vector<QuantizationChoice> choices;
  for (const DataType type : {DataType::kUInt8, DataType::kInt8}) {
    for (const bool symmetric : {false, true}) {
      for (const bool narrow : {false, true}) choices.push_back({type, symmetric, narrow});
    }
  }
  return choices;
}

double RealOf(double q, const QuantizationParameters& p) { return (q - p.zero_point) * p.scale; }

// What every pair of scale and zero point must be.
void ExpectSound(float min, float max, const QuantizationChoice& choice) {
  SCOPED_TRACE(testing::Message() << "[" << min << ", " << max << "] " << DataTypeName(choice.type)
                                  << (choice.symmetric ? " symmetric" : "") << (choice.narrow ? " narrow" : ""));
  const absl::StatusOr<QuantizationParameters> p = QuantizationFor(min, max, choice);
  ASSERT_TRUE(p.ok()) << p.status();
  const IntegerLimits limits = LimitsOf(choice);
  EXPECT_TRUE(std::isnormal(p->scale)) << p->scale;
  EXPECT_GT(p->scale, 0);
  EXPECT_TRUE(std::isfinite(1 / p->scale));
  EXPECT_GE(p->zero_point, limits.low);
  EXPECT_LE(p->zero_point, limits.high);
  EXPECT_EQ(RealOf(p->zero_point, *p), 0);
  // Both ends are held to half a step, and the steps are as fine as they can be.
  const double reach_low = std::min(min, 0.0f), reach_high = std::max(max, 0.0f);
  EXPECT_LE(RealOf(limits.low, *p), reach_low + 0.501 * p->scale);
  EXPECT_GE(RealOf(limits.high, *p), reach_high - 0.501 * p->scale);
  const double span = reach_high - reach_low;
  const double most = (choice.symmetric ? 2.02 : 1.001) * span / (limits.high - limits.low);
  if (span > 0) {
    EXPECT_LE(p->scale, std::max<double>(most, std::numeric_limits<float>::min()));
  }
}

TEST(QuantizationFor, ExtremesAreSound) {
  const float ends[] = {0.0f, -0.0f, kTiny, -kTiny, 1e-40f, -1e-40f, 1e-38f,
                        1.0f, -1.0f, 6.0f,  -0.25f, 1e30f,  kHuge,   -kHuge};
  for (const QuantizationChoice& choice : AllChoices()) {
    for (const float a : ends) {
      for (const float b : ends) ExpectSound(std::min(a, b), std::max(a, b), choice);
    }
  }
}

TEST(QuantizationFor, RandomRangesAreSound) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-44, 38), sign(-1, 1);
  for (const QuantizationChoice& choice : AllChoices()) {
    for (int i = 0; i < 2000; ++i) {
      const float a = sign(random) * std::pow(10.0f, exponent(random));
      const float b = sign(random) * std::pow(10.0f, exponent(random));
      if (std::isfinite(a) && std::isfinite(b)) ExpectSound(std::min(a, b), std::max(a, b), choice);
    }
  }
}

// TensorFlow's FakeQuant divides the width of a range by 255, in f32.
TEST(QuantizationFor, ScalesAreSaidByRanges) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> end(0, 3);
  for (const QuantizationChoice& choice : AllChoices()) {
    if (choice.narrow) continue;
    for (int i = 0; i < 5000; ++i) {
      const float scale = QuantizationFor(-end(random), end(random), choice)->scale;
      const float width = scale * 255;
      const bool said = width / 255 == scale || std::nextafter(width, 0.0f) / 255 == scale ||
                        std::nextafter(width, kHuge) / 255 == scale;
      EXPECT_TRUE(said) << scale;
    }
  }
}

struct Row {
  float min, max;
  QuantizationChoice choice;
  QuantizationParameters expected;
};

TEST(QuantizationFor, KnownResults) {
  const DataType u8 = DataType::kUInt8, s8 = DataType::kInt8;
  const Row rows[] = {
      {0, 255, {u8}, {1, 0}},
      {0, 6, {u8}, {6.0f / 255, 0}},
      {-1, 1, {s8, true}, {1.0f / 127, 0}},
      {-1, 0.5, {s8, true}, {1.0f / 128, 0}},  // -128 is there for it
      {-1, 0.5, {s8, true, true}, {1.0f / 127, 0}},
      {-127, 128, {u8}, {1, 127}},
      {-128, 127, {s8}, {1, 0}},
      {2, 255, {u8}, {1, 0}},  // reaches down to 0
      {-255, -3, {u8}, {1, 255}},
      {0, 0, {s8}, {1, -128}},
      {0, 0, {s8, true}, {1, 0}},
      {-2, 127, {u8, true}, {1, 128}},
      {0, 255, {u8, true}, {1, 0}},
      {-0.5, 254.5, {u8}, {1, 0}},  // 0.5 to even
      {-1.5, 253.5, {u8}, {1, 2}},
  };
  for (const Row& row : rows) {
    const absl::StatusOr<QuantizationParameters> p = QuantizationFor(row.min, row.max, row.choice);
    ASSERT_TRUE(p.ok());
    EXPECT_EQ(p->scale, row.expected.scale) << row.min << " " << row.max;
    EXPECT_EQ(p->zero_point, row.expected.zero_point) << row.min << " " << row.max;
  }
}

// A constant tensor reads back to itself, but for the rounding of f32.
TEST(QuantizationFor, ConstantTensors) {
  for (const float c : {3.0f, -3.0f, 1e-20f, 7e20f}) {
    for (const QuantizationChoice& choice : AllChoices()) {
      const QuantizationParameters p = QuantizationFor(c, c, choice).value();
      const IntegerLimits limits = LimitsOf(choice);
      const double q = std::clamp<double>(std::nearbyint(c / p.scale) + p.zero_point, limits.low, limits.high);
      EXPECT_NEAR(RealOf(q, p) / c, 1, 0.005);
    }
  }
}

TEST(QuantizationFor, Refusals) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const std::pair<float, float> rows[] = {{nan, 1.0f}, {0.0f, nan}, {-inf, 0.0f}, {0.0f, inf}, {2.0f, 1.0f}};
  for (const auto& [min, max] : rows) {
    EXPECT_THAT(QuantizationFor(min, max, {}).status().message(), HasSubstr("must be finite"));
  }
  EXPECT_THAT(QuantizationFor(0, 1, {DataType::kInt32}).status().message(), HasSubstr("not s32"));
}

TEST(ValueRanges, AreFoundByName) {
  const Graph graph = ParseGraph("graph (x: f32[2]) { y = relu(neg(x))  return y }").value();
  const ValueId y = graph.outputs()[0].value;
  const ValueId unnamed = graph.input(graph.producer(y), 0);
  EXPECT_EQ(RangeName(graph, y), "y");
  EXPECT_THAT(RangeName(graph, unnamed), HasSubstr(":0"));
  ValueRanges ranges;
  EXPECT_EQ(ranges.Find(graph, y), nullptr);
  ranges.values[RangeName(graph, unnamed)].max = 3;
  ASSERT_NE(ranges.Find(graph, unnamed), nullptr);
  EXPECT_EQ(ranges.Find(graph, unnamed)->max, 3);
}

TEST(ValueRanges, AlwaysZeroChannels) {
  ValueRange range;
  EXPECT_TRUE(range.AlwaysZeroChannels().empty());
  range.channel_magnitudes = {0, 1.5f, 0, kTiny};
  EXPECT_EQ(range.AlwaysZeroChannels(), (std::vector<int64_t>{0, 2}));
}

TEST(CalibratorNames, ReadBack) {
  for (int i = 0; i <= static_cast<int>(Calibrator::kLog); ++i) {
    const Calibrator calibrator = static_cast<Calibrator>(i);
    EXPECT_EQ(CalibratorFromName(CalibratorName(calibrator)), calibrator);
  }
  EXPECT_EQ(CalibratorFromName("kl"), std::nullopt);
}

}  // namespace
}  // namespace halftone
