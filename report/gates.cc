#include "report/gates.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "report/names.h"
#include "report/table.h"

namespace halftone::report {
namespace {

// Accuracies are quotients of small counts: 0.79 - 0.78 must not miss a limit of 0.01 by the last bit.
constexpr double kRounding = 1e-9;

struct Verdict {
  bool passed;
  std::string why;
};

Verdict Failed(std::string why) { return {false, std::move(why)}; }

// Empty: can be used as a measurement.
std::string WhyUnusable(const v1::Variant& variant) {
  const v1::Benchmark& benchmark = variant.benchmark();
  const std::string name = PrecisionName(variant.precision());
  if (benchmark.samples() == 0) return absl::StrCat("nothing was measured for ", name);
  if (benchmark.valid()) return "";
  return absl::StrCat("the benchmark of ", name,
                      " is INVALID: ", Printable(absl::StrJoin(benchmark.invalid_reasons(), "; ")));
}

Verdict CheckSpeedup(const v1::Report& report, const v1::Variant& variant, double limit) {
  if (std::string why = WhyUnusable(variant); !why.empty()) return Failed(std::move(why));
  const v1::Variant* baseline = FindVariant(report, v1::FP32);
  if (baseline == nullptr) return Failed("the report has no fp32 variant to compare with");
  if (std::string why = WhyUnusable(*baseline); !why.empty()) return Failed(std::move(why));
  const v1::Speedup& s = variant.benchmark().speedup();
  const bool passed = s.low() >= limit;
  return {passed, absl::StrFormat("low end %.4g %s %.4g (median %.4g, 95 %% interval %.4g .. %.4g)", s.low(),
                                  passed ? ">=" : "<", limit, s.median(), s.low(), s.high())};
}

Verdict CheckAtLeast(double measured, double limit, absl::string_view what, absl::string_view unit) {
  const bool passed = measured >= limit;  // false for NaN
  return {passed, absl::StrFormat("%s %.5g%s %s %.5g", what, measured, unit, passed ? ">=" : "<", limit)};
}

Verdict CheckDrop(const v1::Report& report, const v1::Variant& variant, double limit) {
  const v1::Variant* baseline = FindVariant(report, v1::FP32);
  if (baseline == nullptr) return Failed("the report has no fp32 variant to compare with");
  if (variant.labelled_samples() == 0 || baseline->labelled_samples() == 0) {
    return Failed("there are no labels: give --eval samples with an array \"labels\"");
  }
  const double drop = baseline->top1_accuracy() - variant.top1_accuracy();
  const bool passed = drop <= limit + kRounding;
  return {passed, absl::StrFormat("drop %.5g %s %.5g (fp32 %.5g, %s %.5g, %d samples)", drop, passed ? "<=" : ">",
                                  limit, baseline->top1_accuracy(), PrecisionName(variant.precision()),
                                  variant.top1_accuracy(), variant.labelled_samples())};
}

Verdict Check(const v1::Report& report, const Gate& gate) {
  const v1::Variant* variant = FindVariant(report, gate.precision);
  if (variant == nullptr) {
    return Failed(absl::StrCat("the report has no ", PrecisionName(gate.precision), " variant"));
  }
  const WorstFidelity worst = Worst(*variant);
  const bool is_baseline = gate.precision == v1::FP32;  // equal to itself, and not listed
  switch (gate.kind) {
    case GateKind::kMinSpeedup:
      return CheckSpeedup(report, *variant, gate.limit);
    case GateKind::kMaxTop1Drop:
      return CheckDrop(report, *variant, gate.limit);
    case GateKind::kMinTop1Agreement:
      if (is_baseline) return {true, "fp32 is what the others are compared with"};
      if (!worst.known) return Failed("no answers were compared");
      return CheckAtLeast(worst.top1_agreement, gate.limit, "worst output", "");
    case GateKind::kMinSqnr:
      if (is_baseline) return {true, "fp32 is what the others are compared with"};
      if (!worst.known) return Failed("no answers were compared");
      return CheckAtLeast(worst.sqnr_db, gate.limit, "worst output", " dB");
  }
  return Failed("unknown gate");
}

}  // namespace

absl::string_view GateName(GateKind kind) {
  switch (kind) {
    case GateKind::kMinSpeedup:
      return "min-speedup";
    case GateKind::kMinTop1Agreement:
      return "min-top1-agreement";
    case GateKind::kMinSqnr:
      return "min-sqnr";
    case GateKind::kMaxTop1Drop:
      return "max-top1-drop";
  }
  return "gate";
}

absl::StatusOr<Gate> ParseGate(GateKind kind, absl::string_view text) {
  const auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--", GateName(kind), " ", text, ": ", why));
  };
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) return error("PRECISION=NUMBER is wanted, for example bf16=1.2");
  const std::optional<v1::Precision> precision = ParsePrecision(text.substr(0, equals));
  if (!precision) {
    return error(absl::StrCat("no precision '", text.substr(0, equals), "'; there are ",
                              absl::StrJoin(EnumNames(*v1::Precision_descriptor()), ", ")));
  }
  double limit = 0;
  const absl::string_view number = text.substr(equals + 1);
  if (!absl::SimpleAtod(number, &limit) || !std::isfinite(limit)) {
    return error(absl::StrCat("'", number, "' is not a number"));
  }
  const bool share = kind == GateKind::kMinTop1Agreement || kind == GateKind::kMaxTop1Drop;
  if (share && (limit < 0 || limit > 1)) return error("a share from 0 to 1 is wanted, for example 0.98");
  if (kind == GateKind::kMinSpeedup && limit <= 0) return error("a factor above 0 is wanted, for example 1.2");
  return Gate{kind, *precision, limit};
}

std::vector<GateResult> CheckGates(const v1::Report& report, std::span<const Gate> gates) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    const Verdict verdict = Check(report, gate);
    results.push_back({gate, verdict.passed,
                       absl::StrCat(verdict.passed ? "PASS " : "FAIL ", GateName(gate.kind), " ",
                                    PrecisionName(gate.precision), ": ", verdict.why)});
  }
  return results;
}

bool AllPassed(std::span<const GateResult> results) {
  return std::all_of(results.begin(), results.end(), [](const GateResult& r) { return r.passed; });
}

std::string GatesMarkdown(std::span<const GateResult> results) {
  std::string text;
  for (const GateResult& result : results) {
    absl::StrAppend(&text, "- ", result.passed ? "✅ " : "❌ ",
                    absl::StrReplaceAll(result.line, {{"&", "&amp;"}, {"<", "&lt;"}, {"*", "\\*"}, {"`", "\\`"}}),
                    "\n");
  }
  return text;
}

}  // namespace halftone::report
