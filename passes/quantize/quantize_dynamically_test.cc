// SPDX-License-Identifier: Apache-2.0
// Matmuls whose activation ranges are found at run time: which ones are quantized, as which ops, and their outputs.
#include "passes/quantize/quantize_dynamically.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/pair_sums.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/pipelines.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 5;
constexpr float kSteps = 0.05f;  // of the largest output

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// Every node that has the form.
Graph Quantized(const Graph& graph, const QuantizeOptions& options = {}) {
  std::set<NodeId> nodes;
  for (const NodeId id : graph.nodes()) {
    if (WhyNotDynamic(graph, id).empty()) nodes.insert(id);
  }
  const PermissiveTarget target;
  PassContext context{.target = target};
  Pipeline pipeline("quantize");
  pipeline.Add<QuantizeDynamically>(nodes, options);
  pipeline.Add<RemoveDeadNodes>();
  Graph result = graph;
  EXPECT_EQ(pipeline.Run(result, context), absl::OkStatus());
  return result;
}

std::string Text(const Graph& graph) { return PrintGraph(graph, {.shapes = false}); }
int Count(const Graph& graph, OpKind op) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += graph.op(id) == op ? 1 : 0;
  return count;
}

constexpr std::string_view kProducts = R"(graph (x: f32[2,7,33]) {
  w = const f32[33,19]
  v = const f32[17,33]
  b = const f32[19]
  y = matmul(x, w, b) {activation="relu"} name="y"
  z = matmul(x, v) {transpose_b=true} name="z"
  return y, z
})";

TEST(QuantizeDynamically, WhatTwoProductsReadIsQuantizedOnce) {
  const Graph before = Parsed(kProducts), after = Quantized(before);
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, kSeed, kSteps);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "") << Text(after);
  EXPECT_EQ(Count(after, OpKind::kDynamicQuantizeLinear), 1);
  EXPECT_EQ(Count(after, OpKind::kMatMulIntegerToFloat), 2);
  EXPECT_EQ(Count(after, OpKind::kMatMul), 0);
  EXPECT_THAT(Text(after), HasSubstr("s8[33,17]"));  // transposed: the op has no attribute for it
  EXPECT_TRUE(after.FindNode("y").valid());
}

TEST(QuantizeDynamically, TheFileHasStandardOpsAndIsFusedAgain) {
  Graph file = Quantized(Parsed(kProducts));
  const Graph quantized = file;
  const PermissiveTarget target;
  PassContext context{.target = target};
  static constexpr FileDialect kFile = {.name = "file", .features = {FileFeature::kMatMulInteger, FileFeature::kGemm}};
  ASSERT_EQ(MakeExportPipeline(kFile).Run(file, context), absl::OkStatus());
  EXPECT_EQ(Count(file, OpKind::kMatMulInteger), 2) << Text(file);
  EXPECT_EQ(Count(file, OpKind::kMatMulIntegerToFloat), 0);
  Graph run = file;
  ASSERT_EQ(MakeOptimizePipeline().Run(run, context), absl::OkStatus());
  EXPECT_EQ(Count(run, OpKind::kMatMulIntegerToFloat), 2) << Text(run);
  for (const OpKind part : {OpKind::kAdd, OpKind::kMul, OpKind::kCast, OpKind::kRelu}) {
    EXPECT_EQ(Count(run, part), 0) << Text(run);
  }
  for (const Graph* graph : {&file, &run}) {
    const absl::StatusOr<std::string> same = CompareOutputs(quantized, *graph, kSeed, kRounding);
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(*same, "") << Text(*graph);
  }
}

TEST(QuantizeDynamically, WeightsOf7BitsWherePairsWouldNotFit) {
  const Graph before = Parsed(kProducts);
  const Graph after = Quantized(before, {.per_channel_weights = false, .reduce_range = true});
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, kSeed, kSteps);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "");
  for (const NodeId id : after.nodes()) {
    const Tensor* tensor = after.op(id) == OpKind::kConstant ? after.ConstantTensor(after.output(id)) : nullptr;
    if (tensor == nullptr || tensor->type() != DataType::kInt8) continue;
    EXPECT_TRUE(PairSumsOfAny(tensor->data<int8_t>()).fit());
  }
}

TEST(QuantizeDynamically, WhatHasNoSuchForm) {
  const Graph graph = Parsed(R"(graph (x: f32[1,3,5,7], a: f32[5,6], z: f32[6,4], h: bf16[5,6], r: f32[5,4]) {
    k = const f32[4,3,3,3]
    w = const f32[6,4]
    c = const f32[4]
    i = const f32[6,4] {inf, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}
    s = const f32[2,6,4]
    o = const bf16[6,4]
    y_conv = conv(x, k)
    y_both = matmul(a, z)
    y_sum = matmul(a, w, c, r)
    y_half = matmul(a, w) {scale=0.5}
    y_infinite = matmul(a, i)
    y_stack = matmul(a, s)
    y_narrow = matmul(h, o)
    y_other = relu(a)
    return y_conv, y_both, y_sum, y_half, y_infinite, y_stack, y_narrow, y_other
  })");
  const std::pair<const char*, const char*> reasons[] = {
      {"y_conv", "slower"},
      {"y_both", "both operands are computed"},
      {"y_sum", "fused into it"},
      {"y_half", "fused into it"},
      {"y_infinite", "not finite"},
      {"y_stack", "need an f32 matrix"},
      {"y_narrow", "need an f32 matrix"},
      {"y_other", "no form"},
  };
  for (const auto& [value, reason] : reasons) {
    const ValueId id = graph.FindValue(value);
    ASSERT_TRUE(id.valid()) << value;
    EXPECT_THAT(WhyNotDynamic(graph, graph.producer(id)), HasSubstr(reason)) << value;
  }
}

}  // namespace
}  // namespace halftone
