// SPDX-License-Identifier: Apache-2.0
#include "client/cli/outcome.h"

#include "base/files.h"
#include "client/cli/exit_codes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/json.h"

namespace halftone::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

v1::Report MakeReport() {
  v1::Report report;
  report.set_model("net.onnx");
  report.add_warnings("inputs are random");
  for (const v1::Precision precision : {v1::PRECISION_FP32, v1::PRECISION_BF16}) {
    v1::Variant& variant = *report.add_variants();
    variant.set_precision(precision);
    variant.mutable_benchmark()->set_samples(9);
    variant.mutable_benchmark()->set_valid(true);
    variant.mutable_benchmark()->mutable_speedup()->set_low(1.5);
  }
  report.mutable_variants(1)->set_summary("converted 3 of 4 nodes");
  return report;
}

report::Gate Speedup(double limit) { return {report::GateKind::kMinSpeedup, v1::PRECISION_BF16, limit}; }

TEST(ShowOutcome, TableNotesAndGatesOnStdoutWarningsOnStderr) {
  CaptureStdout();
  CaptureStderr();
  const absl::Status status = ShowOutcome(MakeReport(), {"inputs are random", "slow disk"}, {.gates = {Speedup(1.2)}});
  const std::string out = GetCapturedStdout();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(GetCapturedStderr(), "WARNING: inputs are random\nWARNING: slow disk\n");
  EXPECT_THAT(out, HasSubstr("bf16: converted 3 of 4 nodes\n"));
  EXPECT_THAT(out, HasSubstr("PASS min-speedup bf16: lower bound 1.5 >= 1.2"));
}

TEST(ShowOutcome, JsonIsExactlyTheReport) {
  CaptureStdout();
  CaptureStderr();
  const absl::Status status = ShowOutcome(MakeReport(), {}, {.json = true, .gates = {Speedup(1.2)}});
  EXPECT_EQ(GetCapturedStdout(), report::ReportToJson(MakeReport()));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("PASS min-speedup"));
  EXPECT_TRUE(status.ok());
}

TEST(ShowOutcome, AFailedGateIsExitCodeFour) {
  CaptureStdout();
  CaptureStderr();
  const absl::Status status = ShowOutcome(MakeReport(), {}, {.gates = {Speedup(1.2), Speedup(2)}});
  GetCapturedStdout();
  GetCapturedStderr();
  EXPECT_EQ(ExitCodeFor(status), 4);
  EXPECT_EQ(std::string(status.message()), "1 of 2 gates failed");
}

TEST(ShowOutcome, AGateThatNoiseLeavesUndecidedIsExitCodeNine) {
  v1::Report report = MakeReport();
  report.mutable_variants(1)->mutable_benchmark()->add_noise("steal 3 %");
  report.mutable_variants(1)->mutable_benchmark()->mutable_speedup()->set_high(2.5);
  const auto code = [&](double limit, bool allow_noisy) {
    CaptureStdout();
    CaptureStderr();
    const absl::Status status = ShowOutcome(report, {}, {.gates = {Speedup(limit)}, .allow_noisy = allow_noisy});
    GetCapturedStdout();
    GetCapturedStderr();
    return ExitCodeFor(status);
  };
  EXPECT_EQ(code(1.2, false), 0) << "clear of the limit";
  EXPECT_EQ(code(2, false), 9);
  EXPECT_EQ(code(3, false), 4) << "too slow, noisy or not";
  EXPECT_EQ(code(2, true), 4);
}

TEST(ShowOutcome, DetailsOnlyWhenAskedFor) {
  v1::Report report = MakeReport();
  report.mutable_variants(1)->add_fusions()->set_pass("fuse-activation");
  const auto text = [&](bool details) {
    CaptureStdout();
    CaptureStderr();
    EXPECT_TRUE(ShowOutcome(report, {}, {.details = details}).ok());
    GetCapturedStderr();
    return GetCapturedStdout();
  };
  EXPECT_THAT(text(false), ::testing::Not(HasSubstr("fuse-activation")));
  EXPECT_THAT(text(true), HasSubstr("fuse-activation"));
}

TEST(ShowOutcome, SummaryIsAppendedAlsoWhenAGateFails) {
  const absl::StatusOr<TempDir> dir = TempDir::Create();
  const std::string path = dir->path() + "/summary.md";
  ASSERT_TRUE(WriteFileAtomically(path, "before\n").ok());
  CaptureStdout();
  CaptureStderr();
  EXPECT_FALSE(ShowOutcome(MakeReport(), {}, {.summary_file = path, .gates = {Speedup(2)}}).ok());
  EXPECT_EQ(ExitCodeFor(ShowOutcome(MakeReport(), {}, {.summary_file = dir->path() + "/none/x.md"})), 2);
  GetCapturedStdout();
  GetCapturedStderr();
  const std::string summary = *ReadFile(path);
  EXPECT_THAT(summary, HasSubstr("before\n### Halftone\n"));
  EXPECT_THAT(summary, HasSubstr("| bf16 |"));
  EXPECT_THAT(summary, HasSubstr("❌ FAIL min-speedup bf16"));
  EXPECT_THAT(summary, HasSubstr("inputs are random"));
}

TEST(SummaryMarkdown, TextOfAModelIsNoMarkup) {
  EXPECT_THAT(SummaryMarkdown(MakeReport(), {"<img src=x> *a* [b](c)"}, {}),
              HasSubstr("&lt;img src=x> \\*a\\* \\[b](c)"));
}

}  // namespace
}  // namespace halftone::cli
