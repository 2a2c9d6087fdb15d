// SPDX-License-Identifier: Apache-2.0
// Gates: limits that a report has to keep, for CI. A gate that cannot be checked (variant missing, nothing measured or
// compared) has failed. Noise fails no gate: it passes or fails where the confidence interval, widened by the noise of the
// A/A test, is clear of the limit, and is undecided else.
#ifndef HALFTONE_REPORT_GATES_H_
#define HALFTONE_REPORT_GATES_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "halftone/v1/policy.pb.h"
#include "halftone/v1/report.pb.h"

namespace halftone::report {

enum class GateKind {
  kMinSpeedup,        // the lower confidence bound of the speed-up is at least the limit
  kMinTop1Agreement,  // of the worst output, a share
  kMinSqnr,           // dB, of the worst output
  kMaxTop1Drop,       // top-1 accuracy of fp32 minus that of the variant is at most the limit, a share; needs labels
};

struct Gate {
  GateKind kind;
  v1::Precision precision;
  double limit;
};

enum class GateOutcome { kPassed, kFailed, kNoisy };

struct GateResult {
  Gate gate;
  GateOutcome outcome;
  std::string line;  // "PASS min-speedup bf16: lower bound 1.31 >= 1.2 (median 1.35, 95 % interval 1.31 .. 1.38)"
};

// "min-speedup", as on the command line.
absl::string_view GateName(GateKind kind);

// "bf16=1.2". INVALID_ARGUMENT says what is wrong with it.
absl::StatusOr<Gate> ParseGate(GateKind kind, absl::string_view text);

// One result per gate, in order. `allow_noisy`: noise is ignored.
std::vector<GateResult> CheckGates(const v1::Report& report, std::span<const Gate> gates, bool allow_noisy = false);

// A Markdown list of the lines, empty without gates.
std::string GatesMarkdown(std::span<const GateResult> results);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_GATES_H_
