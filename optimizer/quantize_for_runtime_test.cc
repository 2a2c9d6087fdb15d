// SPDX-License-Identifier: Apache-2.0
#include "optimizer/quantize_for_runtime.h"

#include <memory>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"

namespace halftone {
namespace {

Graph Model() {
  absl::StatusOr<Graph> graph = ParseGraph(R"(graph (x: f32[1,2,5,4], a: f32[2,3,5]) {
      w = const f32[3,2,3,3]
      v = const f32[5,7]
      c = conv(x, w)
      m = matmul(a, v)
      return c, m
    })");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

TEST(QuantizeForRuntime, OnnxRuntimeAndOperatorsWantPlainOps) {
  using enum ModelFormat;
  EXPECT_FALSE(WantsPlainOps(kOnnx, TargetRuntime::kAny, QuantFormat::kQdq));
  EXPECT_TRUE(WantsPlainOps(kOnnx, TargetRuntime::kOnnxRuntime, QuantFormat::kQdq));
  EXPECT_TRUE(WantsPlainOps(kOnnx, TargetRuntime::kAny, QuantFormat::kQOperator));
  EXPECT_FALSE(WantsPlainOps(kGraphDef, TargetRuntime::kAny, QuantFormat::kQOperator));
  EXPECT_TRUE(OptionsFor(kOnnx, TargetRuntime::kOnnxRuntime, QuantFormat::kQdq, {}).quantize_results);
  EXPECT_FALSE(OptionsFor(kOnnx, TargetRuntime::kAny, QuantFormat::kQdq, {}).quantize_results);
  EXPECT_TRUE(OptionsFor(kOnnx, TargetRuntime::kOnnxRuntime, QuantFormat::kQdq, {}).quantize_outputs);
  EXPECT_FALSE(OptionsFor(kOnnx, TargetRuntime::kAny, QuantFormat::kQOperator, {}).quantize_outputs);
  EXPECT_FALSE(OptionsFor(kGraphDef, TargetRuntime::kAny, QuantFormat::kQOperator, {}).per_channel_products);
}

TEST(QuantizeForRuntime, TheInt8FileAloneHasOperators) {
  EXPECT_TRUE(FileOptionsOf(VariantKind::kInt8, QuantFormat::kQOperator).integer_operators);
  EXPECT_FALSE(FileOptionsOf(VariantKind::kInt8, QuantFormat::kQdq).integer_operators);
  EXPECT_FALSE(FileOptionsOf(VariantKind::kFp32, QuantFormat::kQOperator).integer_operators);
}

TEST(QuantizeForRuntime, FusesWhatTheTargetRuntimeFuses) {
  const PermissiveTarget machine;
  const Graph graph = Model();
  const NodeId conv = graph.producer(graph.outputs()[0].value), product = graph.producer(graph.outputs()[1].value);
  const auto fuses = [&](const Target& target, NodeId node, const FusedParts& parts) {
    return target.SupportsFused(graph, node, parts).ok();
  };
  const auto any = FusionTargetFor(ModelFormat::kOnnx, TargetRuntime::kAny, {.form = QuantFormat::kQdq}, machine);
  const auto pairs =
      FusionTargetFor(ModelFormat::kOnnx, TargetRuntime::kOnnxRuntime, {.form = QuantFormat::kQdq}, machine);
  const auto operators =
      FusionTargetFor(ModelFormat::kOnnx, TargetRuntime::kAny, {.form = QuantFormat::kQOperator}, machine);
  EXPECT_EQ(any, nullptr) << "it fuses as other variants do";
  EXPECT_FALSE(fuses(*pairs, conv, {.residual = true}));
  EXPECT_TRUE(fuses(*pairs, conv, {.bias = true, .activation = Activation::kRelu}));
  EXPECT_FALSE(fuses(*pairs, conv, {.activation = Activation::kLeakyRelu}));
  EXPECT_TRUE(fuses(*pairs, product, {.bias = true}));
  EXPECT_FALSE(fuses(*operators, product, {.bias = true}));
  EXPECT_TRUE(fuses(*operators, conv, {.bias = true}));
}

}  // namespace
}  // namespace halftone
