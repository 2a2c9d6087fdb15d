// SPDX-License-Identifier: Apache-2.0
// Elementwise and quantized reference functions by hand: conventions, types, errors.
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunText(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, {});
}

std::vector<double> Numbers(const std::string& body) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText("graph () { " + body + " return y }");
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << body;
  return outputs.ok() ? (*outputs)[0].ToDoubles() : std::vector<double>{};
}

void ExpectError(const std::string& body, const std::string& message) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText("graph () { " + body + " return y }");
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kInvalidArgument) << body;
  EXPECT_THAT(std::string(outputs.status().message()), HasSubstr(message)) << body;
}

TEST(Elementwise, RemaindersTakeTheSignOfTheDivisorOrOfTheDividend) {
  const std::string ab = "a = const s32[4] {7, -7, 7, -7}  b = const s32[4] {3, 3, -3, -3}  ";
  EXPECT_THAT(Numbers(ab + "y = mod(a, b)"), ElementsAre(1, 2, -2, -1));
  EXPECT_THAT(Numbers(ab + "y = mod(a, b) {fmod=true}"), ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(Numbers(ab + "y = floor_div(a, b)"), ElementsAre(2, -3, -3, 2));
  EXPECT_THAT(Numbers(ab + "y = div(a, b)"), ElementsAre(2, -2, -2, 2));
  const std::string reals = "a = const f32[4] {7.5, -7.5, 7.5, -7.5}  b = const f32[4] {2, 2, -2, -2}  ";
  EXPECT_THAT(Numbers(reals + "y = mod(a, b)"), ElementsAre(1.5, 0.5, -0.5, -1.5));
  EXPECT_THAT(Numbers(reals + "y = mod(a, b) {fmod=true}"), ElementsAre(1.5, -1.5, 1.5, -1.5));
}

TEST(Elementwise, IntegersWrapAroundAndLoseTheirBits) {
  EXPECT_THAT(Numbers("a = const s8[2] {-128, 127}  y = neg(a)"), ElementsAre(-128, -127));
  EXPECT_THAT(Numbers("a = const u8[2] {3, 255}  y = bit_shift(a, 7:u8) {direction=\"LEFT\"}"), ElementsAre(128, 128));
  EXPECT_THAT(Numbers("a = const u8[2] {3, 255}  y = bit_shift(a, 9:u8) {direction=\"RIGHT\"}"), ElementsAre(0, 0));
  EXPECT_THAT(Numbers("a = const u8[1] {5}  y = bitwise_not(a)"), ElementsAre(250));
  EXPECT_THAT(Numbers("a = const u64[2] {0, 1}  b = sub(a, 2:u64)  y = less(a, b)"), ElementsAre(1, 1));
}

TEST(Elementwise, RoundIsHalfToEven) {
  EXPECT_THAT(Numbers("a = const f32[5] {0.5, 1.5, 2.5, -0.5, -1.5}  y = round(a)"), ElementsAre(0, 2, 2, 0, -2));
}

TEST(Elementwise, ManyOperandsBroadcastAndHandNaNOn) {
  const std::string abc = "a = const f32[2,1] {1, nan}  b = const f32[3] {0, 1, 2}  c = const f32[] {1.5}  ";
  const std::vector<double> y = Numbers(abc + "y = max_n(a, b, c)");
  ASSERT_EQ(y.size(), 6);
  EXPECT_THAT(std::vector<double>(y.begin(), y.begin() + 3), ElementsAre(1.5, 1.5, 2));
  EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[4]) && std::isnan(y[5]));
  EXPECT_THAT(Numbers("a = const s64[2] {1, 2}  y = add_n(a, a, a)"), ElementsAre(3, 6));
  EXPECT_THAT(Numbers("a = const f32[2] {1, 2}  b = const f32[1] {4}  y = mean_n(a, b)"), ElementsAre(2.5, 3));
}

TEST(Elementwise, WhereOfRows) {
  const std::string text =
      "c = const bool[2] {true, false}  a = const s32[2,2] {1, 2, 3, 4}  b = const s32[2,2] {5, 6, 7, 8}  ";
  EXPECT_THAT(Numbers(text + "y = where(c, a, b) {rows=true}"), ElementsAre(1, 2, 7, 8));
  EXPECT_THAT(Numbers(text + "y = where(c, a, b)"), ElementsAre(1, 6, 3, 8));
}

TEST(Elementwise, Errors) {
  ExpectError("a = const s32[2] {1, 0}  y = mod(a, a)", "divided by 0");
  ExpectError("a = const s32[2] {1, 0}  y = floor_div(a, a)", "divided by 0");
  ExpectError("a = const f32[2]  b = const f32[3]  y = less(a, b)", "broadcast");
  ExpectError("a = const f32[3]  b = const f32[2,3]  y = prelu(a, b)", "does not broadcast to x");
  ExpectError("a = const u8[2]  y = bit_shift(a, a)", "need LEFT or RIGHT");
  ExpectError("a = const f32[2]  y = bitwise_and(a, a)", "need integers");
  ExpectError("a = const f32[2]  y = bitwise_not(a)", "need integers");
}

TEST(Quantize, HalvesAndBounds) {
  const std::string x = "x = const f32[6] {0.5, 1.5, -0.5, 300, -300, 2.5}  ";
  EXPECT_THAT(Numbers(x + "y = quantize_linear(x, 1:f32, 0:u8)"), ElementsAre(0, 2, 0, 255, 0, 2));
  EXPECT_THAT(Numbers(x + "y = quantize_linear(x, 1:f32, 10:s8)"), ElementsAre(10, 12, 10, 127, -128, 12));
  EXPECT_THAT(Numbers(x + "y = quantize_linear(x, 0.5:f32)"), ElementsAre(1, 3, 0, 255, 0, 5));
}

TEST(Quantize, ScalesOfChannelsAndBlocks) {
  const std::string x = "x = const u8[2,4] {1, 2, 3, 4, 5, 6, 7, 8}  ";
  EXPECT_THAT(Numbers(x + "s = const f32[2] {1, 10}  y = dequantize_linear(x, s) {axis=0}"),
              ElementsAre(1, 2, 3, 4, 50, 60, 70, 80));
  EXPECT_THAT(Numbers(x + "s = const f32[2,2] {1, 10, 100, 1000}  y = dequantize_linear(x, s) {axis=1, block_size=2}"),
              ElementsAre(1, 2, 30, 40, 500, 600, 7000, 8000));
  ExpectError(x + "s = const f32[3]  y = dequantize_linear(x, s) {axis=0}", "scale");
  ExpectError(x + "s = const f32[2]  z = const u8[3]  y = dequantize_linear(x, s, z) {axis=0}", "zero_point");
  ExpectError(x + "s = const f32[2]  y = dequantize_linear(x, s) {axis=5}", "axis 5");
}

TEST(Quantize, DynamicRangeHoldsZero) {
  const auto run = [](const std::string& x) {
    const auto outputs =
        RunText("graph () { x = const " + x + "  a, b, c = dynamic_quantize_linear(x)  return a, b, c }");
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return *outputs;
  };
  const std::vector<Tensor> y = run("f32[3] {-1, 0, 4.1}");
  EXPECT_THAT(y[0].ToInts(), ElementsAre(0, 50, 255));
  EXPECT_FLOAT_EQ(y[1].ToFloats()[0], 0.02f);
  EXPECT_THAT(y[2].ToInts(), ElementsAre(50));
  EXPECT_THAT(run("f32[2] {0, 0}")[0].ToInts(), ElementsAre(0, 0));
  EXPECT_THAT(run("f32[2] {2.55, 0}")[0].ToInts(), ElementsAre(255, 0));
}

TEST(Quantize, ProductsOfIntegers) {
  EXPECT_THAT(Numbers("a = const u8[2,2] {11, 7, 9, 10}  b = const u8[2,1] {1, 4}  y = matmul_integer(a, b, 12:u8)"),
              ElementsAre(-21, -11));
  EXPECT_THAT(Numbers("a = const u8[2,2] {1, 2, 3, 4}  b = const s8[2,2] {1, 2, 3, 4}  z = const u8[2] {1, 2}  "
                      "w = const s8[2] {1, 2}  y = matmul_integer(a, b, z, w)"),
              ElementsAre(2, 2, 4, 4));
  EXPECT_THAT(
      Numbers("x = const u8[1,1,2,2] {2, 3, 4, 5}  w = const u8[1,1,1,1] {3}  y = conv_integer(x, w, 1:u8, 1:u8) "
              "{pads=[1,0,0,0]}"),
      ElementsAre(0, 0, 2, 4, 6, 8));
  EXPECT_THAT(Numbers("a = const u8[2,2] {11, 7, 9, 10}  b = const u8[2,1] {1, 4}  f = const f32[1] {0.25}  "
                      "c = const f32[1] {1.5}  y = matmul_integer_to_float(a, b, 0.5:f32, f, 12:u8, 0:u8, c)"),
              ElementsAre(-21 * 0.125 + 1.5, -11 * 0.125 + 1.5));
  EXPECT_THAT(Numbers("a = const s8[1,2] {1, -2}  b = const s8[2,3] {1, 2, 3, 4, 5, 6}  f = const f32[3] {1, 0.5, 2}  "
                      "y = matmul_integer_to_float(a, b, 2:f32, f)"),
              ElementsAre(-14, -8, -36));
  EXPECT_THAT(
      Numbers("a = const s8[1,2] {1, -2}  b = const s8[2,2] {1, 2, 3, -4}  "
              "y = matmul_integer_to_float(a, b, 0.5:f32, 0.25:f32) {activation=\"elu\", activation_alpha=2.0}"),
      ElementsAre(::testing::DoubleNear(2 * std::expm1(-0.625), 1e-6), 1.25));
  const std::string ab = "a = const u8[2,2]  b = const u8[2,3]  ";
  ExpectError(ab + "s = const f32[2]  y = matmul_integer_to_float(a, b, s, 1:f32)", "a_scale");
  ExpectError(ab + "s = const f32[2]  y = matmul_integer_to_float(a, b, 1:f32, s)", "b_scale");
  ExpectError(ab + "c = const f32[2]  y = matmul_integer_to_float(a, b, 1:f32, 1:f32, 0:u8, 0:u8, c)", "bias");
  ExpectError("a = const u8[2,2]  b = const u8[2,2]  z = const u8[3]  y = matmul_integer(a, b, z)", "a_zero_point");
  ExpectError("a = const s32[2,2]  b = const u8[2,2]  y = matmul_integer(a, b)", "8 bits");
}

TEST(Quantize, ByRanges) {
  // Zero is one of the steps: [-0.1, 6] becomes 255 steps of 6.1 / 255 from -4 steps on.
  const std::vector<double> y = Numbers("x = const f32[4] {0, -1, 7, 3}  y = fake_quant(x, -0.1:f32, 6:f32)");
  const double step = 6.1 / 255;
  EXPECT_NEAR(y[0], 0, 1e-7);
  EXPECT_NEAR(y[1], -4 * step, 1e-6);
  EXPECT_NEAR(y[2], 251 * step, 1e-5);
  EXPECT_NEAR(y[3], std::round(3 / step) * step, 1e-5);
  EXPECT_THAT(Numbers("x = const f32[2] {1, 2}  y = fake_quant(x, 0:f32, 0:f32)"), ElementsAre(0, 0));
  EXPECT_THAT(Numbers("x = const u8[3] {0, 255, 51}  y = dequantize_range(x, 0:f32, 5:f32)"),
              ElementsAre(0, 5, ::testing::DoubleNear(1, 1e-6)));
  EXPECT_THAT(Numbers("x = const s8[3] {-128, 127, 0}  y = dequantize_range(x, -1:f32, 1:f32) {mode=\"SCALED\"}"),
              ElementsAre(::testing::DoubleNear(-128 / 127.0, 1e-6), 1, 0));
  ExpectError("x = const f32[2]  l = const f32[3]  y = fake_quant(x, l, l) {axis=0}", "need 2 elements");
  ExpectError("x = const u8[2]  y = dequantize_range(x, 0:f32, 1:f32) {mode=\"X\"}", "MIN_COMBINED");
}

TEST(Loss, MeansAreWeighted) {
  const std::string x =
      "x = const f32[2,3] {-1, -2, -3, -4, -5, -6}  t = const s64[2] {0, 2}  w = const f32[3] {1, 2, 3}  ";
  EXPECT_THAT(Numbers(x + "y = negative_log_likelihood(x, t, w) {reduction=\"none\"}"), ElementsAre(1, 18));
  EXPECT_THAT(Numbers(x + "y = negative_log_likelihood(x, t, w)"), ElementsAre(19.0 / 4));
  EXPECT_THAT(Numbers(x + "y = negative_log_likelihood(x, t) {ignore_index=2}"), ElementsAre(1));
  ExpectError("x = const f32[1,3]  t = const s64[1] {3}  y = negative_log_likelihood(x, t)",
              "target holds 3, need 0 to 2");
  ExpectError("x = const f32[1,3]  t = const s64[2]  y = softmax_cross_entropy(x, t)", "target is [2], need [1]");
}

}  // namespace
}  // namespace halftone::reference
