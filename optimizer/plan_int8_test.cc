// SPDX-License-Identifier: Apache-2.0
// Which nodes become int8, on any CPU: the target is a fake.

#include "optimizer/plan_int8.h"

#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[1,3,8,8]) {
    w1 = const f32[4,3,3,3]
    w2 = const f32[5,4,3,3]
    a = relu(x)
    c = conv(a, w1)
    p = max_pool(c) {kernel=[2, 2], strides=[2, 2]}
    e = erf(c)
    d = conv(p, w2)
    g = global_average_pool(d)
    return g, e
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

// Has kernels of integers for everything but some nodes.
class FakeTarget final : public Target {
 public:
  std::set<std::string> without;

  std::string_view name() const override { return "fake"; }
  absl::Status SupportsFused(const Graph&, NodeId, const FusedParts&) const override { return absl::OkStatus(); }
  absl::Status SupportsOp(const Graph&, OpKind, std::span<const ValueId>) const override { return absl::OkStatus(); }
  std::vector<Signature> Signatures(const Graph&, NodeId) const override { return {}; }
  bool IsNative(DataType) const override { return true; }
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId>, ValueId) const override {
    if (!without.contains(graph.Label(node))) return absl::OkStatus();
    return absl::UnimplementedError("the fake has none");
  }
};

class PlanInt8Test : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const NodeId id : graph_.nodes()) ranges_.values[RangeName(graph_, graph_.output(id))] = {.min = -1, .max = 1};
  }
  NodeId Node(std::string_view name) const {
    for (const NodeId id : graph_.nodes()) {
      if (RangeName(graph_, graph_.output(id)) == name) return id;
    }
    return kNoNode;
  }
  Int8Plan Plan(const std::map<NodeId, Reason>& excluded = {}) const {
    absl::StatusOr<Int8Plan> plan = PlanInt8(graph_, ranges_, target_, options_, {}, {}, excluded);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : Int8Plan();
  }
  std::vector<std::string> Names(const Int8Plan& plan) const {
    std::vector<std::string> names;
    for (const NodeId id : plan.nodes) names.push_back(RangeName(graph_, graph_.output(id)));
    return names;
  }
  std::string RuleOf(const Int8Plan& plan, std::string_view name) const {
    const auto it = plan.reasons.find(Node(name));
    return it == plan.reasons.end() ? "none" : it->second.rule;
  }

  Graph graph_ = *ParseGraph(kModel);
  ValueRanges ranges_;
  FakeTarget target_;
  OptimizeOptions options_;
};

TEST_F(PlanInt8Test, ContractionsAndWhatLiesBetween) {
  const Int8Plan plan = Plan();
  EXPECT_THAT(Names(plan), UnorderedElementsAre("c", "p", "d"));
  EXPECT_EQ(RuleOf(plan, "c"), "int8.contraction");
  EXPECT_EQ(RuleOf(plan, "p"), "int8.between");
  EXPECT_EQ(RuleOf(plan, "a"), "int8.not-between");
  EXPECT_EQ(RuleOf(plan, "g"), "int8.not-between");
  EXPECT_EQ(RuleOf(plan, "e"), "int8.no-form");
  EXPECT_EQ(RuleOf(plan, "w1"), "none") << "constants need no reason";
  EXPECT_THAT(plan.warnings, ::testing::IsEmpty());
}

TEST_F(PlanInt8Test, WithoutARangeNothing) {
  ranges_.values.erase("p");  // joined with c by the pool
  ranges_.values.erase("c");
  const Int8Plan plan = Plan();
  EXPECT_THAT(Names(plan), ElementsAre("c"));
  EXPECT_EQ(RuleOf(plan, "d"), "int8.no-range");
  EXPECT_THAT(plan.reasons.at(Node("d")).text, HasSubstr("no range of 'p'"));
}

TEST_F(PlanInt8Test, WithoutAKernelWhatLayBetweenFollows) {
  target_.without = {Node("d").valid() ? graph_.Label(Node("d")) : ""};
  const Int8Plan plan = Plan();
  EXPECT_THAT(Names(plan), ElementsAre("c"));
  EXPECT_EQ(RuleOf(plan, "d"), "int8.no-kernel");
  EXPECT_EQ(plan.reasons.at(Node("d")).text, "the fake has none");
  EXPECT_EQ(RuleOf(plan, "p"), "int8.not-between");
}

TEST_F(PlanInt8Test, RulesOfThePolicy) {
  options_.rules.keep_first = true;
  Int8Plan plan = Plan();
  EXPECT_EQ(RuleOf(plan, "c"), "policy.first-layer");
  EXPECT_THAT(Names(plan), ElementsAre("d"));
  options_.rules.keep_first = false;
  options_.rules.keep_last = true;
  EXPECT_EQ(RuleOf(Plan(), "d"), "policy.last-layer");

  options_.rules.keep_last = false;
  options_.rules.nodes = {{.op = "Conv", .min_precision = DataType::kBFloat16}};
  plan = Plan();
  EXPECT_EQ(RuleOf(plan, "c"), "policy.min-precision");
  EXPECT_TRUE(plan.nodes.empty());

  options_.rules.nodes = {{.op = "Relu", .precision = DataType::kInt8}, {.op = "Erf", .precision = DataType::kInt8}};
  plan = Plan();
  EXPECT_THAT(Names(plan), UnorderedElementsAre("a", "c", "p", "d"));
  EXPECT_EQ(RuleOf(plan, "a"), "policy.precision");
  EXPECT_EQ(RuleOf(plan, "e"), "policy.not-possible");
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("cannot become int8 as the rule op=Erf asks")));

  options_.rules.nodes = {{.op = "Lstm", .precision = DataType::kInt8}};
  EXPECT_THAT(Plan().warnings, ElementsAre(HasSubstr("rule op=Lstm matches no node")));
}

TEST_F(PlanInt8Test, WhatTheAccuracyControlKeeps) {
  const Int8Plan plan = Plan({{Node("c"), {"int8.accuracy", "because"}}});
  EXPECT_THAT(Names(plan), ElementsAre("d"));
  EXPECT_EQ(RuleOf(plan, "c"), "int8.accuracy");
}

TEST_F(PlanInt8Test, WithoutRangesByForm) {
  ranges_ = {};
  options_.int8.mode = Int8Mode::kWeightOnly;
  Int8Plan plan = Plan();
  EXPECT_THAT(Names(plan), UnorderedElementsAre("c", "d"));
  EXPECT_EQ(RuleOf(plan, "c"), "int8.weights");
  EXPECT_EQ(RuleOf(plan, "p"), "int8.no-form");
  options_.rules.keep_first = true;
  options_.rules.nodes = {{.op = "Erf", .precision = DataType::kInt8}};
  plan = Plan();
  EXPECT_THAT(Names(plan), ElementsAre("d"));
  EXPECT_EQ(RuleOf(plan, "c"), "policy.first-layer");
  EXPECT_EQ(RuleOf(plan, "e"), "policy.not-possible");

  options_.rules = {};
  options_.int8.mode = Int8Mode::kDynamic;
  plan = Plan();
  EXPECT_TRUE(plan.nodes.empty()) << "its contractions are convolutions";
  EXPECT_EQ(RuleOf(plan, "c"), "int8.no-dynamic-form");
  EXPECT_THAT(plan.reasons.at(Node("c")).text, HasSubstr("slower"));
}

}  // namespace
}  // namespace halftone
