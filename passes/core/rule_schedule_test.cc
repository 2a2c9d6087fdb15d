// SPDX-License-Identifier: Apache-2.0
// Which nodes are due for which rule, and when.

#include "passes/core/rule_schedule.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kFirst = 0, kSecond = 1;  // numbers of rules

class Schedule : public testing::Test {
 protected:
  Schedule() {
    std::string text = "graph (x: f32[2]) { w = const f32[2]  v0 = mul(x, w)\n";
    for (int i = 1; i <= 40; ++i) text += "v" + std::to_string(i) + " = relu(v" + std::to_string(i - 1) + ")\n";
    absl::StatusOr<Graph> graph = ParseGraph(text + "z = mul(v40, w)  return z }");
    EXPECT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
  }

  std::vector<std::string> Take(RuleSchedule& schedule, int rule, const OpSet& roots) {
    std::vector<std::string> names;
    for (const NodeId id : schedule.Take(graph_, rule, roots)) names.push_back(graph_.Label(id));
    return names;
  }
  // Edits the graph and informs the schedule.
  template <typename Edit>
  void Change(RuleSchedule& schedule, Edit change) {
    GraphEditor edit(graph_);
    std::vector<NodeId> touched;
    edit.LogTouched(&touched);
    change(edit);
    schedule.Touch(graph_, touched);
  }
  NodeId Node(const std::string& value) { return graph_.producer(graph_.FindValue(value)); }

  Graph graph_;
};

TEST_F(Schedule, EverythingIsDueOnce) {
  RuleSchedule schedule(graph_);
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kMul), ElementsAre("v0", "z"));
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kMul), IsEmpty());
  EXPECT_FALSE(schedule.HasWork(graph_, kFirst, OpKind::kMul));
  EXPECT_TRUE(schedule.HasWork(graph_, kSecond, OpKind::kMul));
  EXPECT_THAT(Take(schedule, kSecond, OpKind::kTanh), IsEmpty());
  schedule.BeginRound(graph_, /*everything=*/true);
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kMul), ElementsAre("v0", "z"));
}

TEST_F(Schedule, AChangeAffectsTheNodesAfterIt) {
  RuleSchedule schedule(graph_);
  (void)Take(schedule, kFirst, OpKind::kRelu);
  (void)Take(schedule, kFirst, OpKind::kMul);
  schedule.BeginRound(graph_, /*everything=*/false);
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kRelu), IsEmpty());
  Change(schedule, [&](GraphEditor& edit) { edit.SetSpelling(Node("v10"), "other"); });
  const std::vector<std::string> due = Take(schedule, kFirst, OpKind::kRelu);
  ASSERT_EQ(due.size(), static_cast<size_t>(RuleSchedule::kReach) + 1);
  EXPECT_EQ(due.front(), "v10");
  EXPECT_EQ(due.back(), "v" + std::to_string(10 + RuleSchedule::kReach));
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kMul), IsEmpty());
}

// While everything is due anyway, the nodes after a change wait for the next round.
TEST_F(Schedule, AChangeInTheFirstRoundConcernsTheNext) {
  RuleSchedule schedule(graph_);
  (void)Take(schedule, kFirst, OpKind::kRelu);
  Change(schedule, [&](GraphEditor& edit) { edit.SetSpelling(Node("v10"), "other"); });
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kRelu), ElementsAre("v10"));
  schedule.BeginRound(graph_, /*everything=*/false);
  EXPECT_EQ(Take(schedule, kFirst, OpKind::kRelu).size(), static_cast<size_t>(RuleSchedule::kReach) + 1);
}

// The other consumers of a weight are not due when one of them is edited.
TEST_F(Schedule, AConstantHandsNothingOn) {
  RuleSchedule schedule(graph_);
  (void)Take(schedule, kFirst, OpKind::kMul);
  Change(schedule, [&](GraphEditor& edit) { edit.SetInput(Node("z"), 1, graph_.FindValue("v40")); });
  EXPECT_THAT(Take(schedule, kFirst, OpKind::kMul), ElementsAre("z"));
}

TEST_F(Schedule, WhatAMatchMadeStandsWhereItsRootStood) {
  RuleSchedule schedule(graph_);
  (void)Take(schedule, kFirst, {OpKind::kRelu, OpKind::kTanh});
  GraphEditor edit(graph_);
  std::vector<NodeId> touched;
  edit.LogTouched(&touched);
  const NodeId old = Node("v20");
  const NodeId made = edit.Clone(old);
  edit.SetOp(made, OpKind::kTanh);
  edit.ReplaceNode(old, made);
  schedule.Place(old, touched, 0);
  schedule.Touch(graph_, touched);
  const std::vector<std::string> due = Take(schedule, kFirst, {OpKind::kRelu, OpKind::kTanh});
  ASSERT_GE(due.size(), 3u);
  EXPECT_THAT(std::vector<std::string>(due.begin(), due.begin() + 3), ElementsAre("v19", "v20", "v21"));
  EXPECT_THAT(Take(schedule, kSecond, OpKind::kTanh), ElementsAre("v20"));
}

}  // namespace
}  // namespace halftone
