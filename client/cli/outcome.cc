#include "client/cli/outcome.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"
#include "report/explain.h"
#include "report/export.h"
#include "report/int8_evidence.h"
#include "report/json.h"
#include "report/names.h"
#include "report/table.h"
#include "report/why.h"

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

absl::Status CheckValid(const v1::Report& report) {
  const v1::BenchmarkRun& run = report.benchmark_run();
  if (run.rounds() == 0 || run.valid()) return absl::OkStatus();
  return client::WithReason(absl::FailedPreconditionError(
                                "the benchmark is INVALID; quieten the machine, or take it as it is by --allow-noisy"),
                            kReasonBenchmarkInvalid);
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

absl::Status ShowOutcome(const v1::Report& report, const std::vector<std::string>& warnings,
                         const OutcomeFlags& flags) {
  PrintWarnings(AllWarnings(report, warnings));
  const std::vector<report::GateResult> gates = report::CheckGates(report, flags.gates);
  if (!flags.summary_file.empty()) {
    HALFTONE_RETURN_IF_ERROR(AppendToFile(flags.summary_file, SummaryMarkdown(report, warnings, gates)));
  }
  if (flags.json) {
    HALFTONE_RETURN_IF_ERROR(PrintResult(report::ReportToJson(report)));
    for (const report::GateResult& gate : gates) Say(gate.line);
  } else if (const auto format = report::ParseExportFormat(flags.printed_export); format.has_value()) {
    HALFTONE_RETURN_IF_ERROR(PrintResult(report::Export(report, *format)));
    for (const report::GateResult& gate : gates) Say(gate.line);
  } else {
    std::string text = report::TerminalTable(report);
    if (!flags.quiet) {
      for (const std::string& note : report::Notes(report)) absl::StrAppend(&text, note, "\n");
      absl::StrAppend(&text, report::ConfigTable(report), report::SensitivityTable(report, kWorstNodes));
    }
    if (flags.why) absl::StrAppend(&text, report::WhyText(report));
    if (flags.explain) absl::StrAppend(&text, report::ExplainText(report));
    for (const report::GateResult& gate : gates) absl::StrAppend(&text, gate.line, "\n");
    HALFTONE_RETURN_IF_ERROR(PrintResult(text));
  }
  if (report::AllPassed(gates)) return flags.must_be_valid ? CheckValid(report) : absl::OkStatus();
  const auto failed = std::count_if(gates.begin(), gates.end(), [](const report::GateResult& g) { return !g.passed; });
  return client::WithReason(absl::FailedPreconditionError(absl::StrCat(
                                failed, " of ", gates.size(), gates.size() == 1 ? " gate" : " gates", " failed")),
                            kReasonGateFailed);
}

}  // namespace halftone::cli
