// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "report/json.h"

namespace halftone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVariant[] = R"pb(
  precision: PRECISION_FP32
  steps {
    index: 0
    name: "in"
    op: "reorder"
    kernel: "jit:uni"
    median_us: 10
    isolated_us: 4
    conversion: true
    reorders: 1
  }
  steps { index: 1 name: "a" op: "conv" kernel: "brgconv" median_us: 50 isolated_us: 48 gflops: 80 peak_share: 0.8 }
  steps {
    index: 2
    name: "b"
    op: "conv"
    kernel: "brgconv"
    median_us: 30
    isolated_us: 20
    cold_cache_us: 27
    gflops: 60
    peak_share: 0.6
  }
  steps { index: 3 name: "c" op: "relu" kernel: "loop" median_us: 5 isolated_us: 6 }
  whole_us: 100
  steps_us: 96
  conversions_us: 10
  reorders: 1
  verbose_reorders: 1
  arena_bytes: 1100000
  scratch_bytes: 100000
  live_bytes: 1000000
  live_with_scratch_bytes: 1100000
  packed_bytes: 3000000
)pb";

v1::ProfiledVariant Variant() {
  v1::ProfiledVariant variant;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kVariant, &variant));
  CompleteProfile(variant);
  return variant;
}

TEST(ProfileTest, StepsAreSortedByPotentialSavingAndConversionsComeLast) {
  const v1::ProfiledVariant variant = Variant();
  std::vector<std::string> names;
  std::vector<double> gains;
  for (const v1::ProfiledStep& step : variant.steps()) {
    names.push_back(step.name());
    gains.push_back(step.saving_us());
  }
  EXPECT_THAT(names, ElementsAre("b", "a", "c", "in"));
  EXPECT_THAT(gains, ElementsAre(10, 2, 0, 10));
  EXPECT_DOUBLE_EQ(variant.steps(0).share(), 0.3);
  EXPECT_DOUBLE_EQ(variant.isolated_us(), 74);
  EXPECT_DOUBLE_EQ(variant.outside_us(), 15);
}

TEST(ProfileTest, ChecksSayWhatIsKept) {
  v1::ProfiledVariant variant = Variant();
  std::vector<bool> ok;
  for (const v1::ProfileCheck& check : variant.checks()) ok.push_back(check.ok());
  EXPECT_THAT(ok, ElementsAre(true, true, false, true, true)) << "15 % lie outside";
  variant.set_verbose_reorders(3);
  variant.add_disturbances("2.0 running tasks on 1 cores");
  variant.set_live_bytes(800'000);
  CompleteProfile(variant);
  EXPECT_FALSE(variant.checks(0).ok());
  EXPECT_EQ(variant.loss(),
            "The times are not reliable (2.0 running tasks on 1 cores): profile again on an idle machine.");
  EXPECT_FALSE(variant.checks(3).ok());
  EXPECT_FALSE(variant.checks(4).ok());
  EXPECT_THAT(variant.checks(4).text(), HasSubstr("1.38 x"));
}

TEST(ProfileTest, TheSentenceNamesTheLargestLossFirst) {
  EXPECT_EQ(Variant().loss(),
            "Of 0.100 ms, 0.026 ms (26.0 %) are lost: 0.012 ms in 2 of 4 steps that are slower within the run "
            "than isolated (0.007 ms of it because weights are not in the cache; most in conv 'b' by brgconv: 0.010 "
            "ms), 0.010 ms in 1 "
            "conversions of layout or type (most for 'in': 0.010 ms), 0.004 ms "
            "between the steps and at inputs and outputs; isolated, the steps with MACs reach 85 % of the peak.");
}

TEST(ProfileTest, TheTableHasTheFirstStepsAndSaysHowManyFollow) {
  v1::Profile profile;
  profile.set_model("net.onnx");
  profile.set_threads(1);
  *profile.add_variants() = Variant();
  profile.mutable_variants(0)->set_batch(4);
  const std::string table = ProfileTable(profile, 2);
  EXPECT_THAT(table, HasSubstr("net.onnx fp32, batch 4, 1 thread: 0.100 ms"));
  EXPECT_THAT(table, HasSubstr("and 2 more steps\n"));
  EXPECT_THAT(table, HasSubstr("FAIL  outside compute steps 0.015 ms, 15.0 %"));
  EXPECT_THAT(ProfileTable(profile, 0), HasSubstr("reorder"));
}

TEST(ProfileTest, TheTableSaysWhereTheRangesOfInt8CameFrom) {
  v1::Profile profile;
  *profile.add_variants() = Variant();
  *profile.add_variants() = Variant();
  profile.mutable_variants(1)->set_precision(v1::PRECISION_INT8);
  EXPECT_THAT(ProfileTable(profile, 0), Not(HasSubstr("calibration"))) << "of the modes without ranges";
  v1::Calibration& calibration = *profile.mutable_calibration();
  calibration.set_source("cache");
  calibration.set_samples(50);
  calibration.set_calibration_method("entropy");
  calibration.add_not_converged("conv1");
  const std::string table = ProfileTable(profile, 0);
  const size_t fp32 = table.find(" fp32, batch"), int8 = table.find(" int8, batch");
  const std::string line = "      calibration: 50 samples, ranges from the cache; entropy\n";
  EXPECT_THAT(table.substr(fp32, int8 - fp32), Not(HasSubstr("calibration")));
  EXPECT_THAT(table.substr(int8), HasSubstr(line));
  EXPECT_THAT(table.substr(int8), HasSubstr("      calibration: not converged, 1 range still grew"));
}

TEST(ProfileTest, JsonComesBack) {
  v1::Profile profile;
  *profile.add_variants() = Variant();
  profile.mutable_calibration()->set_samples(50);
  const absl::StatusOr<v1::Profile> back = ProfileFromJson(MessageToJson(profile));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(MessageToJson(*back), MessageToJson(profile));
  EXPECT_FALSE(ProfileFromJson("{\"variant\": 1}").ok());
}

}  // namespace
}  // namespace halftone::report
