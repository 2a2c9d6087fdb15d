// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/quantized_ranges.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace halftone::graphdef {
namespace {

// Of any exponent that 8 bits of it fit into.
float AnyScale(std::mt19937& random) {
  const float mantissa = 1.0f + static_cast<float>(random() & 0x7FFFFF) / 0x800000;
  return std::ldexp(mantissa, static_cast<int>(random() % 200) - 110);
}

TEST(FakeQuantRange, ReadsBackToTheSameBits) {
  std::mt19937 random(5);
  int neighbours = 0;
  constexpr int kTrials = 50'000;
  for (int i = 0; i < kTrials; ++i) {
    const QuantizationParameters wanted{AnyScale(random), static_cast<int32_t>(random() % 256)};
    const std::optional<EndsOfRange> ends = FakeQuantRange(wanted);
    ASSERT_TRUE(ends.has_value()) << wanted.scale;
    const std::optional<QuantizationParameters> read = FakeQuantParameters(*ends, /*narrow=*/false);
    ASSERT_TRUE(read.has_value()) << wanted.scale;
    EXPECT_EQ(read->zero_point, wanted.zero_point) << wanted.scale;
    if (read->scale == wanted.scale) continue;
    ++neighbours;
    EXPECT_TRUE(read->scale == std::nextafter(wanted.scale, 0.0f) || read->scale == std::nextafter(wanted.scale, 1e38f))
        << wanted.scale << " became " << read->scale;
  }
  EXPECT_LT(neighbours, kTrials / 200);
}

TEST(FakeQuantRange, EveryScaleOfARangeReadsBack) {
  std::mt19937 random(6);
  for (int i = 0; i < 20'000; ++i) {
    const float scale = AnyScale(random) / 255.0f;
    const QuantizationParameters wanted{scale, static_cast<int32_t>(i % 256)};
    EXPECT_EQ(FakeQuantParameters(*FakeQuantRange(wanted), false), wanted) << scale;
  }
}

TEST(FakeQuantRange, WhatIsChosenForARangeReadsBack) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> end(0, 7);
  for (int i = 0; i < 20'000; ++i) {
    const QuantizationParameters chosen = QuantizationFor(-end(random), end(random), {}).value();
    EXPECT_EQ(FakeQuantParameters(*FakeQuantRange(chosen), false), chosen) << chosen.scale;
  }
}

TEST(EndOfSteps, DividedMakesTheScaleAgain) {
  std::mt19937 random(9);
  for (const float steps : {127.0f, 255.0f}) {
    for (int i = 0; i < 20'000; ++i) {
      const float scale = AnyScale(random) / steps;
      EXPECT_EQ(EndOfSteps(scale, steps) / steps, scale);
    }
  }
}

TEST(FakeQuantParameters, NudgesTheRangeSoThatZeroIsAStep) {
  // (2.5 + 1) / 255 and 1 / scale = 72.86, rounded.
  EXPECT_EQ(FakeQuantParameters({-1, 2.5f}, false), (QuantizationParameters{3.5f / 255, 73}));
  EXPECT_EQ(FakeQuantParameters({-1.27f, 1.27f}, true), (QuantizationParameters{2.54f / 254, 128}));
  EXPECT_EQ(FakeQuantParameters({0.5f, 3.05f}, false)->zero_point, 0);      // both ends above 0
  EXPECT_EQ(FakeQuantParameters({-3.05f, -0.5f}, false)->zero_point, 255);  // both below
}

TEST(FakeQuantParameters, RefusesWhatMakesNoScale) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FakeQuantParameters({0, 0}, false), std::nullopt);
  EXPECT_EQ(FakeQuantParameters({1, -1}, false), std::nullopt);
  EXPECT_EQ(FakeQuantParameters({-infinity, 1}, false), std::nullopt);
  EXPECT_EQ(FakeQuantParameters({0, std::nanf("")}, false), std::nullopt);
  EXPECT_EQ(FakeQuantParameters({-3e38f, 3e38f}, false), std::nullopt);  // wider than f32
  EXPECT_EQ(FakeQuantParameters({0, 1e-37f}, false), std::nullopt);      // a denormal step
}

TEST(DequantizeRangeOf, ReadsBackToTheSameBits) {
  std::mt19937 random(7);
  for (const DataType type : {DataType::kInt8, DataType::kInt32}) {
    for (int i = 0; i < 20'000; ++i) {
      const float scale = AnyScale(random);
      const std::optional<EndsOfRange> ends = DequantizeRangeOf(scale, type);
      if (!ends.has_value()) continue;  // the low end is beyond f32
      EXPECT_EQ(DequantizeScale(*ends, type, /*narrow=*/false), scale);
      // In f64, too, as the reference function computes.
      EXPECT_LE(static_cast<double>(ends->high) / static_cast<double>(QuantizedRange(type)->high), scale);
    }
  }
}

TEST(DequantizeScale, TheWiderSideDecides) {
  EXPECT_EQ(DequantizeScale({-1, 0.5f}, DataType::kInt8, false), 1.0f / 128);
  EXPECT_EQ(DequantizeScale({-1, 0.5f}, DataType::kInt8, true), 1.0f / 127);
  EXPECT_EQ(DequantizeScale({-1, 2}, DataType::kInt8, false), 2.0f / 127);
  EXPECT_EQ(DequantizeScale({-1, 2}, DataType::kUInt8, false), 2.0f / 255);
  EXPECT_EQ(DequantizeScale({0, 0}, DataType::kInt8, false), std::nullopt);
  EXPECT_EQ(DequantizeScale({-1, 1}, DataType::kInt16, false), std::nullopt);
  EXPECT_EQ(DequantizeRangeOf(0.5f, DataType::kUInt8), (EndsOfRange{0, 127.5f}));
}

}  // namespace
}  // namespace halftone::graphdef
