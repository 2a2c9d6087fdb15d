// SPDX-License-Identifier: Apache-2.0
// Reference functions of fused ops: activations and residuals of contractions and norms, chains of binary ops,
// attention, comparisons with number results. Expected values are computed by hand.

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return EvaluateGraph(*graph, {});
}

std::vector<float> Floats(std::string_view text, size_t output = 0) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText(text);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << "\n" << text;
  return outputs.ok() ? (*outputs)[output].ToFloats() : std::vector<float>{};
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<std::vector<Tensor>> outputs = RunText(text);
  EXPECT_FALSE(outputs.ok()) << text;
  return std::string(outputs.status().message());
}

TEST(FusedMatMul, ScaleOfTheProductAloneAndABroadcastResidual) {
  const auto run = [](const std::string& call) {
    return Floats(
        "graph () { a = const f32[1,2] {1, -2} w = const f32[2,3] {1, 0, 2, 1, 1, 0} b = const f32[3] {0, 0.5, 1} "
        "r = const f32[1,1] {10} y = matmul(a, w, " +
        call + " return y }");  // the matmul gives -1, -2, 2
  };
  EXPECT_THAT(run("b) {scale=0.5}"), ElementsAre(-0.5, -0.5, 2));
  EXPECT_THAT(run("b, r) {scale=0.5}"), ElementsAre(9.5, 9.5, 12));
  EXPECT_THAT(run("b, r) {scale=0.5, activation=\"relu\"}"), ElementsAre(9.5, 9.5, 12));
  EXPECT_THAT(run("b, r) {scale=0.5, activation=\"relu\", activation_first=true}"), ElementsAre(10, 10, 12));
  EXPECT_THAT(run("_, r) {scale=-1.0, activation=\"relu\", activation_first=true}"), ElementsAre(11, 12, 10));
}

TEST(FusedMatMul, AResidualMayNotBeLargerThanTheResult) {
  EXPECT_THAT(
      ErrorOf("graph () { a = const f32[1,2] w = const f32[2,3] r = const f32[2,3] return matmul(a, w, _, r) }"),
      HasSubstr("residual is [2,3], which does not broadcast to [1,3]"));
}

TEST(FusedConv, TheActivationBeforeTheResidual) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,1,3] {1, -2, 3}
                w = const f32[1,1,1] {2}
                r = const f32[1,1,3] {-5, -5, -5}
                y = conv(x, w, _, r) {activation="relu", activation_first=true} return y })"),
              ElementsAre(-3, -5, 1));
}

TEST(FusedInstanceNorm, Activation) {
  EXPECT_THAT(Floats(R"(graph () {
                x = const f32[1,1,2] {-3, 5}
                s = const f32[1] {4}
                o = const f32[1] {1}
                y = instance_norm(x, s, o) {activation="relu", epsilon=0.0} return y })"),
              ElementsAre(0, FloatEq(5)));
}

TEST(BinaryChain, StepsFromLeftToRightReversedOnesTheOtherWayRound) {
  const std::string values =
      "graph () { x = const f32[3] {1, 2, 4} two = const f32[] {2} m = const f32[3] {2, 3, 4} eight = const f32[1] "
      "{8} ";
  const auto run = [&](const std::string& call) { return Floats(values + "return " + call + " }"); };
  EXPECT_THAT(run("binary_chain(x, two, m) {ops=[\"rsub\", \"mul\"]}"), ElementsAre(2, 0, -8));
  EXPECT_THAT(run("binary_chain(x, two, m) {ops=[\"rsub\", \"mul\"], activation=\"relu\"}"), ElementsAre(2, 0, 0));
  EXPECT_THAT(run("binary_chain(x, eight) {ops=[\"rdiv\"]}"), ElementsAre(8, 4, 2));
  EXPECT_THAT(run("binary_chain(two, x, x) {ops=[\"sub\", \"div\"]}"), ElementsAre(1, 0, -0.5));
  EXPECT_THAT(run("binary_chain(x, two, m) {ops=[\"max\", \"min\"]}"), ElementsAre(2, 2, 4));
}

TEST(BinaryChain, SaysWhatDoesNotFit) {
  const std::string values = "graph () { x = const f32[3] b = const f32[2,3] i = const s32[3] ";
  EXPECT_THAT(ErrorOf(values + "return binary_chain(x, x, b) {ops=[\"add\", \"mul\"]} }"),
              HasSubstr("input 2 is [2,3], which does not broadcast to [3]"));
  EXPECT_THAT(ErrorOf(values + "return binary_chain(x, x, x) {ops=[\"add\"]} }"), HasSubstr("1 words for 3 inputs"));
  EXPECT_THAT(ErrorOf(values + "return binary_chain(x, x) {ops=[\"pow\"]} }"), HasSubstr("has 'pow', need add"));
  EXPECT_THAT(ErrorOf(values + "return binary_chain(x, x) }"), HasSubstr("attribute 'ops' is missing"));
  EXPECT_THAT(ErrorOf(values + "return binary_chain(i, i) {ops=[\"add\"]} }"), HasSubstr("need floats"));
}

// Scores 0 and ln 3: one key weighs three times as much as the other.
TEST(ScaledDotProductAttention, ByHand) {
  const std::string values =
      "graph () { q = const f32[1,2] {1, 0} k = const f32[2,2] {0, 5, 1.0986123, 7} kt = const f32[2,2] {0, 1.0986123, "
      "5, 7} v = const f32[2,1] {4, 8} m = const f32[2] {1.0986123, 0} ";
  const auto run = [&](const std::string& call) {
    return Floats(values + "return scaled_dot_product_attention(" + call + " }");
  };
  EXPECT_THAT(run("q, k, v) {scale=1.0}"), ElementsAre(FloatNear(7, 1e-6f)));
  EXPECT_THAT(run("q, kt, v) {scale=1.0, k_transposed=true}"), ElementsAre(FloatNear(7, 1e-6f)));
  EXPECT_THAT(run("q, k, v, m) {scale=1.0}"), ElementsAre(FloatNear(6, 1e-6f)));
  const double weight = std::exp(std::log(3.0) / std::sqrt(2.0));  // 1 / sqrt(depth)
  EXPECT_THAT(run("q, k, v)"), ElementsAre(FloatNear(static_cast<float>((4 + 8 * weight) / (1 + weight)), 1e-5f)));
}

TEST(ScaledDotProductAttention, LeadingDimensionsBroadcast) {
  const absl::StatusOr<std::vector<Tensor>> y = RunText(
      "graph () { q = const f32[2,3,5,4] k = const f32[3,7,4] v = const f32[2,1,7,6] m = const f32[5,1] "
      "a = scaled_dot_product_attention(q, k, v, m) {scale=0.25} "
      "s = softmax(add(mul(matmul(q, k) {transpose_b=true}, 0.25:f32), m)) b = matmul(s, v) return a, b }");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].dims(), (std::vector<int64_t>{2, 3, 5, 6}));
  EXPECT_EQ(Compare((*y)[0], (*y)[1], 1e-5f, 1e-6f), "");
}

TEST(Comparisons, MakeNumbersWhereTheResultIsSaidToBeSome) {
  EXPECT_THAT(Floats("graph () { a = const f32[3] {1, 2, 3} y: f32[3] = greater(a, 2.0:f32) return y }"),
              ElementsAre(0, 0, 1));
  EXPECT_THAT(Floats("graph () { a = const s32[3] {1, 2, 3} y: bf16[3] = less_equal(a, 2:s32) return y }"),
              ElementsAre(1, 1, 0));
}

TEST(L2Loss, HalfTheSquaresOfAllTensors) {
  EXPECT_THAT(Floats("graph () { a = const f32[2] {1, 2} b = const f32[1,1] {3} return l2_loss(a, b) }"),
              ElementsAre(7));
}

// The inputs of the gates are 0, so the update gate is 1/2; the candidate is 0. Half of the state is kept, reduced by
// the attention.
TEST(GruWithAttention, ScalesTheUpdateGate) {
  const std::string values =
      "graph () { x = const f32[2,1,1] {0, 0} w = const f32[1,3,1] {0, 0, 1} r = const f32[1,3,1] {0, 0, 0} "
      "h = const f32[1,1,1] {1} a = const f32[2,1,1] {0.5, 0} ";
  EXPECT_THAT(Floats(values + "y, z = gru(x, w, r, _, _, h, a) return y, z }"), ElementsAre(0.25, 0.125));
  EXPECT_THAT(Floats(values + "y, z = gru(x, w, r, _, _, h, a) {direction=\"reverse\"} return y, z }"),
              ElementsAre(0.125, 0.5));
  EXPECT_THAT(ErrorOf(values + "y = gru(x, w, r, _, _, h, h) return y }"), HasSubstr("attention is [1,1,1]"));
}

}  // namespace
}  // namespace halftone::reference
