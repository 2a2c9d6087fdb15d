// SPDX-License-Identifier: Apache-2.0
// Weight-only quantization: the text of the result, outputs before and after, and what the run pipeline makes of it.
#include "passes/quantize/quantize_weights.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kSeed = 5;
constexpr float kSteps = 0.03f;  // of the largest output

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

Graph Quantized(const Graph& graph, bool per_channel = true) {
  const std::vector<NodeId> nodes = graph.nodes();
  const PermissiveTarget target;
  PassContext context{.target = target};
  Pipeline pipeline("quantize");
  pipeline.Add<QuantizeWeights>(std::set<NodeId>(nodes.begin(), nodes.end()), per_channel);
  pipeline.Add<RemoveDeadNodes>();
  Graph result = graph;
  EXPECT_EQ(pipeline.Run(result, context), absl::OkStatus());
  return result;
}

std::string Text(const Graph& graph) { return PrintGraph(graph, {.shapes = false}); }

void ExpectNear(const Graph& before, const Graph& after) {
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, kSeed, kSteps);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "") << Text(after);
}

constexpr std::string_view kLayers = R"(graph (x: f32[2,3,9,7], i: s64[4]) {
  w = const f32[8,3,3,3]
  v = const f32[5,8]
  t = const f32[11,8]
  c = conv(x, w) {activation="relu"}
  m = matmul(reduce_mean(c, [2, 3]) {keepdims=false}, v) {transpose_b=true}
  e = gather(t, i)
  return m, e
})";

TEST(QuantizeWeights, OneScaleAnOutputChannelOrRowOfATable) {
  const Graph before = Parsed(kLayers), after = Quantized(before);
  ExpectNear(before, after);
  const std::string text = Text(after);
  for (const char* part : {"s8[8,3,3,3]", "s8[5,8]", "s8[11,8]", "{axis=0}"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("quantize_linear(x")));
  EXPECT_THAT(text, HasSubstr("activation=\"relu\""));
}

TEST(QuantizeWeights, OneScaleInAll) {
  const Graph before = Parsed(kLayers), after = Quantized(before, /*per_channel=*/false);
  ExpectNear(before, after);
  EXPECT_THAT(Text(after), Not(HasSubstr("axis=")));
}

TEST(QuantizeWeights, ThePlannedGraphComputesWithNumbers) {
  const Graph quantized = Quantized(Parsed(kLayers));
  Graph run = quantized;
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_EQ(MakeRunPipeline().Run(run, context), absl::OkStatus());
  const absl::StatusOr<std::string> same = CompareOutputs(quantized, run, kSeed, /*tolerance=*/0);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*same, "");
  const std::string text = Text(run);
  EXPECT_THAT(text, HasSubstr("const f32[11,8]"));
}

TEST(QuantizeWeights, BothMatricesOfRecurrentLayers) {
  const Graph before = Parsed(R"(graph (x: f32[6,2,5]) {
    w = const f32[2,12,5]
    r = const f32[2,12,3]
    y, h, c = lstm(x, w, r) {hidden_size=3, direction="bidirectional"}
    return y
  })");
  const Graph after = Quantized(before);
  ExpectNear(before, after);
  EXPECT_THAT(Text(after), HasSubstr("s8[2,12,5]"));
  EXPECT_THAT(Text(after), HasSubstr("s8[2,12,3]"));
}

TEST(QuantizeWeights, AConstantOfTwoReadersIsStoredOnce) {
  const Graph after = Quantized(Parsed(R"(graph (x: f32[4,6], z: f32[3,6]) {
    w = const f32[6,5]
    return matmul(x, w), matmul(z, w)
  })"));
  int dequantized = 0;
  for (const NodeId id : after.nodes()) dequantized += after.op(id) == OpKind::kDequantizeLinear ? 1 : 0;
  EXPECT_EQ(dequantized, 1) << Text(after);
}

TEST(QuantizeWeights, WhatHasNone) {
  const Graph graph = Parsed(R"(graph (x: f32[4,6], z: f32[6,5], i: s64[2]) {
    t = const f32[6,5]
    a = matmul(x, z)
    b = gather(t, i, 1:s64)
    c = relu(x)
    d = const s64[7]
    e = gather(d, i)
    return a, b, c, e
  })");
  for (const NodeId id : graph.nodes()) EXPECT_TRUE(WeightInputsOf(graph, id).empty()) << graph.Label(id);
  EXPECT_EQ(Text(Quantized(graph)), Text(graph));
}

TEST(QuantizeWeights, WeightsThatAreNotFiniteStay) {
  const Graph after = Quantized(Parsed(R"(graph (x: f32[4,2]) {
    w = const f32[2,2] {1, inf, 2, 3}
    return matmul(x, w)
  })"));
  EXPECT_THAT(Text(after), Not(HasSubstr("dequantize_linear")));
}

}  // namespace
}  // namespace halftone
