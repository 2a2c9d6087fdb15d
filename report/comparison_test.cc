// SPDX-License-Identifier: Apache-2.0
// Figures computed again from samples, and two reports against each other.

#include "report/comparison.h"

#include <random>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "report/figures.h"
#include "report/json.h"

namespace halftone::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Ten rounds of 70 samples about `ms`, made up.
void AddRounds(double ms, std::mt19937& random, google::protobuf::RepeatedPtrField<v1::BenchmarkRound>* rounds) {
  for (int round = 0; round < 10; ++round) {
    v1::BenchmarkProcess* process = rounds->Add()->add_processes();
    process->set_inferences_per_sample(1);
    for (int i = 0; i < 70; ++i) {
      process->add_samples_ns(static_cast<int64_t>(ms * (1e6 + 1e3 * (round % 7)) + random() % 10'000));
    }
  }
}

v1::Report Measured(double fp32_ms, double bf16_ms, uint32_t noise) {
  std::mt19937 random(noise);
  v1::Report report;
  report.set_model("net.onnx");
  report.mutable_model_digest()->set_sha256("ab");
  report.mutable_environment()->set_cpu("EPYC");
  report.mutable_environment()->set_isa("avx512_core");
  report.set_seed(7);
  report.mutable_benchmark_run()->set_preset(v1::BENCHMARK_PRESET_STANDARD);
  report.mutable_benchmark_run()->set_rounds(10);
  for (const auto& [precision, ms] : {std::pair{v1::PRECISION_FP32, fp32_ms}, {v1::PRECISION_BF16, bf16_ms}}) {
    v1::Variant* variant = report.add_variants();
    variant->set_precision(precision);
    variant->mutable_benchmark()->set_valid(true);
    AddRounds(ms, random, variant->mutable_benchmark()->mutable_round_data());
  }
  v1::SelfCheck* check = report.mutable_benchmark_run()->mutable_self_check();
  AddRounds(fp32_ms, random, check->mutable_round_data());
  check->add_round_medians_ms(1);  // that there are some
  return *Recompute(report);
}

TEST(Recompute, FiguresAreThoseOfTheSamplesToTheLastBit) {
  const v1::Report report = Measured(10, 5, 1);
  EXPECT_EQ(report.variants(0).benchmark().samples(), 700);
  EXPECT_NEAR(report.variants(1).benchmark().speedup().median(), 2, 0.01);
  EXPECT_EQ(report.variants(1).benchmark().speedup().verdict(), v1::VERDICT_FASTER);
  EXPECT_GT(report.variants(1).benchmark().p99_ms(), 0);
  EXPECT_EQ(report.variants(1).benchmark().p999_ms(), 0) << "that needs 6636 samples";
  EXPECT_EQ(report.benchmark_run().self_check().speedup().verdict(), v1::VERDICT_SAME);

  // Through the file and back.
  const absl::StatusOr<v1::Report> read = ReportFromJson(ReportToJson(report));
  ASSERT_TRUE(read.ok());
  const absl::StatusOr<v1::Report> again = Recompute(*read);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(FigureDifferences(*read, *again), IsEmpty());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*read, *again));
}

TEST(Recompute, AChangedFigureIsFound) {
  v1::Report report = Measured(10, 5, 1);
  v1::Speedup* speedup = report.mutable_variants(1)->mutable_benchmark()->mutable_speedup();
  speedup->set_low(std::nextafter(speedup->low(), 10));
  EXPECT_THAT(FigureDifferences(report, *Recompute(report)), ElementsAre(HasSubstr("bf16 speedup.low: ")));
  EXPECT_THAT(std::string(Compare(report, report).status().message()),
              HasSubstr("A: its figures are not those of its samples: bf16 speedup.low"));
}

TEST(Recompute, AChangedSampleIsFound) {
  v1::Report report = Measured(10, 5, 1);
  v1::BenchmarkRound* round = report.mutable_variants(1)->mutable_benchmark()->mutable_round_data(3);
  for (int64_t& ns : *round->mutable_processes(0)->mutable_samples_ns()) ns = ns * 9 / 10;
  EXPECT_THAT(FigureDifferences(report, *Recompute(report)), Contains(HasSubstr("bf16 round_medians_ms[3]")));
}

TEST(Recompute, AReportWithoutSamplesSaysSo) {
  EXPECT_THAT(std::string(Recompute(v1::Report()).status().message()), HasSubstr("nothing was measured"));
  v1::Report report = Measured(10, 5, 1);
  report.mutable_variants(0)->mutable_benchmark()->clear_round_data();
  EXPECT_THAT(std::string(Recompute(report).status().message()), HasSubstr("fp32: the report holds no samples"));
  report = Measured(10, 5, 1);
  report.mutable_variants(0)->mutable_benchmark()->mutable_round_data(0)->mutable_processes(0)->set_samples_ns(0, 0);
  EXPECT_THAT(std::string(Recompute(report).status().message()), HasSubstr("took no time"));
}

TEST(Compare, SaysWhichIsFasterByTheInterval) {
  const absl::StatusOr<v1::Comparison> comparison = Compare(Measured(10, 5, 1), Measured(10, 5.5, 2));
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->variants_size(), 2);
  EXPECT_EQ(comparison->variants(0).speedup().verdict(), v1::VERDICT_SAME);
  EXPECT_EQ(comparison->variants(1).speedup().verdict(), v1::VERDICT_SLOWER);
  EXPECT_NEAR(comparison->variants(1).speedup().median(), 5 / 5.5, 0.005);
  EXPECT_TRUE(comparison->variants(1).valid());
  EXPECT_THAT(comparison->warnings(), IsEmpty());
  EXPECT_EQ(Compare(Measured(10, 5, 1), Measured(10, 5.5, 2))->variants(1).speedup().low(),
            comparison->variants(1).speedup().low())
      << "the same bits each time";
}

TEST(Compare, WarnsOfOtherMachinesModelsAndSettings) {
  const v1::Report a = Measured(10, 5, 1);
  v1::Report b = a;
  b.mutable_environment()->set_isa("avx2");
  b.mutable_environment()->set_governor("powersave");
  b.mutable_environment()->set_build_id("another build is what one compares");
  b.mutable_model_digest()->set_sha256("cd");
  b.mutable_benchmark_run()->set_threads(2);
  const absl::StatusOr<v1::Comparison> comparison = Compare(a, b);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_THAT(comparison->warnings(),
              ElementsAre("other instruction sets: avx512_core and avx2", "environment governor: unknown and powersave",
                          "benchmark threads: 0 and 2", "other models: net.onnx and net.onnx"));
}

TEST(Compare, WhatIsInvalidInOneIsInvalid) {
  const v1::Report a = Measured(10, 5, 1);
  v1::Report b = a;
  b.mutable_variants(1)->mutable_benchmark()->set_valid(false);
  b.mutable_variants(1)->mutable_benchmark()->add_invalid_reasons("stolen");
  const absl::StatusOr<v1::Comparison> comparison = Compare(a, b);
  ASSERT_TRUE(comparison.ok());
  EXPECT_TRUE(comparison->variants(0).valid());
  EXPECT_FALSE(comparison->variants(1).valid());
  EXPECT_THAT(comparison->variants(1).invalid_reasons(), ElementsAre("B: stolen"));
}

TEST(Compare, NeedsSomethingInCommon) {
  v1::Report a = Measured(10, 5, 1), b = a;
  a.mutable_variants()->RemoveLast();
  b.mutable_variants()->DeleteSubrange(0, 1);
  // Without its baseline, b has no speed-ups; Recompute takes that as it is.
  b = *Recompute(b);
  EXPECT_THAT(std::string(Compare(a, b).status().message()), HasSubstr("no variant in common"));
}

TEST(Compare, WhatWasOnlyWrittenIsLeftOut) {
  v1::Report a = Measured(10, 5, 1), b = Measured(10, 5, 2);
  for (v1::Report* report : {&a, &b}) {
    v1::Variant* fp16 = report->add_variants();
    fp16->set_precision(v1::PRECISION_FP16);
    fp16->set_not_measured("not measured: this CPU has no float16 arithmetic");
  }
  const absl::StatusOr<v1::Comparison> comparison = Compare(a, b);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->variants_size(), 2);
}

TEST(ComparisonTable, Golden) {
  v1::Comparison comparison;
  comparison.set_a("old.json");
  comparison.set_b("new.json");
  v1::ComparedVariant* variant = comparison.add_variants();
  variant->set_precision(v1::PRECISION_FP32);
  variant->set_a_ms(10);
  variant->set_b_ms(12.5);
  variant->set_valid(true);
  variant->mutable_speedup()->set_median(0.8);
  variant->mutable_speedup()->set_low(0.79);
  variant->mutable_speedup()->set_high(0.81);
  variant->mutable_speedup()->set_verdict(v1::VERDICT_SLOWER);
  *comparison.add_variants() = *variant;
  comparison.mutable_variants(1)->set_precision(v1::PRECISION_BF16);
  comparison.mutable_variants(1)->set_valid(false);
  EXPECT_EQ(ComparisonTable(comparison), R"(A  old.json
B  new.json
variant     A ms     B ms   A / B (95 % interval)  B is
fp32     10.0000  12.5000  0.800 (0.790 .. 0.810)  slower
bf16     10.0000  12.5000  0.800 (0.790 .. 0.810)  slower INVALID
)");
}

}  // namespace
}  // namespace halftone::report
