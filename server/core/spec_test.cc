// SPDX-License-Identifier: Apache-2.0
#include "server/core/spec.h"

#include <cmath>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/core/testing.h"

namespace halftone::server {
namespace {

std::vector<std::string> FieldsOf(const v1::JobSpec& spec) {
  std::vector<std::string> fields;
  for (const FieldViolation& violation : CheckSpec(spec)) fields.push_back(violation.field);
  return fields;
}

using Fields = std::vector<std::string>;

TEST(CheckSpec, GoodOnes) {
  EXPECT_EQ(FieldsOf(InspectJob("m.onnx")), Fields{});
  EXPECT_EQ(FieldsOf(InspectJob("folder/m.pb")), Fields{});
  v1::JobSpec spec = InspectJob("model-without-ending");
  spec.mutable_inspect()->mutable_model()->set_format(v1::FORMAT_ONNX);
  EXPECT_EQ(FieldsOf(spec), Fields{});
}

TEST(CheckSpec, SavedModels) {
  v1::JobSpec spec = InspectJob("net/saved_model.pb");
  v1::Model& model = *spec.mutable_inspect()->mutable_model();
  const v1::File file = model.files(0);
  model.set_signature("other");
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.inspect.model.signature"}) << "a GraphDef has none";
  model.set_format(v1::FORMAT_SAVED_MODEL);
  *model.add_files() = file;
  model.mutable_files(1)->set_path("net/variables/variables.index");
  EXPECT_EQ(FieldsOf(spec), Fields{});
  model.set_root_file("net/variables/variables.index");
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.inspect.model.root_file"});
  model.clear_root_file();
  model.mutable_files(1)->set_path("elsewhere/variables.index");
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.inspect.model.files[1].path"});
  *model.mutable_files(1) = file;
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.inspect.model.files[1].path"});
  model.clear_files();
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.inspect.model.files"});
}

TEST(CheckSpec, Empty) { EXPECT_EQ(FieldsOf(v1::JobSpec()), Fields{"spec"}); }

TEST(CheckSpec, NamesEveryFieldAtOnce) {
  v1::JobSpec spec;
  v1::OptimizeSpec& optimize = *spec.mutable_optimize();
  *optimize.mutable_model() = InspectJob("../m.onnx").inspect().model();
  optimize.mutable_model()->set_root_file("other");
  optimize.mutable_model()->mutable_files(0)->mutable_digest()->set_sha256("ABC");
  optimize.mutable_policy()->add_precisions(static_cast<v1::Precision>(77));
  optimize.mutable_policy()->add_nodes()->set_precision(v1::PRECISION_ORIGINAL);
  optimize.mutable_policy()->set_dialect(static_cast<v1::Dialect>(77));
  optimize.mutable_policy()->add_passes("");
  v1::File& samples = *optimize.mutable_evaluation()->add_files();
  samples.set_path("samples.zip");
  *samples.mutable_digest() = DigestOf("x");
  optimize.mutable_benchmark()->set_rounds(-1);
  optimize.mutable_benchmark()->mutable_round_time()->set_seconds(100'000);
  optimize.add_outputs("");
  spec.mutable_timeout()->set_seconds(0);
  EXPECT_EQ(FieldsOf(spec), (Fields{"spec.optimize.model.files[0].path", "spec.optimize.model.files[0].digest",
                                    "spec.optimize.model.root_file", "spec.optimize.policy.precisions[0]",
                                    "spec.optimize.policy.dialect", "spec.optimize.policy.passes[0]",
                                    "spec.optimize.policy.nodes[0].match", "spec.optimize.policy.nodes[0].precision",
                                    "spec.optimize.evaluation.files[0].path", "spec.optimize.benchmark.rounds",
                                    "spec.optimize.benchmark.round_time", "spec.optimize.outputs[0]", "spec.timeout"}));
}

TEST(CheckSpec, Int8) {
  v1::JobSpec spec;
  v1::OptimizeSpec& optimize = *spec.mutable_optimize();
  *optimize.mutable_model() = InspectJob("m.onnx").inspect().model();
  optimize.mutable_policy()->add_precisions(v1::PRECISION_INT8);
  v1::Int8Policy& int8 = *optimize.mutable_policy()->mutable_int8();
  int8.set_calibration_method("percentile");
  int8.set_percentile(99.9);
  int8.set_fallback_precision(v1::PRECISION_BF16);
  int8.mutable_accuracy_goal()->set_top1_drop(0);
  int8.set_budget_seconds(5);
  optimize.mutable_ranges()->set_path("m.ranges.json");
  *optimize.mutable_ranges()->mutable_digest() = DigestOf("x");
  EXPECT_EQ(FieldsOf(spec), Fields{});
  EXPECT_EQ(FilesOf(spec).size(), 2u);
  int8.set_mode(v1::INT8_MODE_WEIGHT_ONLY);
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.optimize.ranges"});  // nothing has a range
  int8.clear_mode();
  v1::File& samples = *optimize.mutable_calibration()->add_files();
  samples.set_path("samples.npz");
  *samples.mutable_digest() = DigestOf("y");
  int8.set_percentile(50);
  int8.set_fallback_precision(v1::PRECISION_FP16);
  int8.set_quant_format(static_cast<v1::QuantFormat>(77));
  int8.set_mode(static_cast<v1::Int8Mode>(77));
  int8.set_trim_ranges(51);
  int8.mutable_accuracy_goal()->set_top1_drop(1);  // a percentage point is 0.01
  int8.mutable_accuracy_goal()->set_sqnr(std::nan(""));
  int8.mutable_accuracy_goal()->set_cosine(2);
  int8.set_budget_seconds(-1);
  optimize.mutable_policy()->set_precisions(0, v1::PRECISION_BF16);
  const std::string at = "spec.optimize.policy.int8.";
  EXPECT_EQ(FieldsOf(spec),
            (Fields{at + "percentile", at + "fallback_precision", at + "quant_format", at + "mode", at + "trim_ranges",
                    at + "accuracy_goal.top1_drop", at + "accuracy_goal.sqnr", at + "accuracy_goal.cosine",
                    at + "budget_seconds", "spec.optimize.ranges", "spec.optimize.ranges"}));
  int8.Clear();
  int8.set_percentile(99);
  int8.set_budget_seconds(5);
  optimize.clear_ranges();
  EXPECT_EQ(FieldsOf(spec), (Fields{at + "percentile", at + "budget_seconds"}));
  v1::ProfileSpec& profile = *spec.mutable_profile();
  *profile.mutable_model() = InspectJob("m.onnx").inspect().model();
  profile.mutable_policy()->add_precisions(v1::PRECISION_INT8);
  EXPECT_EQ(FieldsOf(spec), Fields{});
  *profile.mutable_ranges() = InspectJob("r.json").inspect().model().files(0);
  EXPECT_EQ(FieldsOf(spec), Fields{});
  *profile.mutable_calibration()->add_files() = InspectJob("s.npz").inspect().model().files(0);
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.profile.ranges"});
  EXPECT_EQ(FilesOf(spec).size(), 3u);
  profile.mutable_policy()->clear_precisions();
  EXPECT_EQ(FieldsOf(spec).size(), 2u);
}

TEST(CheckSpec, EveryKindIsLookedAt) {
  v1::JobSpec spec;
  spec.mutable_run()->add_inputs()->set_name("x");
  EXPECT_EQ(FieldsOf(spec),
            (Fields{"spec.run.model.files", "spec.run.inputs[0].file.path", "spec.run.inputs[0].file.digest"}));
  spec.mutable_bench();
  EXPECT_EQ(FieldsOf(spec), Fields{"spec.bench.model.files"});
}

TEST(CheckSpec, HowABenchmarkIsMeasured) {
  v1::JobSpec spec;
  v1::BenchSpec& bench = *spec.mutable_bench();
  *bench.mutable_model() = InspectJob("m.onnx").inspect().model();
  v1::BenchmarkSpec& benchmark = *bench.mutable_benchmark();
  benchmark.set_preset(v1::BENCHMARK_PRESET_STRICT);
  benchmark.set_threads(2);
  benchmark.set_instances(2);
  for (const int core : {0, 1, 2, 3}) benchmark.add_cores(core);
  benchmark.set_wait_policy("passive");
  EXPECT_EQ(FieldsOf(spec), Fields{});
  benchmark.set_preset(v1::BENCHMARK_PRESET_CUSTOM);
  benchmark.set_instances(-1);
  benchmark.set_cores(1, 3);
  benchmark.set_wait_policy("busy");
  bench.mutable_policy()->add_nodes()->set_precision(v1::PRECISION_BF16);
  EXPECT_EQ(FieldsOf(spec),
            (Fields{"spec.bench.benchmark.instances", "spec.bench.benchmark.preset", "spec.bench.benchmark.cores[1]",
                    "spec.bench.benchmark.wait_policy", "spec.bench.policy.nodes[0].match"}));
  benchmark.mutable_cores()->Truncate(1);
  EXPECT_EQ(FieldsOf(spec)[2], "spec.bench.benchmark.cores");
}

TEST(CheckSpec, RulesForNodes) {
  v1::JobSpec spec;
  *spec.mutable_optimize()->mutable_model() = InspectJob("m.onnx").inspect().model();
  v1::Policy& policy = *spec.mutable_optimize()->mutable_policy();
  policy.set_planner(v1::PLANNER_PLACEMENT);
  policy.add_op_types("conv2d");
  policy.add_nodes()->set_op("Conv");
  policy.mutable_nodes(0)->set_min_precision(v1::PRECISION_FP32);
  policy.add_nodes()->set_name("dense");
  policy.mutable_nodes(1)->set_max_precision(v1::PRECISION_FP16);
  EXPECT_EQ(FieldsOf(spec), Fields{});
  policy.mutable_nodes(1)->set_max_precision(v1::PRECISION_ORIGINAL);
  policy.mutable_nodes(0)->clear_min_precision();
  policy.set_target_runtime(static_cast<v1::Policy::TargetRuntime>(77));
  EXPECT_EQ(FieldsOf(spec),
            (Fields{"spec.optimize.policy.nodes[0].precision", "spec.optimize.policy.nodes[1].max_precision",
                    "spec.optimize.policy.target_runtime"}));
}

TEST(FileNameProblem, Table) {
  for (const char* good : {"a", "a/b.onnx", "A-Z_0.9+@=", "...", ".hidden"})
    EXPECT_EQ(FileNameProblem(good), "") << good;
  for (const char* bad :
       {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a b", "a\\b", "a\nb", "%2e", "\xc3\xa9"}) {
    EXPECT_NE(FileNameProblem(bad), "") << bad;
  }
  EXPECT_NE(FileNameProblem(std::string(2000, 'a')), "");
  EXPECT_NE(FileNameProblem(std::string(300, 'a')), "");
}

TEST(JobName, Form) {
  EXPECT_TRUE(IsJobName(NewJobName()));
  EXPECT_NE(NewJobName(), NewJobName());
  for (const char* bad :
       {"", "jobs/", "jobs/0123456789abcdef0123456789abcdeF", "jobs/0123", "job/0123456789abcdef0123456789abcdef"}) {
    EXPECT_FALSE(IsJobName(bad)) << bad;
  }
}

TEST(Errors, DetailsStaySmallEnoughForMetadata) {
  std::vector<FieldViolation> violations;
  for (int i = 0; i < 1000; ++i) violations.push_back({std::string(500, 'f'), std::string(500, 'd')});
  const absl::Status status = InvalidFields(violations);
  size_t bytes = status.message().size();
  status.ForEachPayload([&](absl::string_view, const absl::Cord& payload) { bytes += payload.size(); });
  EXPECT_LT(bytes, 8192u);
  EXPECT_EQ(ReasonOf(status), "INVALID_FIELD");
}

}  // namespace
}  // namespace halftone::server
