// SPDX-License-Identifier: Apache-2.0
// For tests of whole jobs: a small model, a runner that needs no processes, and a fixture.

#ifndef HALFTONE_OPTIMIZER_JOB_TESTING_H_
#define HALFTONE_OPTIMIZER_JOB_TESTING_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "optimizer/job.h"

namespace halftone {

inline constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[N,3,7,5]) {
    w = const f32[6,3,3,3]
    b = const f32[6]
    c = conv(x, w, b) {pads=[1, 1, 1, 1]}
    r = relu(c)
    p = global_average_pool(r)
    y = flatten(p)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

// Runs variants in this process, not in child processes.
class LocalRunner final : public ChildRunner {
 public:
  // Called with the path of the file, before the variant runs: a test may change the file.
  std::function<void(const std::string& path)> before_evaluate = [](const std::string&) {};
  std::vector<std::string> evaluated;  // names of files

  absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec& spec) override;
  absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>& specs) override;
  WorkCounts work() const override;
};

bool HasStage(const OptimizeResult& result, std::string_view stage);

// Runs a job on kModel, without a benchmark.
class JobTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // Replaces the model.
  void Write(std::string_view text);

  absl::StatusOr<OptimizeResult> Run();

  std::unique_ptr<TempDir> dir_;
  OptimizeOptions options_;
  LocalRunner runner_;
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_JOB_TESTING_H_
