// What optimize, bench and `jobs watch` print about a finished job: warnings, table, gates, notes.
#ifndef HALFTONE_CLIENT_CLI_OUTCOME_H_
#define HALFTONE_CLIENT_CLI_OUTCOME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "halftone/v1/report.pb.h"
#include "report/gates.h"

namespace halftone::cli {

struct OutcomeFlags {
  bool json = false;     // stdout has exactly report.json
  bool quiet = false;    // no notes
  bool why = false;      // and what did not fuse
  bool explain = false;  // and why each node has its precision
  std::string summary_file;
  std::vector<report::Gate> gates;
  bool must_be_valid = false;  // an INVALID benchmark is an error
  std::string printed_export;  // a format of report/export.h: printed instead of the table
};

// GATE_FAILED when a gate has failed, BENCHMARK_INVALID as the flags say. `warnings` are those said while the job ran.
absl::Status ShowOutcome(const v1::Report& report, const std::vector<std::string>& warnings, const OutcomeFlags& flags);

// What the summary file gets, in Markdown.
std::string SummaryMarkdown(const v1::Report& report, const std::vector<std::string>& warnings,
                            const std::vector<report::GateResult>& gates);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_OUTCOME_H_
