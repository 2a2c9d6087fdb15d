// SPDX-License-Identifier: Apache-2.0
// The plan with its backend: memory, constants, errors. Numbers of single kernels: tests/kernels.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

std::vector<std::string> Kernels(const Plan& plan) {
  std::vector<std::string> result;
  for (const StepInfo& step : plan.steps()) result.push_back(step.op + ": " + step.kernel.name);
  return result;
}

TEST(PlanTest, EveryNodeThatCannotRunIsListedAtOnce) {
  const Graph graph = Parse(R"(graph (x: f32[2,3]) {
    a: f32[2,3] = opaque "LSTM" (x)
    b: f32[2,3] = merge(a)
    c = relu(x)
    d: f32[?] = opaque "NonZero" (c)
    unused: f32[2,3] = opaque "Unused" (x)
    return b, c, d
  })");
  const absl::Status status = CompilePlan(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "cannot run 3 nodes: 'a' (op LSTM of f32, which no kernel knows), 'b' (control flow: merge), "
            "'d' (op NonZero of f32, which no kernel knows)");
}

TEST(PlanTest, TypesThatNoKernelTakesAreNamed) {
  const auto refusal = [](const std::string& text) { return std::string(CompilePlan(Parse(text)).status().message()); };
  EXPECT_THAT(refusal(R"(graph (x: f32[2], i: s64[2]) { a: f64[2] = opaque "Magic" (x, i)  return a })"),
              testing::HasSubstr("'a' (op Magic of f32, s64 to f64, which no kernel knows)"));
  EXPECT_THAT(refusal("graph (x: c64[2]) { y = erf(x)  return y }"),
              testing::HasSubstr("'y' (op erf of c64, which no kernel takes: "));
  EXPECT_THAT(refusal("graph (x: resource[2]) { y = identity(x)  return y }"),
              testing::HasSubstr("'y' (op identity of resource: no kernel for type resource)"));
}

TEST(PlanTest, SizesBeyondAllMemoryAreRefused) {
  const Graph graph = Parse("graph (x: f32[4294967296,4294967296,2]) { y = relu(x) return y }");
  EXPECT_EQ(CompilePlan(graph).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(PlanTest, InputsMustBeAsPlanned) {
  const Graph graph = Parse("graph (x: f32[2,3]) { return relu(x) }");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->Run({}).status().message(), "0 inputs given, the model has 1");
  const std::vector<Tensor> wrong = {Tensor(DataType::kFloat32, {3, 2})};
  EXPECT_EQ((*plan)->Run(wrong).status().message(), "input 'x' is f32[3,2], the plan was made for f32[2,3]");
}

// What other optimizers need passes for: unsqueeze or reshape after an op, squeeze before a transpose, and a
// transpose before a matmul that the matmul says itself.
TEST(PlanTest, ViewsCopyNothing) {
  const Graph graph = Parse(R"(graph (x: f32[2,3,4], z: f32[2,1,6,3]) {
    w = const f32[4,5]
    a = unsqueeze(matmul(x, w), [1])
    b = exp(reshape(a, [2, 15]))
    t = exp(transpose(squeeze(z, [1]), [0, 2, 1]))
    m = exp(matmul(x, squeeze(z, [1])) {transpose_a=true, transpose_b=true})
    return b, t, m
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> moved;
  for (const StepInfo& step : (*plan)->steps()) {
    const bool computes = step.op == "matmul" || step.op == "exp";
    if (!computes && DoesWork(step.kind)) moved.push_back(step.op);
  }
  EXPECT_THAT(moved, ElementsAre("reorder"));  // the result t, once: its transpose is a view
}

// The result is written with the transpose's strides, so that transpose and reshape are views of it.
TEST(PlanTest, MatMulTransposeReshapeCopyNothing) {
  const Graph graph = Parse(R"(graph (p: f32[2,4,48,40], v: f32[2,4,40,32], z: f32[2,48,128]) {
    t = transpose(matmul(p, v), [0, 2, 1, 3])
    return add(reshape(t, [2, 48, 128]), z), tanh(reshape(transpose(matmul(p, v) {scale=0.5}, [0, 2, 1, 3]), [96, 128]))
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> moved;
  for (const StepInfo& step : (*plan)->steps()) {
    const bool computes = step.op == "matmul" || step.op == "add" || step.op == "tanh";
    if (!computes && step.kind != StepKind::kView) moved.push_back(step.op + ": " + step.kernel.name);
  }
  EXPECT_THAT(moved, ElementsAre());
  const std::vector<Tensor> inputs = reference::RandomInputs(graph, 1);
  const auto outputs = (*plan)->Run(inputs);
  const auto expected = reference::EvaluateGraph(graph, inputs);
  ASSERT_TRUE(outputs.ok() && expected.ok()) << outputs.status();
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_EQ(reference::Compare((*outputs)[i], (*expected)[i], 1e-5f, 1e-5f), "");
  }
}

TEST(PlanTest, ConstantsAndShapesAreFolded) {
  const Graph graph = Parse(R"(graph (x: f32[2,3]) {
    w = const f32[5,3]   t = transpose(w, [1,0])
    s = shape(x)         z = reshape(x, s)
    return matmul(z, t)
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> at_run_time;
  for (const StepInfo& step : (*plan)->steps()) {
    if (DoesWork(step.kind)) at_run_time.push_back(step.op);
  }
  EXPECT_THAT(at_run_time, ElementsAre("matmul"));
}

TEST(PlanTest, MemoryIsSharedOverLifetimes) {
  std::string text = "graph (x: f32[1,16,32,32]) { w = const f32[16,16,3,3] a0 = conv(x, w) {pads=[1,1,1,1]}\n";
  for (int i = 0; i < 20; ++i) {
    text += "a" + std::to_string(i + 1) + " = conv(a" + std::to_string(i) + ", w) {pads=[1,1,1,1]}\n";
  }
  const auto plan = CompilePlan(Parse(text + "return a20 }"));
  ASSERT_TRUE(plan.ok());
  constexpr size_t kImage = 16 * 32 * 32 * 4;
  EXPECT_LT((*plan)->arena_bytes(), 4 * kImage);
}

// By every step of the plan that has some.
std::vector<const void*> PackedWeights(Plan& plan, const Graph& graph) {
  std::vector<const void*> result;
  EXPECT_TRUE(plan.WithSteps(reference::RandomInputs(graph, 1),
                             [&](std::span<const BoundStep> steps) {
                               for (const BoundStep& step : steps) {
                                 for (const auto& [address, bytes] : step.step->facts().constants)
                                   result.push_back(address);
                               }
                               return absl::OkStatus();
                             })
                  .ok());
  return result;
}

// One packed copy, whatever the number of plans and the batch.
TEST(PlanTest, PlansShareTheirPackedWeights) {
  const Graph graph = Parse("graph (x: f32[16,64]) { w = const f32[64,48] y = matmul(x, w) return y }");
  Graph larger = graph;
  {
    GraphEditor edit(larger);
    edit.SetShape(larger.output(larger.inputs()[0]), Shape::Of(std::vector<int64_t>{32, 64}));
    edit.SetShape(larger.outputs()[0].value, Shape::Of(std::vector<int64_t>{32, 48}));
  }
  const auto first = CompilePlan(graph), second = CompilePlan(graph), third = CompilePlan(larger);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  const std::vector<const void*> packed = PackedWeights(**first, graph);
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_EQ(PackedWeights(**second, graph), packed);
  EXPECT_EQ(PackedWeights(**third, larger), packed);
}

// Scratch memory lies where no value is alive at the time.
TEST(PlanTest, TheArenaHoldsLittleMoreThanWhatIsAlive) {
  std::string text = "graph (x: f32[4,16,32,32]) { w = const f32[16,16,3,3] a0 = conv(x, w) {pads=[1,1,1,1]}\n";
  for (int i = 0; i < 8; ++i) {
    const std::string from = "a" + std::to_string(i);
    text += "b" + std::to_string(i) + " = conv(" + from + ", w) {pads=[1,1,1,1], activation=\"relu\"}\n";
    text += "a" + std::to_string(i + 1) + " = add(b" + std::to_string(i) + ", " + from + ")\n";
  }
  const auto plan = CompilePlan(Parse(text + "return a8 }"));
  ASSERT_TRUE(plan.ok());
  const PlanMemory memory = (*plan)->memory();
  EXPECT_EQ(memory.arena, (*plan)->arena_bytes());
  EXPECT_GE(memory.live, 2u * 4 * 16 * 32 * 32 * 4);
  EXPECT_LE(memory.arena, memory.live * 1.2);
}

// The caller's tensors may move between runs, and are never written to.
TEST(PlanTest, RunsAreIndependent) {
  const Graph graph = Parse(R"(graph (x: f32[1,5,7,5], r: f32[1,5,7,5]) {
    w = const f32[5,5,3,3]   c = const f32[1,5,7,5]
    y = conv(x, w, _, r) {pads=[1,1,1,1], activation="relu"}
    return add(relu(y), c), relu(x)
  })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const uint64_t seed : {1, 2, 1}) {
    const std::vector<Tensor> inputs = reference::RandomInputs(graph, seed);
    const std::vector<Tensor> copies = {
        Tensor(DataType::kFloat32, inputs[0].dims(), Buffer::CopyOf(inputs[0].raw(), inputs[0].byte_size())),
        Tensor(DataType::kFloat32, inputs[1].dims(), Buffer::CopyOf(inputs[1].raw(), inputs[1].byte_size()))};
    const auto actual = (*plan)->Run(inputs);
    const auto expected = reference::EvaluateGraph(graph, copies);
    ASSERT_TRUE(actual.ok() && expected.ok());
    EXPECT_EQ(reference::Compare((*actual)[0], (*expected)[0], 1e-5f, 1e-5f), "");
    EXPECT_EQ(reference::Compare((*actual)[1], (*expected)[1], 0, 0), "");
    EXPECT_TRUE(inputs[0].SameBytes(copies[0]));
    EXPECT_TRUE(inputs[1].SameBytes(copies[1]));
  }
}

TEST(PlanTest, TheOracleUsesReferenceFunctionsOnly) {
  const Graph graph = Parse(
      R"(graph (x: bf16[2,3]) { w = const bf16[3,5]  y: f32[2,5] = cast(matmul(x, w) {activation="relu"})  return y })");
  const auto plan = CompilePlan(graph, {.reference_only = true});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(Kernels(**plan), ElementsAre("matmul+relu: reference", "cast: reference"));
  const std::vector<Tensor> inputs = reference::RandomInputs(graph, 4);
  EXPECT_TRUE((*(*plan)->Run(inputs))[0].SameBytes((*reference::EvaluateGraph(graph, inputs))[0]));
}

TEST(PlanTest, ProfileTimesEachStep) {
  const Graph graph = Parse(
      R"(graph (x: f32[2,3]) { w = const f32[3,5]  b = const f32[5]  y = matmul(x, w, b) {activation="relu"}  return y })");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok());
  const auto steps = (*plan)->Profile(reference::RandomInputs(graph, 4), 3);
  ASSERT_TRUE(steps.ok());
  ASSERT_EQ(steps->size(), 1u);
  const StepInfo& step = (*steps)[0];
  EXPECT_EQ(step.op, "matmul+bias+relu");
  EXPECT_EQ(step.label, "y");
  EXPECT_EQ(step.weights_type, DataType::kFloat32);
  EXPECT_GT(step.median_us.value_or(0), 0);
}

TEST(PlanTest, ProfileEndsAtItsTimeAfterThreeRuns) {
  const Graph graph = Parse("graph (x: f32[2,3]) { y = relu(x) return y }");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok());
  // Of 2^30 repetitions only those within no time at all: the test would not end otherwise.
  const auto steps = (*plan)->Profile(reference::RandomInputs(graph, 4), 1 << 30, /*seconds=*/0);
  ASSERT_TRUE(steps.ok());
  EXPECT_GT((*steps)[0].median_us.value_or(0), 0);
}

TEST(PlanTest, ErrorsOfARunNameTheNode) {
  const Graph graph = Parse("graph (x: f32[3,2], i: s64[1]) { y = gather(x, i) return y }");
  const auto plan = CompilePlan(graph);
  ASSERT_TRUE(plan.ok());
  const std::vector<int64_t> index = {3};
  const std::vector<Tensor> inputs = {Tensor(DataType::kFloat32, {3, 2}), Tensor::Ints(index)};
  EXPECT_THAT(std::string((*plan)->Run(inputs).status().message()), HasSubstr("y: index 3 at position 0 is out"));
}

}  // namespace
}  // namespace halftone
