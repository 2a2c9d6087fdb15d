// SPDX-License-Identifier: Apache-2.0
// What a policy changes in a plan, whichever planner made it.

#include "passes/precision/policy_rules.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/plan_text.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16, kF16 = DataType::kFloat16;

// Three layers, each followed by a relu, and a softmax at the end.
constexpr char kNet[] = R"(graph (x: f32[2,3]) {
  w = const f32[3,3]
  m1 = matmul(x, w)  r1 = relu(m1)  m2 = matmul(r1, w)  r2 = relu(m2)  m3 = matmul(r2, w)  r3 = relu(m3)
  y = softmax(r3)  return y })";
constexpr char kAll[] = "m1=bf16, r1=bf16, m2=bf16, r2=bf16, m3=bf16, r3=bf16";

struct Ruled {
  Graph graph;
  PrecisionPlan plan;
  std::vector<std::string> warnings;
  absl::Status status;
  int changed = 0;

  Ruled(const char* text, const char* planned, const PolicyRules& rules, DataType type = kBf16,
        const Ancestry& ancestry = {}) {
    absl::StatusOr<Graph> parsed = ParseGraph(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    graph = *std::move(parsed);
    absl::StatusOr<PrecisionPlan> given = ParsePlan(planned, graph);
    EXPECT_TRUE(given.ok()) << given.status();
    plan = *std::move(given);
    const absl::StatusOr<int> result =
        ApplyPolicyRules(graph, PermissiveTarget(), rules, type, ancestry, plan, warnings);
    status = result.status();
    changed = result.value_or(-1);
  }
  std::string Print() const { return PrintPlan(plan, graph); }
  const Decision& Of(std::string_view name) const { return *plan.Find(graph, graph.producer(graph.FindValue(name))); }
};

TEST(PolicyRules, NothingIsNoChange) {
  const Ruled r(kNet, kAll, {});
  EXPECT_EQ(r.Print(), kAll);
  EXPECT_EQ(r.changed, 0);
}

TEST(PolicyRules, TheFirstLayerAndWhatFollowsItStayFloat32) {
  const Ruled r(kNet, kAll, {.keep_first = true});
  EXPECT_EQ(r.Print(), "m2=bf16, r2=bf16, m3=bf16, r3=bf16");
  EXPECT_EQ(r.Of("m1").rule, "policy.first-layer");
  EXPECT_EQ(r.Of("m1").reason, "keep_first: no layer before this matmul");
  EXPECT_EQ(r.Of("r1").rule, "policy.follows");
  EXPECT_THAT(r.Of("r1").reason, HasSubstr("'m1'"));
  EXPECT_EQ(r.changed, 2);
}

TEST(PolicyRules, TheLastLayerAndWhatFollowsItStayFloat32) {
  const Ruled r(kNet, kAll, {.keep_last = true});
  EXPECT_EQ(r.Print(), "m1=bf16, r1=bf16, m2=bf16, r2=bf16");
  EXPECT_EQ(r.Of("m3").rule, "policy.last-layer");
}

TEST(PolicyRules, EveryBranchHasAFirstLayer) {
  const Ruled r(R"(graph (x: f32[2,3]) { w = const f32[3,3]
    a = matmul(x, w)  b = matmul(x, w)  s = add(a, b)  c = matmul(s, w)  return c })",
                "a=bf16, b=bf16, s=bf16, c=bf16", {.keep_first = true});
  EXPECT_EQ(r.Print(), "c=bf16");
}

TEST(PolicyRules, ASumOfOneThatStaysLoweredDoesNotFollow) {
  const Ruled r(R"(graph (x: f32[2,3]) { w = const f32[3,3]
    a = matmul(x, w)  t = matmul(a, w)  s = add(a, t)  c = matmul(s, w)  return c })",
                "a=bf16, t=bf16, s=bf16, c=bf16", {.keep_first = true});
  EXPECT_EQ(r.Print(), "t=bf16, s=bf16, c=bf16");
}

TEST(PolicyRules, ExactlyThisPrecision) {
  const Ruled r(kNet, kAll, {.nodes = {{.name = "m2", .precision = kF32}, {.name = "y", .precision = kBf16}}});
  EXPECT_EQ(r.Print(), "m1=bf16, r1=bf16, m3=bf16, r3=bf16, y=bf16");
  EXPECT_EQ(r.Of("m2").rule, "policy.precision");
  EXPECT_EQ(r.Of("m2").reason, "rule name=m2 of the policy: precision float32, planned bfloat16");
  EXPECT_EQ(r.Of("y").reason, "rule name=y of the policy: precision bfloat16, planned float32");
}

TEST(PolicyRules, TheFirstRuleOfANodeDecides) {
  const Ruled r(kNet, kAll, {.nodes = {{.match = "m[12]", .precision = kBf16}, {.op = "MatMul", .precision = kF32}}});
  EXPECT_EQ(r.Print(), "m1=bf16, r1=bf16, m2=bf16, r2=bf16");
}

TEST(PolicyRules, OpsByTheirNamesOfBothFormats) {
  for (const char* op : {"matmul", "MatMul"}) {
    EXPECT_EQ(Ruled(kNet, kAll, {.nodes = {{.op = op, .precision = kF32}}}).Print(), "") << op;
  }
  constexpr char kNorm[] = R"(graph (x: f32[2,3,4]) { s = const f32[3]  v = const f32[3] uniform(0.5, 2)
    b = batch_norm(x, s, s, s, v)  return b })";
  EXPECT_EQ(Ruled(kNorm, "b=bf16", {.nodes = {{.op = "BatchNormalization", .precision = kF32}}}).Print(), "");
}

TEST(PolicyRules, AFloorComesUpAndACeilingGoesDown) {
  const PolicyRules floors{.nodes = {{.name = "m1", .min_precision = kF32}, {.name = "m2", .min_precision = kBf16}}};
  const Ruled up(kNet, kAll, floors);
  EXPECT_EQ(up.Of("m1").rule, "policy.min-precision");
  EXPECT_EQ(up.Of("m1").type, kF32);
  EXPECT_EQ(up.Of("m2").type, kBf16) << "bfloat16 is not below the floor";
  const PolicyRules ceilings{.nodes = {{.name = "y", .max_precision = kBf16}, {.name = "m1", .max_precision = kF32}}};
  const Ruled down(kNet, kAll, ceilings);
  EXPECT_EQ(down.Of("y").rule, "policy.max-precision");
  EXPECT_EQ(down.Of("y").type, kBf16);
  EXPECT_EQ(down.Of("m1").type, kBf16) << "float32 allows everything";
}

TEST(PolicyRules, SixteenBitsAreTheTypeOfTheVariant) {
  const Ruled r(kNet, "m1=f16", {.nodes = {{.name = "y", .max_precision = kBf16}}}, kF16);
  EXPECT_EQ(r.Print(), "m1=f16, y=f16");
}

TEST(PolicyRules, WhatCannotBeHadStaysWithAReasonAndAWarning) {
  const Ruled r("graph (x: s64[2,3]) { a = abs(x)  return a }", "", {.nodes = {{.name = "a", .max_precision = kBf16}}});
  EXPECT_EQ(r.Print(), "");
  EXPECT_EQ(r.Of("a").rule, "policy.not-possible");
  EXPECT_THAT(r.Of("a").reason, HasSubstr("not possible: input 'x' is s64, not f32"));
  EXPECT_THAT(r.warnings, ElementsAre("'a' cannot become bfloat16 as the rule name=a asks: input 'x' is s64, not f32"));
  EXPECT_EQ(r.changed, 0);
}

TEST(PolicyRules, ARuleForNothingIsTold) {
  const Ruled r(kNet, kAll, {.nodes = {{.match = "conv.*", .precision = kF32}}});
  EXPECT_THAT(r.warnings, ElementsAre("node rule 'conv.*' matches no node"));
  EXPECT_EQ(r.Print(), kAll);
}

TEST(PolicyRules, NodeRulesAreOverKeepFirst) {
  const Ruled r(kNet, kAll, {.nodes = {{.name = "m1", .precision = kBf16}}, .keep_first = true});
  EXPECT_EQ(r.Of("m1").type, kBf16);
}

TEST(PolicyRules, AFusedNodeIsFoundByTheNameOfItsParts) {
  const absl::StatusOr<Graph> imported =
      ParseGraph("graph (x: f32[2,3]) { w = const f32[3,5]  m = matmul(x, w)  r = relu(m)  return r }");
  ASSERT_TRUE(imported.ok());
  constexpr char kFused[] =
      "graph (x: f32[2,3]) { w = const f32[3,5]  r = matmul(x, w) {activation=\"relu\"}  return r }";
  const absl::StatusOr<Graph> fused = ParseGraph(kFused);
  ASSERT_TRUE(fused.ok());
  const Ancestry ancestry{&*imported,
                          {{fused->producer(fused->FindValue("r")), imported->producer(imported->FindValue("m"))}}};
  EXPECT_EQ(Ruled(kFused, "r=bf16", {.nodes = {{.name = "m", .precision = kF32}}}, kBf16, ancestry).Print(), "");
  EXPECT_EQ(Ruled(kFused, "r=bf16", {.nodes = {{.name = "m", .precision = kF32}}}).Print(), "r=bf16");
}

TEST(PolicyRules, AFloat32OutputGoesWhereAReaderIsLowered) {
  constexpr char kText[] = "graph (x: f32[2,3]) { w = const f32[3,3]  m = matmul(x, w)  r = relu(m)  return r }";
  absl::StatusOr<Graph> graph = ParseGraph(kText);
  ASSERT_TRUE(graph.ok());
  PrecisionPlan plan = *ParsePlan("m=bf16", *graph);
  plan.decisions.begin()->second.f32_output = true;
  std::vector<std::string> warnings;
  const PolicyRules rules{.nodes = {{.name = "r", .precision = kBf16}}};
  ASSERT_TRUE(ApplyPolicyRules(*graph, PermissiveTarget(), rules, kBf16, {}, plan, warnings).ok());
  EXPECT_FALSE(plan.decisions.begin()->second.f32_output);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(PolicyRules, OneTypeOnALoopEdge) {
  const Ruled r(R"(graph layout=channels_last (x: f32[2,3], p: bool[]) { w = const f32[3,3]
    e = enter(x)  m: f32[2,3], _ = merge(e, n)  s0, s1 = switch(m, p)  a = matmul(s1, w)  n: f32[2,3] = next_iteration(a)
    q = exit(s0)  return y=softmax(q) })",
                "m=bf16, s0=bf16, a=bf16, n=bf16", {.nodes = {{.op = "Merge", .precision = kF32}}});
  EXPECT_EQ(r.Of("m").rule, "policy.precision");
  EXPECT_EQ(r.Of("s0").rule, "policy.follows");
  EXPECT_EQ(r.Of("a").type, kBf16) << "a layer of its own";
  EXPECT_EQ(r.Of("n").rule, "policy.tied");
  EXPECT_EQ(r.Of("n").type, kF32);
}

TEST(PolicyRules, MistakesAreTold) {
  const auto error = [](PolicyRule rule) {
    return std::string(CheckPolicyRules({.nodes = {std::move(rule)}}).message());
  };
  EXPECT_THAT(error({.precision = kF32}), HasSubstr("give op, name or match"));
  EXPECT_THAT(error({.op = "Conv"}), HasSubstr("node rule op=Conv: give precision, min_precision or max_precision"));
  EXPECT_THAT(error({.op = "Conv", .precision = kBf16, .min_precision = kF32}), HasSubstr("not both"));
  EXPECT_THAT(error({.op = "Conv", .min_precision = kF32, .max_precision = kBf16}),
              HasSubstr("min_precision is above max_precision"));
  EXPECT_THAT(error({.op = "Conv", .precision = DataType::kInt64}), HasSubstr("is fp32, bf16, fp16 or int8"));
  EXPECT_THAT(error({.match = "conv(", .precision = kF32}), HasSubstr("is not a valid regular expression"));
  EXPECT_TRUE(CheckPolicyRules({.nodes = {{.op = "Conv", .min_precision = kBf16, .max_precision = kF32}}}).ok());
}

}  // namespace
}  // namespace halftone
