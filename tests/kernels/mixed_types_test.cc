// SPDX-License-Identifier: Apache-2.0
// What the steps of mixed graphs read and write, how many of them only convert, and that the ways to say one product
// give the same bits.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;

struct Ran {
  std::vector<Tensor> results;
  std::vector<StepInfo> steps;
};

Ran RunText(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const absl::StatusOr<std::vector<Tensor>> results = (*plan)->Run(reference::RandomInputs(*graph, /*seed=*/3));
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  return {*results, (*plan)->steps()};
}

// The step of the op that this begins with.
StepInfo StepOf(const Ran& ran, std::string_view op) {
  for (const StepInfo& step : ran.steps) {
    if (step.op.starts_with(op)) return step;
  }
  ADD_FAILURE() << "no step of " << op;
  return {};
}

// One product, said in three ways. The same weights: constants get their numbers from name and shape.
constexpr std::string_view kCasts = R"(graph (x: f32[5,33]) { w = const bf16[33,17]  a: bf16[5,33] = cast(x)
    y: f32[5,17] = matmul(a, w)  return y })";
constexpr std::string_view kMathMode =
    R"(graph (x: f32[5,33]) { w = const bf16[33,17]  y: f32[5,17] = matmul(x, w) {math_mode="bf16"}  return y })";
constexpr std::string_view kRounded = R"(graph (x: f32[5,33]) { w = const bf16[33,17]  a: bf16[5,33] = cast(x)
    m = matmul(a, w)  y: f32[5,17] = cast(m)  return y })";

TEST(MixedTypes, MathModeIsACastInFrontOfBf16) {
  if (!HasAllKernels() || !DescribeCpu().native_bf16) GTEST_SKIP() << "no bf16 instructions";
  const Ran casts = RunText(kCasts), mode = RunText(kMathMode), rounded = RunText(kRounded);
  ASSERT_EQ(casts.results.size(), 1u);
  const bool rounds = RoundsInMathMode();
  EXPECT_TRUE(!rounds || mode.results[0].SameBytes(casts.results[0]));
  EXPECT_FALSE(rounded.results[0].SameBytes(casts.results[0]));  // what the cast after the product costs
  EXPECT_EQ(reference::Compare(rounded.results[0], casts.results[0], 1.0f / 128, 1e-6f), "");

  for (const Ran* ran : {&casts, &mode}) {
    if (ran == &mode && !rounds) continue;
    const StepInfo step = StepOf(*ran, "matmul");
    EXPECT_EQ(step.src_type, kBf16);
    EXPECT_EQ(step.weights_type, kBf16);
    EXPECT_EQ(step.dst_type, kF32);
    EXPECT_EQ(CountConversions(ran->steps), 1);  // x
  }
  EXPECT_EQ(CountConversions(rounded.steps), 2);  // x and the result
}

// f32 that holds nothing but bf16 is multiplied as bf16: the casts do nothing.
TEST(MixedTypes, WhatCastsHaveWidenedIsReadAsItWas) {
  if (!HasAllKernels() || !DescribeCpu().native_bf16) GTEST_SKIP() << "no bf16 instructions";
  const Ran widened = RunText(R"(graph (x: bf16[5,33]) { w = const bf16[33,17]  a: f32[5,33] = cast(x)
      v: f32[33,17] = cast(w)  y = matmul(a, v)  return y })");
  const Ran narrow = RunText("graph (x: bf16[5,33]) { w = const bf16[33,17]  y: f32[5,17] = matmul(x, w)  return y }");
  ASSERT_EQ(widened.results.size(), 1u);
  EXPECT_TRUE(widened.results[0].SameBytes(narrow.results[0]));
  EXPECT_EQ(StepOf(widened, "matmul").src_type, kBf16);
  EXPECT_EQ(StepOf(widened, "matmul").weights_type, kBf16);
  EXPECT_EQ(CountConversions(widened.steps), 0);
}

TEST(MixedTypes, MathModeRoundsAsMuchAsBf16Does) {
  const Ran mode = RunText(kMathMode);
  const absl::StatusOr<Graph> graph = ParseGraph(kCasts);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto expected = reference::EvaluateGraph(*graph, reference::RandomInputs(*graph, /*seed=*/3));
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_EQ(mode.results.size(), 1u);
  // Where nothing is rounded the operands' roundings are the difference.
  const bool native = RoundsInMathMode();
  EXPECT_EQ(reference::Compare(mode.results[0], (*expected)[0], native ? 1e-5f : 0.01f, native ? 1e-5f : 0.05f), "");
}

TEST(MixedTypes, StepsSayWhatTheyRead) {
  if (!HasAllKernels() || !DescribeCpu().native_bf16) GTEST_SKIP() << "no bf16 instructions";
  const Ran conv = RunText(R"(graph (x: bf16[1,16,7,5], r: f32[1,32,7,5]) { w = const bf16[32,16,1,1]
      y: f32[1,32,7,5] = conv(x, w, _, r)  return y })");
  const StepInfo step = StepOf(conv, "conv");
  EXPECT_EQ(step.src_type, kBf16);
  EXPECT_EQ(step.weights_type, kBf16);
  EXPECT_EQ(step.dst_type, kF32);
  EXPECT_EQ(CountConversions(conv.steps), 0);

  const Ran softmax = RunText("graph (x: bf16[3,33]) { y: f32[3,33] = softmax(x)  return y }");
  EXPECT_EQ(StepOf(softmax, "softmax").src_type, kBf16);
  EXPECT_EQ(StepOf(softmax, "softmax").dst_type, kF32);

  const Ran cast = RunText("graph (x: f32[3,33]) { y: bf16[3,33] = cast(x)  return y }");
  EXPECT_EQ(CountConversions(cast.steps), 1);
  const Ran reorder = RunText(R"(graph (x: f32[1,16,9,9]) { w = const f32[16,16,3,3]  return conv(x, w) })");
  EXPECT_EQ(CountConversions(reorder.steps), 0);  // layouts are no conversions
}

}  // namespace
}  // namespace halftone::testing
