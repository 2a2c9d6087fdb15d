// SPDX-License-Identifier: Apache-2.0
#include "report/notes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/calibration.h"
#include "report/int8_evidence.h"
#include "report/names.h"
#include "report/table.h"

namespace halftone::report {
namespace {

constexpr int kNotedKinds = 8;

// "12 x fuse-activation, 10 x fold-batch-norm-into-conv"
std::string FusionsText(const v1::Variant& variant) {
  std::string text;
  for (int i = 0; i < std::min(variant.fusions_size(), kNotedKinds); ++i) {
    const v1::Fusion& fusion = variant.fusions(i);
    absl::StrAppend(&text, i == 0 ? "" : ", ", fusion.count(), " x ", Printable(fusion.pass()));
  }
  if (variant.fusions_size() > kNotedKinds) {
    absl::StrAppend(&text, " and ", variant.fusions_size() - kNotedKinds, " more kinds");
  }
  return text;
}

// "casts: 12 planned, 12 in the file, 3 run as steps of their own"
std::string CastsText(const v1::Variant& variant) {
  std::string text =
      absl::StrCat("casts: ", variant.casts_planned(), " planned, ", variant.casts_in_file(), " in the file");
  if (variant.casts_run() >= 0) absl::StrAppend(&text, ", ", variant.casts_run(), " run as steps of their own");
  return text;
}

// "P90 0.2703 ms, P95 n/a, ...; load 3.1 ms, compile 10.5 ms; 40.22 MB resident, 204.9 kB of it activations"
std::string LatencyText(const v1::Benchmark& b, const v1::BenchmarkRun& run) {
  std::string text;
  const std::pair<const char*, double> percentiles[] = {
      {"P90", b.p90_ms()}, {"P95", b.p95_ms()}, {"P99", b.p99_ms()}, {"P99.9", b.p999_ms()}};
  for (const auto& [name, ms] : percentiles) {
    if (run.preset() == v1::BENCHMARK_PRESET_QUICK) break;
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", ms > 0 ? MillisecondsText(ms) + " ms" : "n/a");
  }
  absl::StrAppend(&text, text.empty() ? "" : "; ", "load ", MillisecondsText(b.load_ms()), " ms, compile ",
                  MillisecondsText(b.compile_ms()), " ms; ", SizeText(b.peak_rss_bytes()), " resident, ",
                  SizeText(b.arena_bytes()), " of it activations");
  return text;
}

// "benchmark: quick (indicative), 5 rounds of 1 s, A/A test 0.998 (0.990 .. 1.004)"
std::string BenchmarkNote(const v1::BenchmarkRun& run) {
  std::string note = absl::StrCat("benchmark: ", BenchmarkPresetName(run.preset()),
                                  run.preset() == v1::BENCHMARK_PRESET_QUICK ? " (indicative)" : "", ", ", run.rounds(),
                                  run.rounds() == 1 ? " round" : " rounds", " of ", run.round_seconds(), " s");
  if (run.instances() > 1) absl::StrAppend(&note, ", ", run.instances(), " instances side by side");
  if (run.cold_cache()) absl::StrAppend(&note, ", cold cache");
  if (const v1::Speedup& check = run.self_check().speedup(); check.median() > 0) {
    absl::StrAppendFormat(&note, ", A/A test (fp32 against itself) %.3f (%.3f .. %.3f)", check.median(), check.low(),
                          check.high());
  }
  return note;
}

// "converted 35 of 60 nodes; 98.2 % of the MACs in int8"
std::string SummaryNote(const v1::Variant& variant) {
  std::vector<std::string> parts;
  if (!variant.summary().empty()) parts.push_back(Printable(variant.summary()));
  if (variant.precision() == v1::PRECISION_INT8 && variant.int8_share() >= 0) {
    parts.push_back(absl::StrFormat("%.1f %% of the MACs in int8", 100 * variant.int8_share()));
  }
  return absl::StrJoin(parts, "; ");
}

std::string GoalNote(const v1::GoalResult& goal) {
  if (goal.text().empty()) return "";
  return absl::StrCat("accuracy goal ", goal.met() ? "reached" : "MISSED", ": ", Printable(goal.text()),
                      goal.configs_size() > 1 ? absl::StrCat("; configuration ", Printable(goal.config())) : "",
                      goal.fallback_nodes() > 0 ? absl::StrCat("; ", goal.fallback_nodes(), " fallback nodes") : "");
}

// Of one variant, each without the variant's name.
std::vector<std::string> DetailsOf(const v1::Variant& variant, const v1::Report& report) {
  std::vector<std::string> details;
  if (std::string saturation = SaturationNote(variant, report.environment()); !saturation.empty()) {
    details.push_back(std::move(saturation));
  }
  if (variant.casts_planned() > 0 || variant.casts_in_file() > 0) details.push_back(CastsText(variant));
  if (variant.fusions_size() > 0) details.push_back(absl::StrCat("fused: ", FusionsText(variant)));
  if (variant.passes_verified() > 0) {
    details.push_back(absl::StrCat("outputs before and after ", variant.passes_verified(), " runs of passes agree"));
  }
  const v1::Benchmark& benchmark = variant.benchmark();
  if (benchmark.peak_rss_bytes() > 0) details.push_back(LatencyText(benchmark, report.benchmark_run()));
  if (benchmark.speedup().verdict() != v1::VERDICT_UNSPECIFIED && variant.precision() != v1::PRECISION_FP32) {
    details.push_back(absl::StrCat("speed against fp32: ", VerdictName(benchmark.speedup().verdict())));
  }
  return details;
}

}  // namespace

std::vector<std::string> Notes(const v1::Report& report) {
  std::vector<std::string> notes;
  for (const v1::Variant& variant : report.variants()) {
    for (const std::string& note : {SummaryNote(variant), GoalNote(variant.goal())}) {
      if (!note.empty()) notes.push_back(absl::StrCat(PrecisionName(variant.precision()), ": ", note));
    }
  }
  if (std::string note = CalibrationNote(report.calibration()); !note.empty()) notes.push_back(std::move(note));
  if (report.dialect() > v1::DIALECT_PORTABLE) {
    notes.push_back(absl::StrCat("dialect: ", DialectName(report.dialect())));
  }
  if (report.benchmark_run().rounds() > 0) notes.push_back(BenchmarkNote(report.benchmark_run()));
  return notes;
}

std::vector<std::string> Details(const v1::Report& report) {
  std::vector<std::string> details;
  for (const v1::Variant& variant : report.variants()) {
    for (const std::string& detail : DetailsOf(variant, report)) {
      details.push_back(absl::StrCat(PrecisionName(variant.precision()), ": ", detail));
    }
  }
  for (std::string& detail : CalibrationDetails(report.calibration())) details.push_back(std::move(detail));
  return details;
}

}  // namespace halftone::report
