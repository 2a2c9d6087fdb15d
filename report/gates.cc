// SPDX-License-Identifier: Apache-2.0
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
#include "runtime/measure/statistics.h"

namespace halftone::report {
namespace {

// Accuracies are quotients of small counts: 0.79 - 0.78 must not miss a limit of 0.01 by the last bit.
constexpr double kRounding = 1e-9;
constexpr double kMaxTop1Drop = 0.5;

struct Finding {
  GateOutcome outcome;
  std::string why;
};

Finding Failed(std::string why) { return {GateOutcome::kFailed, std::move(why)}; }

GateOutcome PassedIf(bool passed) { return passed ? GateOutcome::kPassed : GateOutcome::kFailed; }

// Empty: can be used as a measurement, though perhaps a noisy one.
std::string WhyUnusable(const v1::Variant& variant) {
  const v1::Benchmark& benchmark = variant.benchmark();
  const std::string name = PrecisionName(variant.precision());
  if (benchmark.samples() == 0) return absl::StrCat("nothing was measured for ", name);
  if (benchmark.invalid_reasons().empty()) return "";
  return absl::StrCat("the benchmark of ", name,
                      " is INVALID: ", Printable(absl::StrJoin(benchmark.invalid_reasons(), "; ")));
}

// What disturbed the two of which a speed-up is the ratio.
std::vector<std::string> NoiseOf(const v1::Variant& variant, const v1::Variant& baseline) {
  std::vector<std::string> noise;
  for (const v1::Variant* one : {&variant, &baseline}) {
    for (const std::string& reason : one->benchmark().noise()) {
      if (std::find(noise.begin(), noise.end(), reason) == noise.end()) noise.push_back(reason);
    }
  }
  return noise;
}

Finding CheckSpeedup(const v1::Report& report, const v1::Variant& variant, double limit, bool allow_noisy) {
  const v1::Variant* baseline = FindVariant(report, v1::PRECISION_FP32);
  if (baseline == nullptr) return Failed("the report has no fp32 variant to compare with");
  for (const v1::Variant* one : {&variant, baseline}) {
    if (std::string why = WhyUnusable(*one); !why.empty()) return Failed(std::move(why));
  }
  const v1::Speedup& s = variant.benchmark().speedup();
  const std::string interval =
      absl::StrFormat("(median %.4g, 95 %% interval %.4g .. %.4g)", s.median(), s.low(), s.high());
  const std::vector<std::string> noise = NoiseOf(variant, *baseline);
  const bool noisy = !noise.empty() && !allow_noisy;
  const v1::Speedup& self_check = report.benchmark_run().self_check().speedup();
  const double factor = noisy && self_check.low() > 0 ? NoiseFactor({self_check.low(), self_check.high()}) : 1;
  const std::string text =
      absl::StrFormat("lower bound %.4g %s %.4g %s", s.low(), s.low() >= limit ? ">=" : "<", limit, interval);
  if (!noisy) return {PassedIf(s.low() >= limit), text};
  const std::string why = absl::StrCat("noisy: ", Printable(absl::StrJoin(noise, "; ")));
  if (s.low() / factor >= limit) return {GateOutcome::kPassed, absl::StrCat(text, "; ", why)};
  if (s.high() * factor < limit) return {GateOutcome::kFailed, absl::StrCat(text, "; ", why)};
  return {GateOutcome::kNoisy, absl::StrFormat("%.4g is not decided by %s; %s", limit, interval, why)};
}

Finding CheckAtLeast(double measured, double limit, absl::string_view what, absl::string_view unit) {
  const bool passed = measured >= limit;  // false for NaN
  return {PassedIf(passed), absl::StrFormat("%s %.5g%s %s %.5g", what, measured, unit, passed ? ">=" : "<", limit)};
}

Finding CheckTop1Agreement(const WorstFidelity& worst, double limit) {
  if (worst.top1_agreement.has_value()) return CheckAtLeast(*worst.top1_agreement, limit, "worst output", "");
  if (worst.sqnr_db == kExactSqnr) return {GateOutcome::kPassed, "every output is bit-identical"};
  return Failed("top-1 does not apply: outputs have one element per row; use --min-sqnr");
}

Finding CheckDrop(const v1::Report& report, const v1::Variant& variant, double limit) {
  const v1::Variant* baseline = FindVariant(report, v1::PRECISION_FP32);
  if (baseline == nullptr) return Failed("the report has no fp32 variant to compare with");
  if (variant.labelled_samples() == 0 || baseline->labelled_samples() == 0) {
    return Failed("there are no labels: give --eval samples with an array \"labels\"");
  }
  const double drop = baseline->top1_accuracy() - variant.top1_accuracy();
  const bool passed = drop <= limit + kRounding;
  return {PassedIf(passed),
          absl::StrFormat("drop %.5g %s %.5g (fp32 %.5g, %s %.5g, %d samples)", drop, passed ? "<=" : ">", limit,
                          baseline->top1_accuracy(), PrecisionName(variant.precision()), variant.top1_accuracy(),
                          variant.labelled_samples())};
}

Finding Check(const v1::Report& report, const Gate& gate, bool allow_noisy) {
  const v1::Variant* variant = FindVariant(report, gate.precision);
  if (variant == nullptr) {
    return Failed(absl::StrCat("the report has no ", PrecisionName(gate.precision), " variant"));
  }
  if (gate.kind == GateKind::kMinSpeedup) return CheckSpeedup(report, *variant, gate.limit, allow_noisy);
  if (gate.kind == GateKind::kMaxTop1Drop) return CheckDrop(report, *variant, gate.limit);
  if (gate.precision == v1::PRECISION_FP32) return {GateOutcome::kPassed, "fp32 is the baseline"};
  const WorstFidelity worst = Worst(*variant);
  if (!worst.known) return Failed("no outputs were compared");
  if (gate.kind == GateKind::kMinTop1Agreement) return CheckTop1Agreement(worst, gate.limit);
  return CheckAtLeast(worst.sqnr_db, gate.limit, "worst output", " dB");
}

// How lines begin, and their mark in Markdown.
struct OutcomeText {
  GateOutcome outcome;
  absl::string_view text;
  absl::string_view mark;
};
constexpr OutcomeText kOutcomeTexts[] = {
    {GateOutcome::kPassed, "PASS", "✅"}, {GateOutcome::kFailed, "FAIL", "❌"}, {GateOutcome::kNoisy, "NOISY", "⚠️"}};

double ExampleOf(GateKind kind) {
  if (kind == GateKind::kMinSpeedup) return 1.2;
  if (kind == GateKind::kMinSqnr) return 30;
  return kind == GateKind::kMaxTop1Drop ? 0.01 : 0.98;
}

const OutcomeText& TextOf(GateOutcome outcome) {
  return *std::find_if(std::begin(kOutcomeTexts), std::end(kOutcomeTexts),
                       [&](const OutcomeText& text) { return text.outcome == outcome; });
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
  if (equals == absl::string_view::npos) {
    const bool has_goal = kind == GateKind::kMaxTop1Drop || kind == GateKind::kMinSqnr;
    return error(absl::StrCat("PRECISION=NUMBER is expected, for example bf16=", ExampleOf(kind),
                              has_goal ? "; an accuracy that int8 has to reach is --accuracy-goal" : ""));
  }
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
  if (kind == GateKind::kMinTop1Agreement && (limit < 0 || limit > 1)) {
    return error("a share from 0 to 1 is expected, for example 0.98");
  }
  if (kind == GateKind::kMaxTop1Drop && (limit < 0 || limit > kMaxTop1Drop)) {
    return error("a share from 0 to 0.5 is expected; one percentage point is 0.01");
  }
  if (kind == GateKind::kMinSpeedup && limit <= 0) return error("a factor above 0 is expected, for example 1.2");
  return Gate{kind, *precision, limit};
}

std::vector<GateResult> CheckGates(const v1::Report& report, std::span<const Gate> gates, bool allow_noisy) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    const Finding finding = Check(report, gate, allow_noisy);
    results.push_back({gate, finding.outcome,
                       absl::StrCat(TextOf(finding.outcome).text, " ", GateName(gate.kind), " ",
                                    PrecisionName(gate.precision), ": ", finding.why)});
  }
  return results;
}

std::string GatesMarkdown(std::span<const GateResult> results) {
  std::string text;
  for (const GateResult& result : results) {
    absl::StrAppend(&text, "- ", TextOf(result.outcome).mark, " ",
                    absl::StrReplaceAll(result.line, {{"&", "&amp;"}, {"<", "&lt;"}, {"*", "\\*"}, {"`", "\\`"}}),
                    "\n");
  }
  return text;
}

}  // namespace halftone::report
