// SPDX-License-Identifier: Apache-2.0
// The profile of a plan: every step is timed within the run and alone, reorders are counted as oneDNN counts them, and
// profiling leaves the plan as it was.
#include "runtime/measure/profile.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/cpu/onednn/peak.h"
#include "runtime/cpu/onednn/verbose.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

constexpr ProfileOptions kQuick{.seconds = 0.02, .min_runs = 3, .alone_seconds = 0.0005, .alone_min_runs = 3};

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

std::vector<Tensor> InputsFor(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const NodeId input : graph.inputs()) {
    const ValueId value = graph.output(input);
    Tensor tensor(DataType::kFloat32, graph.shape(value).values());
    float next = -1;
    for (float& number : tensor.mutable_data<float>()) number = next = next > 1 ? -1 : next + 0.03f;
    inputs.push_back(*tensor.ConvertTo(graph.type(value)));
  }
  return inputs;
}

PlanProfile ProfileOf(const Graph& graph) {
  auto plan = CompilePlan(graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = InputsFor(graph);
  const auto before = (*plan)->Run(inputs);
  absl::StatusOr<PlanProfile> profile = ProfilePlan(**plan, graph, inputs, kQuick);
  EXPECT_TRUE(profile.ok()) << profile.status();
  const auto after = (*plan)->Run(inputs);
  for (size_t i = 0; i < before->size(); ++i)
    EXPECT_EQ((*before)[i].ToDoubles(), (*after)[i].ToDoubles()) << "profiling changed the outputs";
  return *std::move(profile);
}

constexpr std::string_view kNet = R"(graph (x: f32[1,3,33,35]) {
  w = const f32[32,3,3,3]  b = const f32[32]
  v = const f32[32,32,3,3]
  u = const f32[10,32,17,18]
  c = conv(x, w, b) {pads=[1,1,1,1], strides=[2,2], activation="relu"}
  d = conv(c, v, _, c) {pads=[1,1,1,1], activation="relu"}
  p = max_pool(d) {kernel=[3,3], strides=[1,1], pads=[1,1,1,1]}
  s = softmax(p) {axis=3}
  return s, conv(d, u)
})";

TEST(ProfileTest, EveryStepHasATimeWithinTheRunAndOneAlone) {
  const PlanProfile profile = ProfileOf(Parse(kNet));
  EXPECT_FALSE(profile.in_parts);
  EXPECT_GE(profile.runs, kQuick.min_runs);
  EXPECT_GT(profile.whole_us, 0);
  ASSERT_GE(profile.steps.size(), 5u);
  for (const StepProfile& step : profile.steps) {
    EXPECT_GT(step.info.median_us.value_or(0), 0) << step.info.label;
    EXPECT_GT(step.alone_us.value_or(0), 0) << step.info.label;
    EXPECT_GT(step.bytes, 0) << step.info.label;
    EXPECT_FALSE(step.info.kernel.name.empty()) << step.info.label;
  }
}

TEST(ProfileTest, ReordersAreThoseOfOneDnnsLines) {
  for (const std::string_view text : {
           kNet,
           std::string_view("graph (x: bf16[2,16,9,11]) { w = const bf16[24,16,3,3]  c = conv(x, w)  return relu(c) }"),
           std::string_view("graph (x: f32[2,5,7], w: f32[8,5,3]) { return conv(x, w) }"),  // weights packed in the run
           std::string_view("graph (x: f32[4,6]) { t = transpose(x, [1,0])  return softmax(t) {axis=1} }"),
       }) {
    const PlanProfile profile = ProfileOf(Parse(text));
    EXPECT_EQ(profile.Reorders(), profile.VerboseReorders()) << text;
    int of_steps = 0;
    for (const StepProfile& step : profile.steps) {
      for (const std::string& line : step.verbose) of_steps += PrimitiveOf(line) == "reorder" ? 1 : 0;
    }
    EXPECT_EQ(of_steps, profile.VerboseReorders()) << "a reorder outside of all steps: " << text;
  }
}

TEST(ProfileTest, SharesOfThePeakAreShares) {
  const PlanProfile profile = ProfileOf(Parse(kNet));
  ASSERT_EQ(profile.peaks.size(), 1u);
  EXPECT_EQ(profile.peaks[0].type, DataType::kFloat32);
  EXPECT_EQ(profile.peaks[0].gflops, PeakGflops(DataType::kFloat32, 1)) << "measured once";
  double flop = 0;
  for (const StepProfile& step : profile.steps) flop += step.flop;
  const double first = 2.0 * 32 * 17 * 18 * 27, second = 2.0 * 32 * 17 * 18 * 288, third = 2.0 * 10 * 32 * 17 * 18;
  EXPECT_EQ(flop, first + second + third);
}

TEST(ProfileTest, MemoryIsSharedAndPackedWeightsAreCounted) {
  const PlanProfile profile = ProfileOf(Parse(kNet));
  const size_t weights = (32 * 3 * 9 + 32 + 32 * 32 * 9 + 10 * 32 * 17 * 18) * sizeof(float);
  EXPECT_EQ(profile.weight_bytes, weights);
  EXPECT_GE(profile.packed_bytes, weights);
  EXPECT_LT(profile.packed_bytes, 2 * weights);
  const size_t largest = 32 * 17 * 18 * sizeof(float);
  EXPECT_GE(profile.memory.live, 2 * largest) << "the residual and the result";
  EXPECT_GE(profile.memory.live_with_scratch, profile.memory.live);
  EXPECT_GE(profile.memory.arena, profile.memory.live_with_scratch);
  EXPECT_LE(profile.memory.arena, 2 * profile.memory.live_with_scratch);
}

TEST(ProfileTest, APlanInPartsHasTimesOnly) {
  const Graph graph = Parse("graph (x: f32[3,4]) { i = non_zero(x)  n: f32[2,?] = cast(i)  return n }");
  const PlanProfile profile = ProfileOf(graph);
  EXPECT_TRUE(profile.in_parts);
  EXPECT_FALSE(profile.steps.empty());
}

TEST(ProfileTest, FlopOfProducts) {
  const auto flop = [](std::string_view text) {
    const Graph graph = Parse(text);
    return FlopOf(graph, graph.producer(graph.outputs()[0].value));
  };
  EXPECT_EQ(flop("graph (x: f32[2,3,5]) { w = const f32[5,7]  return matmul(x, w) }"), 2.0 * 2 * 3 * 5 * 7);
  EXPECT_EQ(flop("graph (a: f32[5,3], b: f32[5,7]) { return gemm(a, b) {transpose_a=true} }"), 2.0 * 3 * 5 * 7);
  EXPECT_EQ(flop("graph (x: f32[1,8,9,9]) { w = const f32[8,1,3,3]  return conv(x, w) {group=8} }"), 2.0 * 8 * 49 * 9);
  EXPECT_EQ(flop("graph (a: f32[4,2,3], b: f32[4,3,5]) { return einsum(a, b) {equation=\"bij,bjk->bik\"} }"),
            2.0 * 4 * 2 * 3 * 5);
  EXPECT_EQ(flop("graph (x: f32[2,3]) { return relu(x) }"), 0);
}

}  // namespace
}  // namespace halftone
