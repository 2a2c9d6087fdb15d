// SPDX-License-Identifier: Apache-2.0
// The search after an accuracy goal: it finds the config that does it and the layer that costs most, and never comes back
// with nothing.

#include "optimizer/accuracy_control.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "formats/npz/npz.h"
#include "formats/ranges/ranges_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "optimizer/export.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DistanceTo, CountsWhatIsMissing) {
  const Reached reached{.top1_drop = 0.03, .sqnr_db = 20, .cosine = 0.97};
  EXPECT_EQ(DistanceTo({}, reached), 0);
  EXPECT_NEAR(DistanceTo({.max_top1_drop = 0.01}, reached), 2, 1e-6) << "points";
  EXPECT_EQ(DistanceTo({.max_top1_drop = 0.03}, reached), 0);
  EXPECT_NEAR(DistanceTo({.min_sqnr_db = 26.02}, reached), 1, 1e-6) << "bits";
  EXPECT_NEAR(DistanceTo({.min_cosine = 0.99}, reached), 2, 1e-6);
  EXPECT_NEAR(DistanceTo({.max_top1_drop = 0.01, .min_sqnr_db = 10, .min_cosine = 0.99}, reached), 4, 1e-6);
  EXPECT_GT(DistanceTo({.min_sqnr_db = 10}, {.sqnr_db = std::nan("")}), 1e6) << "no number meets nothing";
}

TEST(ReachedBy, TheWorstOutputAndTheLabelsWhereThereAreSome) {
  Comparison comparison;
  comparison.outputs = {{"a", {.sqnr_db = 30, .cosine = 0.9, .rows = 10, .agreeing_rows = 8}},
                        {"b", {.sqnr_db = 20, .cosine = 0.99}}};
  const Reached unlabelled = ReachedBy(comparison, std::nullopt);
  EXPECT_EQ(unlabelled.sqnr_db, 20);
  EXPECT_EQ(unlabelled.cosine, 0.9);
  EXPECT_NEAR(unlabelled.top1_drop, 0.2, 1e-9);
  comparison.top1_accuracy = 0.75;
  EXPECT_NEAR(ReachedBy(comparison, 0.7).top1_drop, -0.05, 1e-9) << "better than fp32";
  EXPECT_THAT(DescribeReached({.max_top1_drop = 0.01}, unlabelled), HasSubstr("0.2000 (at most 0.0100)"));
}

constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[2,3,9,9]) {
    w = const f32[8,3,3,3]
    c = conv(x, w)
    r = relu(c)
    v = const f32[8,8,3,3]
    d = conv(r, v)
    s = relu(d)
    u = const f32[4,8,3,3]
    y = conv(s, u)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

class MeetGoalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.model.path = dir_.path() + "/model.onnx";
    options_.out_dir = dir_.path();
    const Graph graph = *ParseGraph(kModel);
    ASSERT_TRUE(SaveModel(graph, options_.model.path).ok());
    model_ = *OptimizeModel(graph, *target_, options_);
    source_ = *MakeInt8Source(model_, *target_, options_);
    ValueRange& bad = ranges_.values.at("r");  // so wide that hardly an integer is left for its numbers
    bad.max *= 500;
    options_.int8.calibrator_is_named = true;  // no other one mends it
  }
  AccuracyControlResult Meet(const ProgressCallback& progress = [](std::string_view, int64_t, int64_t) {}) {
    absl::StatusOr<AccuracyControlResult> result = MeetGoal(source_, *target_, options_, progress);
    EXPECT_TRUE(result.ok()) << result.status();
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      EXPECT_EQ(entry.path().string().find("goal."), std::string::npos) << "left behind";
    }
    return result.ok() ? *std::move(result) : AccuracyControlResult();
  }
  std::string NameOf(NodeId id) const { return RangeName(base_.graph, base_.graph.output(id)); }

  const std::unique_ptr<Target> target_ = MakeCpuTarget();
  const TempDir dir_ = *TempDir::Create();
  OptimizeOptions options_;
  OptimizedModel model_;
  Int8Source source_;
  const Int8Base& base_ = source_.base;
  ValueRanges& ranges_ = source_.calibrated.ranges;
};

TEST_F(MeetGoalTest, TheWorstLayerIsRaisedAndNoOther) {
  options_.int8.goal.min_sqnr_db = 20;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_GT(result.reached.sqnr_db, 20);
  ASSERT_EQ(result.search.excluded.size(), 1u);
  const auto& [node, reason] = *result.search.excluded.begin();
  EXPECT_EQ(NameOf(node), "s") << "it reads r";
  EXPECT_EQ(reason.rule, "int8.accuracy");
  EXPECT_EQ(result.search.sqnr_alone.size(), 3u);
  EXPECT_LT(result.search.sqnr_alone.at(node), 20);

  const absl::StatusOr<ConvertedGraph> lowered = MakeInt8(base_, ranges_, model_, *target_, options_, result.search);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  int alone = 0;
  for (const NodeDecision& decision : lowered->decisions) {
    alone += decision.precision == VariantKind::kInt8 && decision.sqnr_alone_db.has_value() ? 1 : 0;
    if (decision.node == "s") {
      EXPECT_EQ(decision.reason.rule, "int8.accuracy");
    }
  }
  EXPECT_EQ(alone, 2);
}

TEST_F(MeetGoalTest, AGoalThatHoldsCostsOneRun) {
  options_.int8.goal.min_cosine = -1;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_EQ(result.tried, 1);
  EXPECT_TRUE(result.search.excluded.empty());
}

// Configs by name, in the order in which they were tried.
std::vector<std::string> Names(const AccuracyControlResult& result) {
  std::vector<std::string> names;
  for (const TriedConfig& tried : result.configs) names.push_back(tried.config);
  return names;
}

TEST_F(MeetGoalTest, AnotherCalibratorComesBeforeNodesAreRaised) {
  options_.int8.calibrator_is_named = false;
  options_.int8.goal.min_sqnr_db = 20;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_TRUE(result.search.excluded.empty());
  EXPECT_TRUE(result.search.sqnr_alone.empty()) << "they are not needed";
  EXPECT_THAT(Names(result), ElementsAre("min-max", "mse"));
  EXPECT_EQ(result.tried, 2);
  EXPECT_FALSE(result.configs[0].met);
  EXPECT_TRUE(result.configs[1].met);
  EXPECT_LT(result.configs[0].sqnr_db, 20);
  EXPECT_EQ(result.configs[1].sqnr_db, result.reached.sqnr_db);
  EXPECT_EQ(result.candidate.options.int8.calibrator.calibrator, Calibrator::kMeanSquaredError);

  EXPECT_EQ(ranges_, result.candidate.ranges) << "the source has the ranges of the config";
  EXPECT_EQ(ranges_.values.at("r").calibrator, Calibrator::kMeanSquaredError);
  EXPECT_EQ(source_.calibrated.summary.calibrator, "mse");
  const std::string path = source_.calibrated.summary.path;
  const absl::StatusOr<RangesFile> file = ReadRanges(*ReadFile(path), path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->ranges, ranges_) << "and so has the file";
  EXPECT_EQ(file->calibrator, Calibrator::kMeanSquaredError);
}

TEST_F(MeetGoalTest, TheNearestConfigIsWhereNodesAreRaised) {
  options_.int8.calibrator_is_named = false;
  options_.int8.goal.min_sqnr_db = 150;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_EQ(result.fallbacks, 3) << "no config gives 150 dB";
  ASSERT_EQ(result.configs.size(), 5u) << "there is nothing to smooth";
  EXPECT_EQ(result.configs[0].config, "min-max");
  const auto nearest = std::max_element(result.configs.begin(), result.configs.end(),
                                        [](const auto& a, const auto& b) { return a.sqnr_db < b.sqnr_db; });
  EXPECT_EQ(DescribeConfig(result.candidate.config), nearest->config);
  EXPECT_GT(nearest->sqnr_db, result.configs[0].sqnr_db + 10);
}

TEST_F(MeetGoalTest, WhatWasNamedOrSwitchedOffIsNotTried) {
  options_.int8.goal.min_sqnr_db = 150;
  EXPECT_THAT(Names(Meet()), ElementsAre("min-max", "min-max, clip-weights"));
  options_.int8.quantize.clip_weights = true;
  EXPECT_THAT(Names(Meet()), ElementsAre("min-max, clip-weights"));
  options_.int8.quantize.clip_weights = false;
  options_.int8.search_configs = false;
  EXPECT_THAT(Names(Meet()), ElementsAre("min-max"));
  options_.int8.search_configs = true;
  options_.int8.calibrator_is_named = false;
  options_.int8.ranges = SampleFile{"r.json", "r.json"};
  EXPECT_THAT(Names(Meet()), ElementsAre("min-max", "min-max, clip-weights")) << "ranges of a file are given";
}

TEST_F(MeetGoalTest, ConfigsHaveAQuarterOfTheBudget) {
  constexpr double kBudget = 8;
  options_.int8.calibrator_is_named = false;
  options_.int8.budget_seconds = kBudget;
  options_.int8.goal.min_sqnr_db = 20;
  const auto slow_config = [](std::string_view stage, int64_t done, int64_t) {
    if (stage == "configs" && done == 0) std::this_thread::sleep_for(std::chrono::duration<double>(0.3 * kBudget));
  };
  const AccuracyControlResult result = Meet(slow_config);  // smoothing, of which there is none
  EXPECT_THAT(Names(result), ElementsAre("min-max"));
  EXPECT_TRUE(result.goal_met) << "a node was raised";
  EXPECT_TRUE(result.in_time);
  EXPECT_EQ(result.search.excluded.size(), 1u);
}

TEST_F(MeetGoalTest, OutliersAreSmoothed) {
  const Graph graph = *ParseGraph(R"(graph format=onnx (t: f32[16,4]) {
      g = const f32[4] {1, 0.9, 900, 1.1}
      a = const f32[2,8] uniform(-1, 1)
      b = const f32[1,8] uniform(-0.001, 0.001)
      c = const f32[1,8] uniform(-1, 1)
      w = concat(a, b, c, 0:s32)
      x = layer_norm(t, g)
      y = matmul(x, w)
      return y
    } header {ir_version=8, opset=[17], opset_domains=[""]})");
  model_ = *OptimizeModel(graph, *target_, options_);
  source_ = *MakeInt8Source(model_, *target_, options_);
  const ValueRanges before = ranges_;
  options_.int8.goal.min_sqnr_db = 25;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_THAT(Names(result), ElementsAre("min-max", "min-max, smooth-quant"));
  EXPECT_LT(result.configs[0].sqnr_db, 15);
  EXPECT_TRUE(result.candidate.options.int8.smooth);
  EXPECT_LT(result.candidate.ranges.values.at("x").max, before.values.at("x").max / 4);
  EXPECT_EQ(ranges_, before) << "of the graph that was calibrated";
  const absl::StatusOr<ConvertedGraph> lowered =
      MakeInt8(result.candidate.base, result.candidate.ranges, model_, *target_, result.candidate.options);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
}

TEST_F(MeetGoalTest, SensitivityMeasuresEachNodeWithoutAGoal) {
  options_.int8.sensitivity = true;
  const AccuracyControlResult result = Meet();
  EXPECT_EQ(result.tried, 0) << "nothing is judged";
  EXPECT_TRUE(result.search.excluded.empty());
  ASSERT_EQ(result.search.sqnr_alone.size(), 3u);
  std::map<std::string, double> alone;
  for (const auto& [node, sqnr_db] : result.search.sqnr_alone) alone[NameOf(node)] = sqnr_db;
  EXPECT_LT(alone.at("s"), 20) << "it reads r, whose range is bad";
  EXPECT_GT(alone.at("r"), 20);
  EXPECT_GT(alone.at("y"), 20);

  const absl::StatusOr<ConvertedGraph> lowered = MakeInt8(base_, ranges_, model_, *target_, options_, result.search);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  int told = 0;
  for (const NodeDecision& decision : lowered->decisions) {
    if (!decision.sqnr_alone_db.has_value()) continue;
    ++told;
    EXPECT_EQ(*decision.sqnr_alone_db, alone.at(decision.node));
    EXPECT_EQ(decision.precision, VariantKind::kInt8) << "measuring changes nothing";
  }
  EXPECT_EQ(told, 3);
}

TEST_F(MeetGoalTest, SensitivityGoesWithAGoalThatHolds) {
  options_.int8.sensitivity = true;
  options_.int8.goal.min_cosine = -1;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met);
  EXPECT_EQ(result.tried, 1);
  EXPECT_TRUE(result.search.excluded.empty());
  EXPECT_EQ(result.search.sqnr_alone.size(), 3u);
}

TEST_F(MeetGoalTest, TheFirstBatchesOfManyAreThoseOfAllAlone) {
  Tensor x(DataType::kFloat32, {12, 3, 9, 9});
  std::vector<Tensor> random = reference::RandomInputs(base_.graph, 5);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.mutable_data<float>()[i] = random[0].data<float>()[i % random[0].num_elements()] * static_cast<float>(1 + i % 7);
  }
  const std::string path = dir_.path() + "/s.npz";
  ASSERT_TRUE(WriteNpz(path, {{"x", x}}).ok());
  options_.evaluation = {{path, "s.npz"}};
  options_.int8.sensitivity = true;
  const AccuracyControlResult alone = Meet();  // four of six batches
  options_.int8.goal.min_cosine = -1;
  const AccuracyControlResult with_goal = Meet();  // all six, and the same four
  EXPECT_EQ(alone.search.sqnr_alone, with_goal.search.sqnr_alone);
  EXPECT_EQ(alone.search.sqnr_alone.size(), 3u);
}

TEST_F(MeetGoalTest, AGoalBeyondInt8RaisesEverything) {
  options_.int8.goal.min_sqnr_db = 150;
  const AccuracyControlResult result = Meet();
  EXPECT_TRUE(result.goal_met) << "fp32 is what is left";
  EXPECT_EQ(result.fallbacks, 3);
}

TEST_F(MeetGoalTest, TheBudgetEndsTheSearchWithTheBestSoFar) {
  options_.int8.goal.min_sqnr_db = 150;
  options_.int8.budget_seconds = 1e-9;
  const AccuracyControlResult result = Meet();
  EXPECT_FALSE(result.goal_met);
  EXPECT_FALSE(result.in_time);
  EXPECT_EQ(result.tried, 1);
  EXPECT_LT(result.reached.sqnr_db, 150);
}

TEST_F(MeetGoalTest, HalfTheBudgetIsLeftForTheSearch) {
  constexpr double kBudget = 4;
  options_.int8.budget_seconds = kBudget;
  options_.int8.search_configs = false;  // which have a quarter of their own
  const auto slow_second_node = [](std::string_view, int64_t done, int64_t) {
    if (done == 1) std::this_thread::sleep_for(std::chrono::duration<double>(0.55 * kBudget));
  };
  options_.int8.goal.min_sqnr_db = 20;
  const AccuracyControlResult found = Meet(slow_second_node);
  EXPECT_EQ(found.search.sqnr_alone.size(), 2u) << "the third is not looked at any more";
  EXPECT_TRUE(found.goal_met) << "the worst is among the two";
  EXPECT_TRUE(found.in_time);
  EXPECT_EQ(found.search.excluded.size(), 1u);

  options_.int8.goal.min_sqnr_db = 150;
  const AccuracyControlResult missed = Meet(slow_second_node);
  EXPECT_FALSE(missed.goal_met);
  EXPECT_FALSE(missed.in_time) << "the third might have been what was wanting";
  EXPECT_EQ(missed.search.excluded.size(), 2u) << "the best so far";
}

}  // namespace
}  // namespace halftone
