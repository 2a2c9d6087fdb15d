// SPDX-License-Identifier: Apache-2.0
#include "client/cli/outcome.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/status.h"
#include "report/explain_fusion.h"
#include "report/explain_precision.h"
#include "report/export.h"
#include "report/int8_evidence.h"
#include "report/json.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table.h"

namespace halftone::cli {
namespace {

constexpr int kWorstNodes = 10;  // of int8, in the text

std::string AsMarkdownText(const std::string& text) {
  return absl::StrReplaceAll(report::Printable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {"*", "\\*"}, {"_", "\\_"}, {"`", "\\`"}, {"[", "\\["}});
}

// Appends: the file may be a page that several steps of a CI job write.
absl::Status AppendToFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::app);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return client::WithReason(absl::InternalError(absl::StrCat("--summary ", path, ": cannot be written")),
                            kReasonOutputFile);
}

std::vector<std::string> AllWarnings(const v1::Report& report, const std::vector<std::string>& warnings) {
  std::vector<std::string> all(report.warnings().begin(), report.warnings().end());
  for (const std::string& warning : warnings) {
    if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  }
  return all;
}

absl::Status Noisy(const std::string& what) {
  return client::WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          what,
          ": the machine is too noisy; measure on an idle machine, longer (--preset standard), or --allow-noisy")),
      kReasonBenchmarkInvalid);
}

absl::Status CheckValid(const v1::Report& report) {
  const v1::BenchmarkRun& run = report.benchmark_run();
  return run.rounds() == 0 || run.valid() ? absl::OkStatus() : Noisy("the benchmark is INVALID");
}

absl::Status CheckPassed(const std::vector<report::GateResult>& gates) {
  const auto count = [&](report::GateOutcome outcome) {
    return std::count_if(gates.begin(), gates.end(),
                         [&](const report::GateResult& gate) { return gate.outcome == outcome; });
  };
  const std::string of_all = absl::StrCat(" of ", gates.size(), gates.size() == 1 ? " gate" : " gates");
  if (const auto failed = count(report::GateOutcome::kFailed); failed > 0) {
    return client::WithReason(absl::FailedPreconditionError(absl::StrCat(failed, of_all, " failed")),
                              kReasonGateFailed);
  }
  const auto noisy = count(report::GateOutcome::kNoisy);
  return noisy > 0 ? Noisy(absl::StrCat(noisy, of_all, " undecided")) : absl::OkStatus();
}

std::string Text(const v1::Report& report, const std::vector<report::GateResult>& gates, const OutcomeFlags& flags) {
  std::string text = report::TerminalTable(report);
  if (!flags.quiet) {
    for (const std::string& note : report::Notes(report)) absl::StrAppend(&text, note, "\n");
    absl::StrAppend(&text, report::ConfigTable(report), report::SensitivityTable(report, kWorstNodes));
  }
  if (flags.details) {
    for (const std::string& detail : report::Details(report)) absl::StrAppend(&text, detail, "\n");
  }
  if (flags.explain_fusion) absl::StrAppend(&text, report::ExplainFusion(report));
  if (flags.explain_precision) absl::StrAppend(&text, report::ExplainPrecision(report));
  for (const report::GateResult& gate : gates) absl::StrAppend(&text, gate.line, "\n");
  return text;
}

}  // namespace

std::string SummaryMarkdown(const v1::Report& report, const std::vector<std::string>& warnings,
                            const std::vector<report::GateResult>& gates) {
  std::string text = "### Halftone\n\n";
  for (const std::string& warning : AllWarnings(report, warnings)) {
    absl::StrAppend(&text, "> ⚠️ ", AsMarkdownText(warning), "\n\n");
  }
  absl::StrAppend(&text, report::MarkdownTable(report), "\n");
  if (!gates.empty()) absl::StrAppend(&text, report::GatesMarkdown(gates), "\n");
  for (const std::string& note : report::Notes(report)) absl::StrAppend(&text, "* ", AsMarkdownText(note), "\n");
  return text;
}

void AddDisplayFlags(CLI::App& app, OutcomeFlags* flags) {
  app.option_defaults()->group(kDisplayGroup);
  app.add_flag("--details", flags->details, "also print fused ops, latency percentiles, memory and INT8 saturation");
  app.add_flag("--quiet", flags->quiet, "print no progress and no notes");
  app.add_flag("--json", flags->json, "print exactly report.json on stdout, no table");
  app.add_option("--summary", flags->summary_file, "append a Markdown summary to this file, e.g. $GITHUB_STEP_SUMMARY")
      ->type_name("FILE.md");
}

absl::Status ShowOutcome(const v1::Report& report, const std::vector<std::string>& warnings,
                         const OutcomeFlags& flags) {
  PrintWarnings(AllWarnings(report, warnings));
  const std::vector<report::GateResult> gates = report::CheckGates(report, flags.gates, flags.allow_noisy);
  if (!flags.summary_file.empty()) {
    HALFTONE_RETURN_IF_ERROR(AppendToFile(flags.summary_file, SummaryMarkdown(report, warnings, gates)));
  }
  const auto format = report::ParseExportFormat(flags.printed_export);
  if (flags.json || format.has_value()) {
    HALFTONE_RETURN_IF_ERROR(PrintResult(flags.json ? report::ReportToJson(report) : report::Export(report, *format)));
    for (const report::GateResult& gate : gates) Say(gate.line);
  } else {
    HALFTONE_RETURN_IF_ERROR(PrintResult(Text(report, gates, flags)));
  }
  HALFTONE_RETURN_IF_ERROR(CheckPassed(gates));
  return flags.must_be_valid ? CheckValid(report) : absl::OkStatus();
}

}  // namespace halftone::cli
