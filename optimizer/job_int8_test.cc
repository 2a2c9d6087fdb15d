// SPDX-License-Identifier: Apache-2.0
// Jobs that write an int8 variant: calibration, evidence, accuracy goal.

#include <algorithm>
#include <filesystem>

#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optimizer/job.h"
#include "optimizer/job_testing.h"

namespace halftone {
namespace {

TEST_F(JobTest, Int8IsCalibratedWrittenAndMeasured) {
  options_.precisions = {VariantKind::kInt8};
  Tensor images(DataType::kFloat32, {5, 3, 7, 5});
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    images.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  }
  const std::string path = dir_->path() + "/s.npz";
  ASSERT_TRUE(WriteNpz(path, {{"x", images}}).ok());
  options_.calibration = {{path, "s.npz"}};
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->variants.size(), 3u);
  const VariantResult& int8 = result->variants[2];
  EXPECT_EQ(int8.file_name, "model.int8.onnx");
  EXPECT_EQ(int8.int8_share, 1);
  EXPECT_EQ(result->variants[1].int8_share, -1);
  EXPECT_GT(int8.fidelity[0].fidelity.sqnr_db, 25);
  EXPECT_LT(int8.fidelity[0].fidelity.sqnr_db, 100);
  bool found = false;
  for (const NodeResult& node : int8.nodes) {
    if (!node.step.op.starts_with("conv")) continue;
    found = true;
    EXPECT_EQ(node.precision, VariantKind::kInt8);
    EXPECT_EQ(node.reason.rule, "int8.contraction");
  }
  EXPECT_TRUE(found);
  ASSERT_TRUE(result->calibration.has_value());
  EXPECT_EQ(result->calibration->samples, 5);
  EXPECT_EQ(result->calibration->source, "samples");
  EXPECT_EQ(result->calibration->file_name, "model.ranges.json");
  EXPECT_TRUE(std::filesystem::exists(result->calibration->path));
  EXPECT_TRUE(HasStage(*result, "calibrate"));
  EXPECT_THAT(result->warnings, ::testing::IsEmpty());
}

TEST_F(JobTest, EvidenceOfInt8) {
  options_.precisions = {VariantKind::kInt8};
  options_.int8.sensitivity = true;
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const VariantResult& int8 = result->variants[2];
  ASSERT_EQ(int8.saturation.size(), 1u) << "one convolution, of the file read back";
  EXPECT_NE(int8.saturation[0].saturation, Saturation::kHalvesWeights);
  EXPECT_GT(int8.saturation[0].most, 0);
  EXPECT_LT(int8.saturation[0].least, 0);
  EXPECT_FALSE(int8.goal.has_value());
  int alone = 0;
  for (const NodeDecision& decision : int8.decisions) alone += decision.sqnr_alone_db.has_value() ? 1 : 0;
  EXPECT_EQ(alone, 1);
  EXPECT_TRUE(result->variants[1].saturation.empty());
  EXPECT_TRUE(HasStage(*result, "accuracy"));
}

TEST_F(JobTest, AMissedGoalIsMetByTheBestConfig) {
  options_.precisions = {VariantKind::kInt8};
  options_.int8.goal.min_sqnr_db = 300;  // more than int8 can
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const VariantResult& int8 = result->variants[2];
  ASSERT_TRUE(int8.goal.has_value());
  ASSERT_GE(int8.goal->configs.size(), 4u);
  EXPECT_EQ(int8.goal->configs[0].config, "min-max");
  EXPECT_THAT(int8.goal->config, ::testing::StartsWith(result->calibration->calibrator));
  const auto is_taken = [&](const TriedConfig& tried) { return tried.config == int8.goal->config; };
  EXPECT_EQ(std::count_if(int8.goal->configs.begin(), int8.goal->configs.end(), is_taken), 1);
  EXPECT_EQ(int8.goal->fallbacks, 1);
}

}  // namespace
}  // namespace halftone
