// SPDX-License-Identifier: Apache-2.0
#include "optimizer/job_testing.h"

#include <algorithm>
#include <filesystem>

#include "base/status.h"
#include "ir/text.h"
#include "optimizer/export.h"

namespace halftone {

absl::StatusOr<EvaluateResult> LocalRunner::Evaluate(const EvaluateSpec& spec) {
  before_evaluate(spec.run.model.path);
  evaluated.push_back(std::filesystem::path(spec.run.model.path).filename().string());
  return EvaluateVariant(spec);
}

absl::StatusOr<std::vector<RoundResult>> LocalRunner::Round(const std::vector<RoundSpec>& specs) {
  std::vector<RoundResult> results;
  for (const RoundSpec& spec : specs) {
    HALFTONE_ASSIGN_OR_RETURN(results.emplace_back(), MeasureVariant(spec));
  }
  return results;
}

// Imports and optimizations are counted in this process anyway.
WorkCounts LocalRunner::work() const { return {.inference_seconds = WorkOfThisProcess().inference_seconds}; }

bool HasStage(const OptimizeResult& result, std::string_view stage) {
  return std::any_of(result.stages.begin(), result.stages.end(),
                     [&](const StageTime& time) { return time.stage == stage; });
}

void JobTest::SetUp() {
  dir_ = std::make_unique<TempDir>(*TempDir::Create());
  options_.model.path = dir_->path() + "/model.onnx";
  options_.out_dir = dir_->path() + "/out";
  options_.force = true;  // the same on every CPU
  options_.benchmark.skip = true;
  ASSERT_TRUE(MakeDirectories(options_.out_dir).ok());
  Write(kModel);
}

void JobTest::Write(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status saved = SaveModel(*graph, options_.model.path);
  ASSERT_TRUE(saved.ok()) << saved;
}

absl::StatusOr<OptimizeResult> JobTest::Run() {
  return RunOptimizeJob(options_, runner_, [](std::string_view, int64_t, int64_t) {});
}

}  // namespace halftone
