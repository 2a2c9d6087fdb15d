// SPDX-License-Identifier: Apache-2.0
// How often a job imports and optimizes, and where its time goes.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "optimizer/export.h"
#include "optimizer/job.h"
#include "optimizer/job_testing.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobWork, EachFileIsImportedAndOptimizedOnceByAProcessThatNeedsIt) {
  const TempDir dir = *TempDir::Create();
  OptimizeOptions options;
  options.model.path = dir.path() + "/model.onnx";
  options.out_dir = dir.path() + "/out";
  options.force = true;  // the same on every CPU
  ASSERT_EQ(MakeDirectories(options.out_dir), absl::OkStatus());
  ASSERT_EQ(SaveModel(*ParseGraph(kModel), options.model.path), absl::OkStatus());
  options.precisions = {VariantKind::kBf16, VariantKind::kInt8};
  options.benchmark.skip = false;
  options.benchmark.rounds = 3;
  options.benchmark.round_seconds = 0.01;
  LocalRunner runner;
  const absl::StatusOr<OptimizeResult> result =
      RunOptimizeJob(options, runner, [](std::string_view, int64_t, int64_t) {});
  ASSERT_TRUE(result.ok()) << result.status();
  // The model by the job, then each of the four files by the process that evaluates it; rounds import nothing.
  EXPECT_EQ(result->work.imports, 5);
  // fp32 and int8 share one optimization, bf16 is fused by its plan; then each of the three written files.
  EXPECT_EQ(result->work.optimizations, 5);
  double seconds = 0;
  std::vector<std::string> stages;
  for (const StageTime& stage : result->stages) {
    stages.push_back(stage.stage);
    seconds += stage.seconds;
    const bool runs = stage.stage == "evaluate" || stage.stage == "measure";
    EXPECT_EQ(stage.inference_seconds > 0, runs) << stage.stage;
    EXPECT_LT(stage.inference_seconds, stage.seconds) << stage.stage;
  }
  EXPECT_THAT(stages,
              ElementsAre("import", "optimize", "calibrate", "convert", "export", "evaluate", "compare", "measure"));
  EXPECT_GT(seconds, 0.15) << "fifteen rounds";
  for (const VariantResult& variant : result->variants) {
    ASSERT_TRUE(variant.benchmark.has_value());
    EXPECT_THAT(variant.benchmark->invalid_reasons, Not(Contains(HasSubstr("outputs while timed"))));
    EXPECT_EQ(variant.benchmark->rounds[0][0].load_ms, variant.load_ms) << "of the process that imported it";
  }
  for (const auto& file : std::filesystem::directory_iterator(options.out_dir)) {
    EXPECT_THAT(file.path().filename().string(), Not(HasSubstr("prepared"))) << "removed when it was measured";
  }
}

}  // namespace
}  // namespace halftone
