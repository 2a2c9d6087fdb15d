// SPDX-License-Identifier: Apache-2.0
// What optimize, bench and `jobs watch` print about a finished job: warnings, table, notes, gates.
#ifndef HALFTONE_CLIENT_CLI_OUTCOME_H_
#define HALFTONE_CLIENT_CLI_OUTCOME_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "halftone/v1/report.pb.h"
#include "report/gates.h"

namespace halftone::cli {

struct OutcomeFlags {
  bool json = false;     // stdout has exactly report.json
  bool quiet = false;    // no notes
  bool details = false;  // also what was fused, percentiles, memory, saturation, ...
  bool explain_fusion = false;
  bool explain_precision = false;
  std::string summary_file;
  std::vector<report::Gate> gates;
  bool allow_noisy = false;    // noise is ignored: no exit code 9
  bool must_be_valid = false;  // an INVALID benchmark is an error
  std::string printed_export;  // a format of report/export.h: printed instead of the table
};

// --details, --json, --quiet and --summary.
void AddDisplayFlags(CLI::App& app, OutcomeFlags* flags);

// GATE_FAILED when a gate has failed; BENCHMARK_INVALID when noise leaves a gate undecided, and as must_be_valid says.
// `warnings` are those of the running job.
absl::Status ShowOutcome(const v1::Report& report, const std::vector<std::string>& warnings, const OutcomeFlags& flags);

// What the summary file gets, in Markdown.
std::string SummaryMarkdown(const v1::Report& report, const std::vector<std::string>& warnings,
                            const std::vector<report::GateResult>& gates);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_OUTCOME_H_
