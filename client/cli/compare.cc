// SPDX-License-Identifier: Apache-2.0
// halftone compare A.json B.json: two measurements against each other, computed from their timings. No server.

#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"
#include "report/comparison.h"
#include "report/json.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone compare before/report.json after/report.json --max-slowdown 0.05
exits with 4 unless the confidence intervals show that nothing became more than 5 % slower.)";

constexpr double kMaxSlowdown = 1;

struct Flags {
  std::string a, b;
  std::string max_slowdown;
  bool allow_noisy = false;
  bool json = false;
};

absl::StatusOr<double> ParseShare(const std::string& text) {
  double share = 0;
  if (absl::SimpleAtod(text, &share) && share >= 0 && share <= kMaxSlowdown) return share;
  return UsageError(
      absl::StrCat("--max-slowdown ", text, ": a share from 0 to ", kMaxSlowdown, " is expected; 5 % is 0.05"));
}

absl::StatusOr<v1::Report> ReadReport(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return UsageError(std::string(bytes.status().message()));
  absl::StatusOr<v1::Report> report = report::ReportFromJson(*bytes);
  if (!report.ok()) return ModelFileError(absl::StrCat(path, ": ", std::string(report.status().message())));
  return report;
}

// One line per variant that could be slower than allowed; the unmodified model is not ours.
std::vector<std::string> TooSlow(const v1::Comparison& comparison, double share) {
  std::vector<std::string> lines;
  for (const v1::ComparedVariant& variant : comparison.variants()) {
    const double worst = 1 / variant.speedup().low();  // time(B) / time(A), the high end
    if (variant.precision() == v1::PRECISION_ORIGINAL || worst <= 1 + share) continue;
    lines.push_back(absl::StrFormat("FAIL max-slowdown %s: B takes up to %.4g times the time of A, more than %.4g",
                                    report::PrecisionName(variant.precision()), worst, 1 + share));
  }
  return lines;
}

absl::Status CheckValid(const v1::Comparison& comparison) {
  for (const v1::ComparedVariant& variant : comparison.variants()) {
    if (variant.valid()) continue;
    return client::WithReason(
        absl::FailedPreconditionError(absl::StrCat(
            "a benchmark is INVALID (", report::PrecisionName(variant.precision()), ": ",
            report::Printable(absl::StrJoin(variant.invalid_reasons(), "; ")), "); --allow-noisy ignores it")),
        kReasonBenchmarkInvalid);
  }
  return absl::OkStatus();
}

absl::Status Compare(const Flags& flags) {
  double share = 0;
  if (!flags.max_slowdown.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(share, ParseShare(flags.max_slowdown));
  }
  HALFTONE_ASSIGN_OR_RETURN(const v1::Report a, ReadReport(flags.a));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Report b, ReadReport(flags.b));
  absl::StatusOr<v1::Comparison> comparison = report::Compare(a, b);
  if (!comparison.ok()) return ModelFileError(std::string(comparison.status().message()));
  comparison->set_a(flags.a);
  comparison->set_b(flags.b);

  std::vector<std::string> warnings;
  for (const std::string& warning : comparison->warnings())
    warnings.push_back(absl::StrCat("not comparable: ", warning));
  PrintWarnings(warnings);
  HALFTONE_RETURN_IF_ERROR(
      PrintResult(flags.json ? report::MessageToJson(*comparison) : report::ComparisonTable(*comparison)));
  if (!flags.allow_noisy) HALFTONE_RETURN_IF_ERROR(CheckValid(*comparison));
  if (flags.max_slowdown.empty()) return absl::OkStatus();
  const std::vector<std::string> too_slow = TooSlow(*comparison, share);
  for (const std::string& line : too_slow) Say(line);
  if (too_slow.empty()) {
    Say(absl::StrCat("PASS max-slowdown ", flags.max_slowdown));
    return absl::OkStatus();
  }
  return client::WithReason(
      absl::FailedPreconditionError(absl::StrCat("--max-slowdown ", flags.max_slowdown, " failed")), kReasonGateFailed);
}

}  // namespace

void AddCompare(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("compare", "compare two measurements: which is faster, by their timings");
  command.footer(kExample);
  command.add_option("A", flags->a, "report.json of the baseline")->required()->type_name("");
  command.add_option("B", flags->b, "report.json to compare with it")->required()->type_name("");
  command
      .add_option("--max-slowdown", flags->max_slowdown,
                  "exit with 4 where B could be slower than A by more; a share, e.g. 0.05")
      ->type_name("SHARE");
  command.add_flag("--allow-noisy", flags->allow_noisy, "no error (exit code 9) when a benchmark is INVALID");
  command.add_flag("--json", flags->json, "print a halftone.v1.Comparison");
  command.callback([flags, action] { *action = [flags](Interrupts&) { return Compare(*flags); }; });
}

}  // namespace halftone::cli
