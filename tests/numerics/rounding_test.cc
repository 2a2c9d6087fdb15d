// SPDX-License-Identifier: Apache-2.0
// Rounding to bf16 and f16, wherever the product does it: all upper halves of a float with the lower halves that
// decide, and doubles next to every tie. all_floats_test has all 2^32 floats.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/round_to_odd.h"
#include "ir/tensor.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/numerics/converters.h"
#include "tests/numerics/nearest.h"

namespace halftone::testing {
namespace {

// Ties of bf16 and of f16 (which keeps three bits more, fewer where it is denormal), both neighbours of each, and the
// ends.
constexpr uint16_t kLowerHalves[] = {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001,
                                     0x7fff, 0x8000, 0x8001, 0xefff, 0xf000, 0xf001, 0xfffe, 0xffff};

TEST(NearestTest, IsRightWhereTheAnswerIsKnown) {
  const Nearest bf16(DataType::kBFloat16), f16(DataType::kFloat16);
  const auto of = [](uint32_t bits) { return std::bit_cast<float>(bits); };
  EXPECT_EQ(bf16.Round(1.0f), 0x3f80);
  EXPECT_EQ(bf16.Round(1.00390625f), 0x3f80);     // a tie, down to even
  EXPECT_EQ(bf16.Round(1.01171875f), 0x3f82);     // a tie, up to even
  EXPECT_EQ(bf16.Round(of(0x3f808001)), 0x3f81);  // just above a tie
  EXPECT_EQ(bf16.Round(-0.0f), 0x8000);
  EXPECT_EQ(bf16.Round(of(0x00018000)), 0x0002);  // denormals: a tie, up to even
  EXPECT_EQ(bf16.Round(of(0x00008000)), 0x0000);  // half of the smallest
  EXPECT_EQ(bf16.Round(of(0x80008001)), 0x8001);
  EXPECT_EQ(bf16.Round(of(0x007fffff)), 0x0080);  // the largest denormal float becomes normal
  EXPECT_EQ(bf16.Round(of(0x7f7f7fff)), 0x7f7f);  // the largest number
  EXPECT_EQ(bf16.Round(of(0x7f7f8000)), 0x7f80);  // the tie above it
  EXPECT_EQ(bf16.Round(of(0xff800000)), 0xff80);
  EXPECT_EQ(bf16.Round(of(0x7f800001)), 0x7fc0);  // a signalling NaN with its payload in the lower half
  EXPECT_EQ(bf16.Round(of(0xffa50001)), 0xffe5);  // the top of a payload stays
  EXPECT_EQ(f16.Round(1.0f), 0x3c00);
  EXPECT_EQ(f16.Round(65519.0f), 0x7bff);
  EXPECT_EQ(f16.Round(65520.0f), 0x7c00);
  EXPECT_EQ(f16.Round(-1e30f), 0xfc00);
  EXPECT_EQ(f16.Round(5.9604645e-8f), 0x0001);
  EXPECT_EQ(f16.Round(2.9802322e-8f), 0x0000);  // half of the smallest
  EXPECT_EQ(f16.Round(8.9406967e-8f), 0x0002);  // one and a half of it
  EXPECT_EQ(f16.Round(of(0x7f800001)), 0x7e00);
  EXPECT_EQ(f16.Round(of(0xff802000)), 0xfe01);
  EXPECT_EQ(bf16.values().size(), 0x7f81u);
  EXPECT_EQ(f16.values().size(), 0x7c01u);
  EXPECT_EQ(f16.values().back(), 65536.0);
}

TEST(NearestTest, FindsADifference) {
  const std::array<uint16_t, 3> a = {1, 2, 3}, b = {1, 2, 4};
  EXPECT_EQ(Difference(0x3f800000, a, a), "");
  EXPECT_EQ(Difference(0x3f800000, a, b), "0x3f800002 (1) became 0x0003 instead of 0x0004");
}

TEST(RoundingTest, EveryUpperHalfWithTheLowerHalvesThatDecide) {
  constexpr int64_t kUppers = 96 * 16;
  constexpr int64_t kSize = kUppers * std::size(kLowerHalves);
  const std::vector<Converter> converters = AllConverters(kSize);
  ASSERT_GE(converters.size(), 15u);
  std::vector<float> x(kSize);
  std::vector<uint16_t> y(kSize), expected(kSize);
  for (const Converter& converter : converters) {
    SCOPED_TRACE(converter.name);
    const Nearest nearest(converter.to);
    for (uint32_t start = 0; start < 0x10000; start += kUppers) {
      for (int64_t i = 0; i < kSize; ++i) {
        const uint32_t upper = (start + static_cast<uint32_t>(i) / std::size(kLowerHalves)) & 0xffffu;
        x[i] = std::bit_cast<float>(upper << 16 | kLowerHalves[i % std::size(kLowerHalves)]);
        expected[i] = nearest.Round(x[i]);
      }
      converter.convert(x, y);
      for (int64_t i = 0; i < kSize; ++i) {
        ASSERT_EQ(Difference(std::bit_cast<uint32_t>(x[i]), {&y[i], 1}, {&expected[i], 1}), "") << "number " << i;
      }
    }
  }
}

// A double beside a tie, which f32 rounds onto the tie.
struct DoubleCase {
  double value;
  uint16_t expected;
};

std::vector<DoubleCase> DoublesAroundTies(const Nearest& nearest) {
  std::vector<DoubleCase> cases;
  const std::vector<double>& values = nearest.values();
  for (uint16_t bits = 0; bits < nearest.infinity(); ++bits) {
    const double tie = (values[bits] + values[bits + 1]) / 2;
    const uint16_t above = bits + 1, even = bits % 2 == 0 ? bits : above;
    const DoubleCase three[] = {{std::nextafter(tie, 0.0), bits}, {tie, even}, {std::nextafter(tie, 1e308), above}};
    for (const auto& [value, expected] : three) {
      cases.push_back({value, expected});
      cases.push_back({-value, static_cast<uint16_t>(expected | 0x8000)});
    }
  }
  return cases;
}

TEST(RoundingTest, DoublesAreRoundedOnce) {
  for (const DataType to : {DataType::kBFloat16, DataType::kFloat16}) {
    const std::string name(DataTypeName(to));
    SCOPED_TRACE(name);
    const std::vector<DoubleCase> cases = DoublesAroundTies(Nearest(to));
    std::vector<double> numbers;
    for (const DoubleCase& c : cases) numbers.push_back(c.value);
    const std::string size = std::to_string(numbers.size());
    const absl::StatusOr<Graph> graph =
        ParseGraph("graph (x: f64[" + size + "]) { y: " + name + "[" + size + "] = cast(x)  return y }");
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::vector<Tensor> x = {Tensor::Of<double>({static_cast<int64_t>(numbers.size())}, numbers)};
    const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<std::vector<Tensor>> planned = (*plan)->Run(x),
                                              by_reference = reference::EvaluateGraph(*graph, x);
    const absl::StatusOr<Tensor> converted = x[0].ConvertTo(to);
    ASSERT_TRUE(planned.ok() && by_reference.ok() && converted.ok());
    const auto round = to == DataType::kBFloat16 ? BFloat16FromFloat : Float16FromFloat;
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].value);
      ASSERT_EQ(round(RoundToOdd(cases[i].value)), cases[i].expected);
      ASSERT_EQ((*planned)[0].data<uint16_t>()[i], cases[i].expected);
      ASSERT_EQ((*by_reference)[0].data<uint16_t>()[i], cases[i].expected);
      ASSERT_EQ(converted->data<uint16_t>()[i], cases[i].expected);
    }
  }
}

// Up to 2^53 an integer is a double.
TEST(RoundingTest, IntegersAreRoundedOnce) {
  std::vector<int64_t> numbers;
  for (int shift = 9; shift < 44; ++shift) {
    for (const int64_t tie : {int64_t{257}, int64_t{259}}) {
      for (const int64_t beside : {-1, 0, 1}) numbers.push_back((tie << shift) + beside);
    }
  }
  const std::string size = std::to_string(numbers.size());
  const absl::StatusOr<Graph> graph =
      ParseGraph("graph (x: s64[" + size + "]) { y: bf16[" + size + "] = cast(x)  return y }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> x = {Tensor::Of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers)};
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<std::vector<Tensor>> planned = (*plan)->Run(x);
  const absl::StatusOr<Tensor> converted = x[0].ConvertTo(DataType::kBFloat16);
  ASSERT_TRUE(planned.ok() && converted.ok());
  for (size_t i = 0; i < numbers.size(); ++i) {
    SCOPED_TRACE(numbers[i]);
    const double number = static_cast<double>(numbers[i]);
    const double actual = FloatFromBFloat16(converted->data<uint16_t>()[i]);
    // The nearest has at most half a step of 2^-7 of the power of two below.
    ASSERT_LE(std::fabs(actual - number), std::ldexp(1.0, std::ilogb(number) - 8));
    ASSERT_EQ((*planned)[0].data<uint16_t>()[i], converted->data<uint16_t>()[i]);
  }
}

}  // namespace
}  // namespace halftone::testing
