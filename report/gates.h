// Gates: limits that a report has to keep, for CI. A gate that cannot be judged (variant missing, benchmark invalid,
// nothing compared) has failed.
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
  kMinSpeedup,        // the low end of the speed-up's interval is at least the limit
  kMinTop1Agreement,  // of the worst output, 0..1
  kMinSqnr,           // dB, of the worst output
  kMaxTop1Drop,       // top-1 accuracy of fp32 minus that of the variant is at most the limit; needs labels
};

struct Gate {
  GateKind kind;
  v1::Precision precision;
  double limit;
};

struct GateResult {
  Gate gate;
  bool passed;
  std::string line;  // "PASS min-speedup bf16: low end 1.31 >= 1.2 (median 1.35, 95 % interval 1.31 .. 1.38)"
};

// "min-speedup", as on the command line.
absl::string_view GateName(GateKind kind);

// "bf16=1.2". INVALID_ARGUMENT says what is wrong with it.
absl::StatusOr<Gate> ParseGate(GateKind kind, absl::string_view text);

// One result a gate, in order.
std::vector<GateResult> CheckGates(const v1::Report& report, std::span<const Gate> gates);

bool AllPassed(std::span<const GateResult> results);

// A Markdown list of the lines, empty without gates.
std::string GatesMarkdown(std::span<const GateResult> results);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_GATES_H_
