// SPDX-License-Identifier: Apache-2.0
// Plans in parts: free dimensions, shapes that depend on data, parts that are used again; types and odd sizes.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return *std::move(graph);
}

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return Tensor::Of<float>(std::move(dims), values);
}

Tensor Ramp(std::vector<int64_t> dims) {
  Tensor tensor(DataType::kFloat32, std::move(dims));
  float next = -2;
  for (float& value : tensor.mutable_data<float>()) value = next += 0.5f;
  return tensor;
}

// Runs a plan and the reference functions on the same inputs.
std::vector<Tensor> RunBoth(Plan& plan, const Graph& graph, const std::vector<Tensor>& inputs) {
  const auto outputs = plan.Run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const auto expected = reference::EvaluateGraph(graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!outputs.ok() || !expected.ok()) return {};
  for (size_t i = 0; i < outputs->size(); ++i)
    EXPECT_EQ(reference::Compare((*outputs)[i], (*expected)[i], 1e-5f, 1e-5f), "");
  return *outputs;
}

TEST(DynamicPlanTest, FreeDimensionsMayBeAnyNumberInEachRun) {
  const Graph graph = Parse(R"(graph (x: f32[N,T,4]) {
    w = const f32[4,3]  b = const f32[3]
    m = matmul(x, w, b) {activation="relu"}
    s = reduce_sum(m, [1]) {keepdims=false}
    return s
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const size_t before = (*plan)->arena_bytes();
  for (const auto& [n, t] : {std::pair(1, 5), std::pair(3, 2), std::pair(1, 5), std::pair(2, 7)}) {
    const std::vector<Tensor> outputs = RunBoth(**plan, graph, {Ramp({n, t, 4})});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_THAT(outputs[0].dims(), ElementsAre(n, 3));
  }
  EXPECT_GT((*plan)->arena_bytes(), before);
  const size_t three_shapes = (*plan)->arena_bytes();
  RunBoth(**plan, graph, {Ramp({3, 2, 4})});
  EXPECT_EQ((*plan)->arena_bytes(), three_shapes);  // used again
  const std::vector<Tensor> wrong = {Ramp({3, 2, 5})};
  EXPECT_EQ((*plan)->Run(wrong).status().message(), "input 'x' is f32[3,2,5], the plan was made for f32[N,T,4]");
}

TEST(DynamicPlanTest, WhatDataDecideIsComputedAndThenPlanned) {
  const Graph graph = Parse(R"(graph (x: f32[2,3]) {
    r = relu(x)
    i = non_zero(r)
    t = transpose(i, [1, 0])
    v = gather_nd(r, t)
    y = mul(v, 2.0:f32)
    return y, i
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto outputs = RunBoth(**plan, graph, {Floats({2, 3}, {1, -2, 3, -4, 5, -6})});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(2, 6, 10));
  outputs = RunBoth(**plan, graph, {Floats({2, 3}, {-1, -2, -3, -4, -5, -6})});
  EXPECT_THAT(outputs[0].ToFloats(), IsEmpty());
  std::vector<std::string> steps;
  RunBoth(**plan, graph, {Floats({2, 3}, {1, -2, 3, -4, 5, -6})});
  for (const StepInfo& step : (*plan)->steps()) steps.push_back(step.label + ": " + step.op);
  EXPECT_THAT(steps, Contains("r: relu"));
  EXPECT_THAT(steps, Contains("i: non_zero"));
  EXPECT_THAT(steps, Contains("y: mul"));
}

TEST(DynamicPlanTest, SmallIntegersThatDecideShapesAreBound) {
  const Graph graph = Parse(R"(graph (x: f32[6], n: s64[], shape: s64[2]) {
    a = reshape(x, shape)
    m = matmul(a, transpose(a, [1, 0]))
    r = range(0, n, 1)
    f: f32[?] = cast(r)
    z = add(f, 1.0:f32)
    return m, z
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const int64_t n : {3, 0, 5, 3}) {
    const std::vector<int64_t> shape = n == 3 ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{3, 2};
    const auto outputs = RunBoth(**plan, graph, {Ramp({6}), Tensor::IntScalar(n), Tensor::Ints(shape)});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_THAT(outputs[0].dims(), ElementsAre(shape[0], shape[0]));
    EXPECT_THAT(outputs[1].dims(), ElementsAre(n));
  }
}

// A slice whose bounds are others in each run must not be planned anew each time.
TEST(DynamicPlanTest, BoundsThatAlwaysChangeAreNotBound) {
  const Graph graph = Parse(R"(graph (x: f32[100,2], from: s64[1], to: s64[1]) {
    s = slice(x, from, to, [0])
    y = mul(s, 2.0:f32)
    return y
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  size_t bytes = 0;
  for (int64_t i = 0; i < 60; ++i) {
    RunBoth(**plan, graph,
            {Ramp({100, 2}), Tensor::Ints(std::vector<int64_t>{i}), Tensor::Ints(std::vector<int64_t>{i + 3})});
    if (i == 30) bytes = (*plan)->arena_bytes();
  }
  EXPECT_EQ((*plan)->arena_bytes(), bytes);
}

TEST(DynamicPlanTest, ProfileCoversAllParts) {
  const Graph graph = Parse(R"(graph (x: f32[N]) {
    r = relu(x)  i = non_zero(r)  v = gather_nd(r, transpose(i, [1, 0]))  y = tanh(v)  return y
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Ramp({64})};
  const auto steps = (*plan)->Profile(inputs, 5);
  ASSERT_TRUE(steps.ok()) << steps.status();
  for (const StepInfo& step : *steps) {
    if (step.op == "relu" || step.op == "non_zero" || step.op == "tanh") {
      EXPECT_GT(step.median_us.value_or(0), 0) << step.label;
    }
  }
}

TEST(DynamicPlanTest, WhatCannotRunIsToldAtOnce) {
  const Graph graph = Parse("graph (x: f32[N]) { a = non_zero(x) b: s64[1,?] = opaque \"Odd\" (a) return b }");
  EXPECT_THAT(std::string(CompilePlan(graph).status().message()),
              HasSubstr("cannot run 1 node: 'b' (op Odd of s64, which no kernel knows)"));
}

TEST(DynamicPlanTest, SizesAskedByDataAreRefusedByName) {
  const Graph graph = Parse("graph (n: s64[2]) { f = fill(n, 1.0:f32) return f }");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Tensor::Ints(std::vector<int64_t>{1 << 20, 1 << 20})};
  const absl::Status status = (*plan)->Run(inputs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("node 'f': value 'f' of shape [1048576,1048576] is too large"));
}

TEST(TypesTest, HalfIsComputedInF32AndRoundedOnce) {
  const Graph graph = Parse(R"(graph (x: f16[2,4]) {
    w = const f16[4,3]
    m = matmul(x, w)  t = tanh(m)  c = concat(t, t, 1)
    return c
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {*Ramp({2, 4}).ConvertTo(DataType::kFloat16)};
  const auto outputs = (*plan)->Run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const auto expected = reference::EvaluateGraph(graph, inputs);
  EXPECT_EQ((*outputs)[0].type(), DataType::kFloat16);
  EXPECT_EQ(reference::Compare((*outputs)[0], (*expected)[0], 1e-3f, 1e-3f), "");
  for (const StepInfo& step : (*plan)->steps())
    EXPECT_FALSE(step.kernel.slow) << step.label << " by " << step.kernel.name;
}

TEST(TypesTest, NothingAndScalars) {
  const Graph graph = Parse(R"(graph (x: f32[0,3], s: f32[], unused: f32[2]) {
    w = const f32[3,2]
    m = matmul(x, w)  r = reduce_sum(x, [0]) {keepdims=false}  t = tanh(s)  k = const f32[2] {1, 2}
    return m, r, t, s, k, k
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto outputs =
      RunBoth(**plan, graph, {Tensor(DataType::kFloat32, {0, 3}), Tensor::Scalar(0.5f), Floats({2}, {1, 2})});
  ASSERT_EQ(outputs.size(), 6u);
  EXPECT_THAT(outputs[0].dims(), ElementsAre(0, 2));
  EXPECT_THAT(outputs[1].ToFloats(), ElementsAre(0, 0, 0));
  EXPECT_THAT(outputs[3].ToFloats(), ElementsAre(0.5f));
  EXPECT_THAT(outputs[5].ToFloats(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace halftone
