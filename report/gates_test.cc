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
    precision: FP32
    benchmark { valid: true samples: 9 }
    top1_accuracy: 0.79
    labelled_samples: 100
  }
  variants {
    precision: BF16
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
  const Gate gate{kind, v1::BF16, limit};
  return CheckGates(report, {&gate, 1})[0];
}

TEST(Gates, SpeedupUsesTheLowEndOfTheInterval) {
  EXPECT_TRUE(One(Parse(), GateKind::kMinSpeedup, 1.25).passed);
  const GateResult failed = One(Parse(), GateKind::kMinSpeedup, 1.28);
  EXPECT_FALSE(failed.passed);
  EXPECT_EQ(failed.line, "FAIL min-speedup bf16: low end 1.25 < 1.28 (median 1.3, 95 % interval 1.25 .. 1.4)");
}

TEST(Gates, AnInvalidBenchmarkFailsWithItsReasons) {
  v1::Report report = Parse();
  auto* benchmark = report.mutable_variants(1)->mutable_benchmark();
  benchmark->set_valid(false);
  benchmark->add_invalid_reasons("steal 3 %");
  const GateResult result = One(report, GateKind::kMinSpeedup, 1.0);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.line, "FAIL min-speedup bf16: the benchmark of bf16 is INVALID: steal 3 %");
}

TEST(Gates, AnInvalidBaselineFailsToo) {
  v1::Report report = Parse();
  report.mutable_variants(0)->mutable_benchmark()->set_valid(false);
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 1.0).line, HasSubstr("FAIL"));
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 1.0).line, HasSubstr("fp32 is INVALID"));
}

TEST(Gates, NothingMeasuredFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->clear_benchmark();
  EXPECT_THAT(One(report, GateKind::kMinSpeedup, 0.1).line, HasSubstr("nothing was measured for bf16"));
}

TEST(Gates, FidelityIsOfTheWorstOutput) {
  EXPECT_TRUE(One(Parse(), GateKind::kMinSqnr, 30).passed);
  EXPECT_EQ(One(Parse(), GateKind::kMinSqnr, 35).line, "FAIL min-sqnr bf16: worst output 30 dB < 35");
  EXPECT_TRUE(One(Parse(), GateKind::kMinTop1Agreement, 0.98).passed);
  EXPECT_FALSE(One(Parse(), GateKind::kMinTop1Agreement, 0.99).passed);
}

TEST(Gates, NotANumberFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->mutable_fidelity(0)->set_sqnr_db(std::nan(""));
  EXPECT_FALSE(One(report, GateKind::kMinSqnr, -1000).passed);
}

TEST(Gates, AccuracyDropIsNotMissedByTheLastBit) {
  EXPECT_TRUE(One(Parse(), GateKind::kMaxTop1Drop, 0.01).passed);  // 0.79 - 0.78 is a little more in binary
  EXPECT_FALSE(One(Parse(), GateKind::kMaxTop1Drop, 0.009).passed);
}

TEST(Gates, AccuracyDropWithoutLabelsFails) {
  v1::Report report = Parse();
  report.mutable_variants(1)->set_labelled_samples(0);
  EXPECT_THAT(One(report, GateKind::kMaxTop1Drop, 1).line, HasSubstr("FAIL max-top1-drop bf16: there are no labels"));
}

TEST(Gates, AMissingVariantFails) {
  v1::Report report = Parse();
  report.mutable_variants()->RemoveLast();
  EXPECT_THAT(One(report, GateKind::kMinSqnr, 1).line, HasSubstr("no bf16 variant"));
}

TEST(Gates, ParseSaysWhatIsWrong) {
  const absl::StatusOr<Gate> gate = ParseGate(GateKind::kMinSpeedup, "bf16=1.2");
  ASSERT_TRUE(gate.ok());
  EXPECT_EQ(gate->precision, v1::BF16);
  EXPECT_EQ(gate->limit, 1.2);
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "1.2").status().message(), HasSubstr("PRECISION=NUMBER"));
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "bf17=1").status().message(), HasSubstr("no precision 'bf17'"));
  EXPECT_THAT(ParseGate(GateKind::kMinSpeedup, "bf16=fast").status().message(), HasSubstr("'fast' is not a number"));
  EXPECT_FALSE(ParseGate(GateKind::kMinSpeedup, "bf16=nan").ok());
  EXPECT_FALSE(ParseGate(GateKind::kMinSpeedup, "bf16=0").ok());
  EXPECT_FALSE(ParseGate(GateKind::kMinTop1Agreement, "bf16=98").ok());
  EXPECT_TRUE(ParseGate(GateKind::kMinSqnr, "bf16=30").ok());
}

TEST(Gates, MarkdownMarksEach) {
  const Gate gates[] = {{GateKind::kMinSpeedup, v1::BF16, 1.0}, {GateKind::kMinSpeedup, v1::BF16, 2.0}};
  const std::vector<GateResult> results = CheckGates(Parse(), gates);
  EXPECT_FALSE(AllPassed(results));
  const std::string markdown = GatesMarkdown(results);
  EXPECT_THAT(markdown, HasSubstr("- ✅ PASS"));
  EXPECT_THAT(markdown, HasSubstr("- ❌ FAIL min-speedup bf16: low end 1.25 &lt; 2"));
  EXPECT_EQ(GatesMarkdown({}), "");
}

}  // namespace
}  // namespace halftone::report
