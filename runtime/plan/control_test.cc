// SPDX-License-Identifier: Apache-2.0
// Control flow through the engine: nested plans, loop-carried values, budgets, times of nested steps.
#include <chrono>
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

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return *std::move(graph);
}

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return Tensor::Of<float>(std::move(dims), values);
}

Tensor Bool(bool value) {
  Tensor tensor(DataType::kBool, {});
  tensor.mutable_data<bool>()[0] = value;
  return tensor;
}

// One run of a fresh plan; the reference evaluation must say the same.
std::vector<Tensor> RunBoth(std::string_view text, const std::vector<Tensor>& inputs) {
  const Graph graph = Parse(text);
  const auto plan = CompilePlan(graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const auto outputs = (*plan)->Run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const auto expected = reference::EvaluateGraph(graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!outputs.ok() || !expected.ok()) return {};
  for (size_t i = 0; i < outputs->size(); ++i)
    EXPECT_EQ(reference::Compare((*outputs)[i], (*expected)[i], 1e-5f, 1e-6f), "");
  return *outputs;
}

constexpr std::string_view kBranches = R"(graph (c: bool[], x: f32[2,3]) {
  y: f32[2,3] = if(c, x) {then=graph (a: f32[2,3]) { b = neg(a) return b },
                          else=graph (a: f32[2,3]) { b = add(a, a) return b }}
  return y
})";

TEST(ControlTest, IfTakesOneBranch) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(RunBoth(kBranches, {Bool(true), x})[0].ToFloats(), ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_THAT(RunBoth(kBranches, {Bool(false), x})[0].ToFloats(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(ControlTest, BranchesOfDifferentShapes) {
  constexpr std::string_view kText = R"(graph (c: bool[], x: f32[2,3]) {
    y = if(c, x) {then=graph (a: f32[2,3]) { b = reshape(a, [6]) return b },
                  else=graph (a: f32[2,3]) { b = reduce_sum(a, [0]) {keepdims=false} return b }}
    z = add(y, 1.0:f32)
    return z
  })";
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(RunBoth(kText, {Bool(true), x})[0].ToFloats(), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THAT(RunBoth(kText, {Bool(false), x})[0].ToFloats(), ElementsAre(6, 8, 10));
}

// The states swap places in each run; the third collects.
constexpr std::string_view kSwap = R"(graph (n: s64[], a: f32[2], b: f32[2], k: f32[2]) {
  x: f32[2], y: f32[2], seen: f32[?,2] = loop(n, _, a, b, k) {body=graph (i: s64[], c: bool[], s: f32[2], t: f32[2], k: f32[2]) {
    sum = add(s, k)
    return c, t, sum, s
  }} captures("")
  return x, y, seen
})";

TEST(ControlTest, LoopCarriesItsStates) {
  const std::vector<Tensor> outputs =
      RunBoth(kSwap, {Tensor::IntScalar(3), Floats({2}, {1, 2}), Floats({2}, {10, 20}), Floats({2}, {100, 200})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(110, 220));
  EXPECT_THAT(outputs[1].ToFloats(), ElementsAre(201, 402));
  EXPECT_THAT(outputs[2].dims(), ElementsAre(3, 2));
  EXPECT_THAT(outputs[2].ToFloats(), ElementsAre(1, 2, 10, 20, 101, 202));
}

TEST(ControlTest, LoopOfNoTripsCollectsNothing) {
  const std::vector<Tensor> outputs =
      RunBoth(kSwap, {Tensor::IntScalar(0), Floats({2}, {1, 2}), Floats({2}, {10, 20}), Floats({2}, {100, 200})});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(1, 2));
  EXPECT_THAT(outputs[2].dims(), ElementsAre(0, 2));
}

TEST(ControlTest, TheCallersTensorsAreNotWrittenOver) {
  const auto plan = CompilePlan(Parse(kSwap));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Tensor::IntScalar(3), Floats({2}, {1, 2}), Floats({2}, {10, 20}),
                                      Floats({2}, {100, 200})};
  for (int run = 0; run < 2; ++run) {
    const auto outputs = (*plan)->Run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT((*outputs)[1].ToFloats(), ElementsAre(201, 402));
    EXPECT_THAT(inputs[1].ToFloats(), ElementsAre(1, 2));
  }
}

TEST(ControlTest, AStateThatGrows) {
  constexpr std::string_view kText = R"(graph (n: s64[], x: f32[1]) {
    y: f32[?] = loop(n, _, x) {body=graph (i: s64[], c: bool[], s: f32[?]) {
      t: f32[1] = reshape(cast_like(i, s), [1]) u = concat(s, t, 0) return c, u
    }}
    z = mul(y, 2.0:f32)
    return z
  })";
  EXPECT_THAT(RunBoth(kText, {Tensor::IntScalar(4), Floats({1}, {7})})[0].ToFloats(), ElementsAre(14, 0, 2, 4, 6));
}

TEST(ControlTest, WhileEndsByItsCondition) {
  constexpr std::string_view kText = R"(graph (x: f32[], w: f32[]) {
    y: f32[], v: f32[] = while(x, w) {
      condition=graph (a: f32[], b: f32[]) { c = less(a, 100.0:f32) return c },
      body=graph (a: f32[], b: f32[]) { d = mul(a, b) return d, b }}
    return y, v
  })";
  const std::vector<Tensor> outputs = RunBoth(kText, {Tensor::Scalar(1), Tensor::Scalar(3)});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(243));
  EXPECT_THAT(outputs[1].ToFloats(), ElementsAre(3));
}

TEST(ControlTest, ScanReadsAndCollectsAlongAxes) {
  constexpr std::string_view kText = R"(graph (h: f32[2], x: f32[2,3]) {
    last: f32[2], all: f32[2,3] = scan(h, x) {num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], scan_input_directions=[1],
      body=graph (s: f32[2], e: f32[2]) { t = add(s, e) return t, t }}
    return last, all
  })";
  const std::vector<Tensor> outputs = RunBoth(kText, {Floats({2}, {0, 100}), Floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(outputs[0].ToFloats(), ElementsAre(6, 115));
  EXPECT_THAT(outputs[1].ToFloats(), ElementsAre(3, 5, 6, 106, 111, 115));
}

TEST(ControlTest, LoopsInLoopsAndCalls) {
  constexpr std::string_view kText = R"(graph (x: f32[2]) {
    y: f32[2] = loop(3, _, x) {body=graph (i: s64[], c: bool[], s: f32[2]) {
      t: f32[2] = loop(2, _, s) {body=graph (j: s64[], d: bool[], u: f32[2]) {
        v: f32[2] = call(u) {body=graph (a: f32[2]) { b = add(a, 1.0:f32) return b }}
        return d, v
      }}
      return c, t
    }}
    return y
  })";
  EXPECT_THAT(RunBoth(kText, {Floats({2}, {0, 10})})[0].ToFloats(), ElementsAre(6, 16));
}

TEST(ControlTest, AnEndlessLoopIsNamedWithItsCount) {
  const Graph graph = Parse(R"(graph (x: f32[2]) {
    forever: f32[2] = loop(_, _, x) {body=graph (i: s64[], c: bool[], s: f32[2]) { t = neg(s) return c, t }}
    return forever
  })");
  CompileOptions options;
  options.loops.iterations = 1000;
  const auto plan = CompilePlan(graph, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Floats({2}, {1, 2})};
  const absl::Status status = (*plan)->Run(inputs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("forever: the loop did not end within 1000 iterations"));

  options.loops = {.iterations = 1'000'000'000, .seconds = 0.05};
  const auto timed = CompilePlan(graph, options);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_THAT(std::string((*timed)->Run(inputs).status().message()),
              HasSubstr("when the time of the run, 0.05 s, was over"));
}

TEST(ControlTest, NestedStepsAreSeenWithTheirTimes) {
  const auto plan = CompilePlan(Parse(R"(graph (x: f32[2,4]) {
    w = const f32[4,4]
    y: f32[2,4] = loop(50, _, x) {body=graph (i: s64[], c: bool[], s: f32[2,4]) {
      w = const f32[4,4] m = matmul(s, w) t = tanh(m) return c, t
    }}
    return y
  })"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> labels;
  for (const StepInfo& step : (*plan)->steps()) labels.push_back(step.label + ": " + step.op);
  EXPECT_THAT(labels, Contains("y: loop"));
  EXPECT_THAT(labels, Contains("y/m: matmul"));
  const std::vector<Tensor> inputs = {Tensor(DataType::kFloat32, {2, 4})};
  const auto timed = (*plan)->Profile(inputs, 3);
  ASSERT_TRUE(timed.ok()) << timed.status();
  for (const StepInfo& step : *timed) {
    if (step.op == "matmul" || step.op == "tanh") {
      EXPECT_GT(step.median_us.value_or(0), 0) << step.label;
    }
  }
}

TEST(ControlTest, ErrorsInsideNameTheWay) {
  const Graph opaque = Parse(R"(graph (x: f32[2]) {
    y: f32[2] = loop(3, _, x) {body=graph (i: s64[], c: bool[], s: f32[2]) { t: f32[2] = opaque "Odd" (s) return c, t }}
    return y
  })");
  EXPECT_THAT(std::string(CompilePlan(opaque).status().message()),
              HasSubstr("'y': in its body 't' (op Odd of f32, which no kernel knows)"));
  const Graph large = Parse(R"(graph (x: f32[2]) {
    y: f32[2] = loop(3, _, x) {body=graph (i: s64[], c: bool[], s: f32[2]) {
      f = fill([1048576, 1048576], 1.0:f32) m = reduce_max(f) {keepdims=false} t = add(s, m) return c, t }}
    return y
  })");
  const auto plan = CompilePlan(large);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Floats({2}, {1, 2})};
  const absl::Status status = (*plan)->Run(inputs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("y: node 'f': value 'f' of shape [1048576,1048576] is too large to be computed"));
}

// A recurrent cell as frozen graphs have it: what a run of a body costs beside its kernels. The bound is loose: a busy
// machine must not fail it; the number is in the test's properties.
TEST(ControlTest, ARunOfABodyCostsLittle) {
  constexpr int kTrips = 2000;
  const auto plan = CompilePlan(Parse(R"(graph (x: f32[1,8]) {
    y: f32[1,8], i: s64[] = while(x, 0) {
      condition=graph (s: f32[1,8], i: s64[]) { c = less(i, 2000) return c },
      body=graph (s: f32[1,8], i: s64[]) {
        w = const f32[8,8] m = matmul(s, w) t = tanh(m) u = add(t, s) v = mul(u, 0.5:f32) j = add(i, 1) return v, j }}
    return y, i
  })"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<Tensor> inputs = {Floats({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})};
  ASSERT_TRUE((*plan)->Run(inputs).ok());
  const auto start = std::chrono::steady_clock::now();
  const auto outputs = (*plan)->Run(inputs);
  const double us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kTrips;
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[1].ToInts()[0], kTrips);
  RecordProperty("microseconds_per_run_of_the_body", std::to_string(us));
  EXPECT_LT(us, 100);
}

}  // namespace
}  // namespace halftone
