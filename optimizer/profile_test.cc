// SPDX-License-Identifier: Apache-2.0
// What is profiled as int8 is what a job writes as int8.

#include "optimizer/profile.h"

#include <string>
#include <vector>

#include "base/files.h"
#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "optimizer/export.h"
#include "optimizer/job.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

// An outlier channel before the matmul, so that smoothing has something to do.
constexpr std::string_view kModel = R"(
  graph format=onnx (t: f32[N,4]) {
    g = const f32[4] {1, 0.9, 120, 1.1}
    w = const f32[4,3] uniform(-1, 1)
    x = layer_norm(t, g)
    y = matmul(x, w)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

class LocalRunner final : public ChildRunner {
 public:
  absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec& spec) override { return EvaluateVariant(spec); }
  absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>&) override {
    return absl::UnimplementedError("nothing is measured here");
  }
};

class ProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.model.path = dir_.path() + "/model.onnx";
    options_.out_dir = dir_.path();
    options_.benchmark.skip = true;
    options_.precisions = {VariantKind::kInt8};
    ASSERT_TRUE(SaveModel(*ParseGraph(kModel), options_.model.path).ok());
    Tensor t(DataType::kFloat32, {6, 4});
    for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>((i * 7) % 11) - 5;
    ASSERT_TRUE(WriteNpz(dir_.path() + "/s.npz", {{"t", t}}).ok());
    options_.calibration = {{dir_.path() + "/s.npz", "s.npz"}};
  }
  std::string Profiled() {
    const auto targets = MakeProfileTargets(options_, {VariantKind::kInt8}, kSilent);
    EXPECT_TRUE(targets.ok()) << targets.status();
    if (!targets.ok() || targets->targets.size() != 1) return "";
    EXPECT_EQ(targets->targets[0].kind, VariantKind::kInt8);
    EXPECT_TRUE(targets->calibration.has_value());
    return ReadFile(targets->targets[0].run.model.path).value_or("");
  }
  std::string Written() {
    LocalRunner runner;
    const absl::StatusOr<OptimizeResult> result = RunOptimizeJob(options_, runner, kSilent);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? ReadFile(result->variants[2].path).value_or("") : "";
  }

  const ProgressCallback kSilent = [](std::string_view, int64_t, int64_t) {};
  const TempDir dir_ = *TempDir::Create();
  OptimizeOptions options_;
};

TEST_F(ProfileTest, TheFileOfInt8IsThatOfAJob) {
  const std::string plain = Profiled();
  EXPECT_THAT(plain, HasSubstr("QuantizeLinear"));
  EXPECT_EQ(plain, Written());
  options_.int8.smooth = true;
  const std::string smooth = Profiled();
  EXPECT_NE(smooth, plain);
  EXPECT_EQ(smooth, Written());
  options_.int8.goal.min_sqnr_db = 200;  // nothing of int8 reaches it
  const std::string raised = Profiled();
  EXPECT_THAT(raised, ::testing::Not(HasSubstr("QuantizeLinear")));
  EXPECT_EQ(raised, Written());
}

TEST_F(ProfileTest, TheBatchIsThatOfTheInputs) {
  const auto batch = [&] {
    const auto targets = MakeProfileTargets(options_, {VariantKind::kFp32}, kSilent);
    EXPECT_TRUE(targets.ok()) << targets.status();
    const auto profile = targets.ok() ? ProfileVariant(targets->targets.at(0).run) : targets.status();
    EXPECT_TRUE(profile.ok()) << profile.status();
    return profile.ok() ? profile->batch : 0;
  };
  EXPECT_EQ(batch(), 1);
  options_.benchmark.sizes.named["N"] = 3;
  EXPECT_EQ(batch(), 3);
  options_.benchmark.sizes.named.clear();
  std::string fixed(kModel);
  fixed.replace(fixed.find("[N,"), 3, "[5,");
  ASSERT_TRUE(SaveModel(*ParseGraph(fixed), options_.model.path).ok());
  EXPECT_EQ(batch(), 5);
}

TEST_F(ProfileTest, WithoutSamplesItIsSaidThatRangesAreRandom) {
  options_.calibration.clear();
  const auto targets = MakeProfileTargets(options_, {VariantKind::kFp32, VariantKind::kInt8}, kSilent);
  ASSERT_TRUE(targets.ok()) << targets.status();
  EXPECT_EQ(targets->targets.size(), 2u);
  EXPECT_THAT(targets->warnings, ::testing::Contains(HasSubstr("RANDOM inputs")));
}

}  // namespace
}  // namespace halftone
