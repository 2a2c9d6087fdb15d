// SPDX-License-Identifier: Apache-2.0
#include "report/gates.h"

#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace halftone::report {
namespace {

using ::testing::HasSubstr;

constexpr char kReport[] = R"pb(
  variants {
    precision: PRECISION_FP32
    benchmark { valid: true samples: 9 }
    top1_accuracy: 0.79
    labelled_samples: 100
  }
  variants {
    precision: PRECISION_BF16
    benchmark {
      speedup { median: 1.3 low: 1.25 high: 1.4 }
      valid: true
      samples: 9
    }
    fidelity { output: "a" sqnr_db: 40 top1_agreement: 1 }
    fidelity { output: "b" sqnr_db: 30 top1_agreement: 0.98 }
    top1_accuracy: 0.78
    labelled_samples: 100
  }
  evaluation_samples: 100
)pb";

v1::Report Parse() {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kReport, &report));
  return report;
}

GateResult One(const v1::Report& report, GateKind kind, double limit) {
  const Gate gate{kind, v1::PRECISION_BF16, limit};
  return CheckGates(report, {&gate, 1})[0];
}

TEST(Gates, SpeedupUsesTheLowerConfidenceBound) {
  EXPECT_EQ(One(Parse(), GateKind::kMinSpeedup, 1.25).outcome, GateOutcome::kPassed);
  const GateResult failed = One(Parse(), GateKind::kMinSpeedup, 1.28);
  EXPECT_EQ(failed.outcome, GateOutcome::kFailed);
  EXPECT_EQ(failed.line, "FAIL min-speedup bf16: lower bound 1.25 < 1.28 (median 1.3, 95 % interval 1.25 .. 1.4)");
}

TEST(Gates, AnInvalidBenchmarkFailsWithItsReasons) {
  v1::Report report = Parse();
  auto* benchmark = report.mutable_variants(1)->mutable_benchmark();
  benchmark->set_valid(false);
  benchmark->add_invalid_reasons("steal 3 %");
  const GateResult result = One(report, GateKind::kMinSpeedup, 1.0);
  EXPECT_EQ(result.outcome, GateOutcome::kFailed);
  EXPECT_EQ(result.line, "FAIL min-speedup bf16: the benchmark of bf16 is INVALID: steal 3 %");
}

TEST(Gates, AnInvalidBaselineFailsToo) {
  v1::Report report = Parse();
  report.mutable_variants(0)->mutable_benchmark()->add_invalid_reasons("2 threads on 1 cores");
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 1.0).line, HasSubstr("FAIL"));
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 1.0).line, HasSubstr("fp32 is INVALID"));
}

// The interval is 1.25 .. 1.4, the A/A test 0.99 .. 1.02: what the noise may change is 2 %.
v1::Report Noisy() {
  v1::Report report = Parse();
  v1::Benchmark* benchmark = report.mutable_variants(1)->mutable_benchmark();
  benchmark->set_valid(false);
  benchmark->add_noise("208 involuntary context switches");
  v1::Speedup* self_check = report.mutable_benchmark_run()->mutable_self_check()->mutable_speedup();
  self_check->set_low(0.99);
  self_check->set_high(1.02);
  return report;
}

TEST(Gates, NoiseDoesNotMatterWhereTheIntervalIsClearOfTheLimit) {
  const GateResult passed = One(Noisy(), GateKind::kMinSpeedup, 1.2);
  EXPECT_EQ(passed.outcome, GateOutcome::kPassed);
  EXPECT_THAT(passed.line, HasSubstr("PASS min-speedup bf16: lower bound 1.25 >= 1.2"));
  EXPECT_THAT(passed.line, HasSubstr("noisy: 208 involuntary context switches"));
  EXPECT_EQ(One(Noisy(), GateKind::kMinSpeedup, 1.5).outcome, GateOutcome::kFailed) << "too slow in any case";
}

TEST(Gates, NoiseThatTheIntervalDoesNotDecideIsNoFailure) {
  for (const double limit : {1.24, 1.3, 1.41}) {
    const GateResult result = One(Noisy(), GateKind::kMinSpeedup, limit);
    EXPECT_EQ(result.outcome, GateOutcome::kNoisy) << limit;
    EXPECT_THAT(result.line, HasSubstr("NOISY min-speedup bf16")) << limit;
  }
  const Gate gate{GateKind::kMinSpeedup, v1::PRECISION_BF16, 1.3};
  EXPECT_EQ(CheckGates(Noisy(), {&gate, 1}, /*allow_noisy=*/true)[0].outcome, GateOutcome::kFailed);
}

TEST(Gates, ANoisyBaselineCountsToo) {
  v1::Report report = Parse();
  report.mutable_variants(0)->mutable_benchmark()->add_noise("steal 3 %");
  EXPECT_EQ(One(report, GateKind::kMinSpeedup, 1.3).outcome, GateOutcome::kNoisy);
}

TEST(Gates, Top1DoesNotApplyToRowsOfOneElement) {
  v1::Report report = Parse();
  v1::Variant* bf16 = report.mutable_variants(1);
  bf16->clear_fidelity();
  bf16->add_fidelity()->set_sqnr_db(999);
  EXPECT_THAT(One(report, GateKind::kMinTop1Agreement, 1).line,
              HasSubstr("PASS min-top1-agreement bf16: every output"));
  bf16->mutable_fidelity(0)->set_sqnr_db(40);
  EXPECT_THAT(One(report, GateKind::kMinTop1Agreement, 1).line, HasSubstr("FAIL"));
  EXPECT_THAT(One(report, GateKind::kMinTop1Agreement, 1).line, HasSubstr("top-1 does not apply"));
  bf16->add_fidelity()->set_top1_agreement(1);
  EXPECT_EQ(One(report, GateKind::kMinTop1Agreement, 1).outcome, GateOutcome::kPassed) << "by the output that has rows";
}

TEST(Gates, NothingMeasuredFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->clear_benchmark();
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 0.1).line, HasSubstr("nothing was measured for bf16"));
}

TEST(Gates, FidelityIsOfTheWorstOutput) {
  EXPECT_EQ(One(Parse(), GateKind::kMinSqnr, 30).outcome, GateOutcome::kPassed);
  EXPECT_EQ(One(Parse(), GateKind::kMinSqnr, 35).line, "FAIL min-sqnr bf16: worst output 30 dB < 35");
  EXPECT_EQ(One(Parse(), GateKind::kMinTop1Agreement, 0.98).outcome, GateOutcome::kPassed);
  EXPECT_EQ(One(Parse(), GateKind::kMinTop1Agreement, 0.99).outcome, GateOutcome::kFailed);
}

TEST(Gates, NotANumberFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->mutable_fidelity(0)->set_sqnr_db(std::nan(""));
  EXPECT_EQ(One(report, GateKind::kMinSqnr, -1000).outcome, GateOutcome::kFailed);
}

TEST(Gates, AccuracyDropIsNotMissedByTheLastBit) {
  EXPECT_EQ(One(Parse(), GateKind::kMaxTop1Drop, 0.01).outcome,
            GateOutcome::kPassed);  // 0.79 - 0.78 is a little more in binary
  EXPECT_EQ(One(Parse(), GateKind::kMaxTop1Drop, 0.009).outcome, GateOutcome::kFailed);
}

TEST(Gates, AccuracyDropWithoutLabelsFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->set_labelled_samples(0);
  EXPECT_THAT(One(report, GateKind::kMaxTop1Drop, 0.5).line, HasSubstr("FAIL max-top1-drop bf16: there are no labels"));
}

TEST(Gates, AMissingVariantFails) {
  v1::Report report = Parse();
  report.mutable_variants()->RemoveLast();
  EXPECT_THAT(One(report, GateKind::kMinSqnr, 1).line, HasSubstr("no bf16 variant"));
}

TEST(Gates, ParseSaysWhatIsWrong) {
  const absl::StatusOr<Gate> gate = ParseGate(GateKind::kMinSpeedup, "bf16=1.2");
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->precision, v1::PRECISION_BF16);
  EXPECT_EQ(gate->limit, 1.2);
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "1.2").status().message(), HasSubstr("PRECISION=NUMBER"));
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "bf17=1").status().message(), HasSubstr("no precision 'bf17'"));
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "bf16=fast").status().message(), HasSubstr("'fast' is not a number"));
  EXPECT_FALSE(ParseGate(GateKind::kMinSpeedup, "bf16=nan").ok());
  EXPECT_FALSE(ParseGate(GateKind::kMinSpeedup, "bf16=0").ok());
  EXPECT_FALSE(ParseGate(GateKind::kMinTop1Agreement, "bf16=98").ok());
  EXPECT_TRUE(ParseGate(GateKind::kMaxTop1Drop, "bf16=0.5").ok());
  EXPECT_THAT(ParseGate(GateKind::kMaxTop1Drop, "int8=1").status().message(),
              HasSubstr("one percentage point is 0.01"));
  EXPECT_THAT(ParseGate(GateKind::kMaxTop1Drop, "1").status().message(), HasSubstr("bf16=0.01; an accuracy"));
  EXPECT_THAT(ParseGate(GateKind::kMinSqnr, "22").status().message(), HasSubstr("--accuracy-goal"));
  EXPECT_TRUE(ParseGate(GateKind::kMinSqnr, "bf16=30").ok());
}

TEST(Gates, MarkdownMarksEach) {
  const Gate gates[] = {{GateKind::kMinSpeedup, v1::PRECISION_BF16, 1.0},
                        {GateKind::kMinSpeedup, v1::PRECISION_BF16, 2.0}};
  const std::vector<GateResult> results = CheckGates(Parse(), gates);
  EXPECT_EQ(results[0].outcome, GateOutcome::kPassed);
  EXPECT_EQ(results[1].outcome, GateOutcome::kFailed);
  const std::string markdown = GatesMarkdown(results);
  EXPECT_THAT(markdown, HasSubstr("- ✅ PASS"));
  EXPECT_THAT(markdown, HasSubstr("- ❌ FAIL min-speedup bf16: lower bound 1.25 &lt; 2"));
  EXPECT_EQ(GatesMarkdown({}), "");
}

}  // namespace
}  // namespace halftone::report
