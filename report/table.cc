#include "report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "report/calibration.h"
#include "report/int8_evidence.h"
#include "report/names.h"

namespace halftone::report {
namespace {

constexpr double kExactSqnr = 999;  // the contract's value for answers that are equal to the last bit
constexpr char kNothing[] = "-";

constexpr int kColumns = 8;
using Row = std::array<std::string, kColumns>;

// The first column holds words, the others numbers.
const Row kHeader = {"variant", "size",      "median ms",       "speed-up (95 % interval)",
                     "SQNR dB", "max error", "top-1 agreement", "top-1 accuracy"};

std::string Size(int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  if (bytes < 1000 * 1000) return absl::StrFormat("%.1f kB", size / 1e3);
  if (bytes < 1000 * 1000 * 1000) return absl::StrFormat("%.2f MB", size / 1e6);
  return absl::StrFormat("%.3f GB", size / 1e9);
}

std::string Milliseconds(double ms) {
  if (ms < 1) return absl::StrFormat("%.4f", ms);
  if (ms < 100) return absl::StrFormat("%.3f", ms);
  return absl::StrFormat("%.1f", ms);
}

std::string Percent(double share) { return absl::StrFormat("%.2f %%", 100 * share); }

bool Measured(const v1::Benchmark& benchmark) { return benchmark.samples() > 0; }

std::string SpeedupText(const v1::Benchmark& benchmark) {
  const v1::Speedup& s = benchmark.speedup();
  const bool known = s.median() > 0;  // too few rounds give no speed-up
  std::string text = known ? absl::StrFormat("%.3f (%.3f .. %.3f)", s.median(), s.low(), s.high()) : kNothing;
  if (!benchmark.valid()) absl::StrAppend(&text, " INVALID");
  return text;
}

Row MakeRow(const v1::Variant& variant) {
  Row row;
  row.fill(kNothing);
  row[0] = PrecisionName(variant.precision());
  if (variant.emulated()) row[0] += " (emulated)";
  if (variant.artifact().size_bytes() > 0) row[1] = Size(variant.artifact().size_bytes());
  if (Measured(variant.benchmark())) {
    row[2] = Milliseconds(variant.benchmark().median_ms());
    row[3] = SpeedupText(variant.benchmark());
  }
  if (const WorstFidelity worst = Worst(variant); worst.known) {
    row[4] = worst.sqnr_db == kExactSqnr ? "exact" : absl::StrFormat("%.1f", worst.sqnr_db);
    row[5] = absl::StrFormat("%.3g", worst.max_abs_error);
    row[6] = Percent(worst.top1_agreement);
  }
  if (variant.labelled_samples() > 0) row[7] = Percent(variant.top1_accuracy());
  return row;
}

std::vector<Row> Rows(const v1::Report& report) {
  std::vector<Row> rows = {kHeader};
  for (const v1::Variant& variant : report.variants()) rows.push_back(MakeRow(variant));
  return rows;
}

std::string Heading(const v1::Report& report) {
  const v1::Environment& env = report.environment();
  std::string text = Printable(report.model());
  if (!env.cpu().empty()) absl::StrAppend(&text, "  on ", Printable(env.cpu()));
  if (!env.isa().empty()) absl::StrAppend(&text, ", ", Printable(env.isa()));
  if (env.threads() > 0) absl::StrAppend(&text, ", ", env.threads(), env.threads() == 1 ? " thread" : " threads");
  for (const v1::Variant& variant : report.variants()) {
    if (variant.benchmark().batch() > 0) return absl::StrCat(text, ", batch ", variant.benchmark().batch());
  }
  return text;
}

// A cell is one line and cannot end its column or start markup.
std::string MarkdownCell(absl::string_view text) {
  return absl::StrReplaceAll(Printable(text), {{"\\", "\\\\"},
                                               {"|", "\\|"},
                                               {"`", "\\`"},
                                               {"*", "\\*"},
                                               {"_", "\\_"},
                                               {"[", "\\["},
                                               {"<", "&lt;"},
                                               {"&", "&amp;"}});
}

// "12 x fuse-activation, 10 x fold-batch-norm-into-conv"
std::string FusionsText(const v1::Variant& variant) {
  constexpr int kFew = 8;
  std::string text;
  for (int i = 0; i < std::min(variant.fusions_size(), kFew); ++i) {
    const v1::Fusion& fusion = variant.fusions(i);
    absl::StrAppend(&text, i == 0 ? "" : ", ", fusion.count(), " x ", Printable(fusion.pass()));
  }
  if (variant.fusions_size() > kFew) absl::StrAppend(&text, " and ", variant.fusions_size() - kFew, " kinds more");
  return text;
}

// "casts: 12 planned, 12 in the file, 3 when it runs"
std::string CastsText(const v1::Variant& variant) {
  std::string text =
      absl::StrCat("casts: ", variant.casts_planned(), " planned, ", variant.casts_in_file(), " in the file");
  if (variant.casts_run() >= 0) absl::StrAppend(&text, ", ", variant.casts_run(), " steps of their own when it runs");
  return text;
}

// Why this variant is invalid, but for what is said of all.
std::vector<std::string> OwnReasons(const v1::Variant& variant, const v1::BenchmarkRun& run) {
  std::vector<std::string> reasons;
  if (!Measured(variant.benchmark()) || variant.benchmark().valid()) return reasons;
  for (const std::string& reason : variant.benchmark().invalid_reasons()) {
    const auto& shared = run.invalid_reasons();
    if (std::find(shared.begin(), shared.end(), reason) == shared.end()) reasons.push_back(reason);
  }
  return reasons;
}

// "P90 0.2703 ms, P95 n/a, ...; load 3.1 ms, plan 10.5 ms; 40.22 MB resident, 204.9 kB of it for values"
std::string DetailsNote(const v1::Benchmark& b, const v1::BenchmarkRun& run) {
  std::string note;
  const std::pair<const char*, double> percentiles[] = {
      {"P90", b.p90_ms()}, {"P95", b.p95_ms()}, {"P99", b.p99_ms()}, {"P99.9", b.p999_ms()}};
  for (const auto& [name, ms] : percentiles) {
    if (run.profile() == v1::QUICK) break;
    absl::StrAppend(&note, note.empty() ? "" : ", ", name, " ", ms > 0 ? Milliseconds(ms) + " ms" : "n/a");
  }
  absl::StrAppend(&note, note.empty() ? "" : "; ", "load ", Milliseconds(b.load_ms()), " ms, plan ",
                  Milliseconds(b.plan_ms()), " ms; ", Size(b.peak_rss_bytes()), " resident, ", Size(b.arena_bytes()),
                  " of it for values");
  return note;
}

std::string VerdictSentence(v1::Verdict verdict) {
  switch (verdict) {
    case v1::FASTER:
      return "faster than fp32";
    case v1::SLOWER:
      return "slower than fp32";
    case v1::SAME:
      return "as fast as fp32, within 2 %";
    default:
      return "the interval is too wide to say whether it is faster than fp32";
  }
}

// "benchmark: quick (indicative), 5 rounds of 1 s, ...: VALID"
std::string BenchmarkNote(const v1::BenchmarkRun& run) {
  std::string note = absl::StrCat("benchmark: ", BenchmarkProfileName(run.profile()),
                                  run.profile() == v1::QUICK ? " (indicative)" : "", ", ", run.rounds(),
                                  run.rounds() == 1 ? " round" : " rounds", " of ", run.round_seconds(), " s");
  if (run.instances() > 1) absl::StrAppend(&note, ", ", run.instances(), " instances side by side");
  if (run.cold_weights()) absl::StrAppend(&note, ", cold");
  if (run.self_check().speedup().median() > 0) {
    const v1::Speedup& check = run.self_check().speedup();
    absl::StrAppendFormat(&note, ", fp32 against itself %.3f (%.3f .. %.3f)", check.median(), check.low(),
                          check.high());
  }
  absl::StrAppend(&note, run.valid() ? ": VALID" : ": INVALID");
  if (!run.invalid_reasons().empty()) {
    absl::StrAppend(&note, ": ", Printable(absl::StrJoin(run.invalid_reasons(), "; ")));
  }
  return note;
}

double WorseOf(double a, double b, bool low_is_worse) {
  if (std::isnan(a) || std::isnan(b)) return NAN;  // nothing is worse than an answer that is not a number
  return low_is_worse ? std::min(a, b) : std::max(a, b);
}

}  // namespace

WorstFidelity Worst(const v1::Variant& variant) {
  WorstFidelity worst;
  for (const v1::Fidelity& f : variant.fidelity()) {
    if (!worst.known) {
      worst = {true, f.sqnr_db(), f.max_abs_error(), f.top1_agreement()};
      continue;
    }
    worst.sqnr_db = WorseOf(worst.sqnr_db, f.sqnr_db(), /*low_is_worse=*/true);
    worst.max_abs_error = WorseOf(worst.max_abs_error, f.max_abs_error(), /*low_is_worse=*/false);
    worst.top1_agreement = WorseOf(worst.top1_agreement, f.top1_agreement(), /*low_is_worse=*/true);
  }
  return worst;
}

const v1::Variant* FindVariant(const v1::Report& report, v1::Precision precision) {
  for (const v1::Variant& variant : report.variants()) {
    if (variant.precision() == precision) return &variant;
  }
  return nullptr;
}

std::string TerminalTable(const v1::Report& report) {
  const std::vector<Row> rows = Rows(report);
  std::array<size_t, kColumns> width{};
  for (const Row& row : rows) {
    for (int c = 0; c < kColumns; ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text = absl::StrCat(Heading(report), "\n");
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-*s", static_cast<int>(width[0]), row[0]);
    for (int c = 1; c < kColumns; ++c) absl::StrAppendFormat(&text, "  %*s", static_cast<int>(width[c]), row[c]);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string MarkdownTable(const v1::Report& report) {
  std::string text = absl::StrCat("**", MarkdownCell(Heading(report)), "**\n\n");
  bool header = true;
  for (const Row& row : Rows(report)) {
    for (const std::string& cell : row) absl::StrAppend(&text, "| ", MarkdownCell(cell), " ");
    absl::StrAppend(&text, "|\n");
    if (header) absl::StrAppend(&text, "|---|---:|---:|---:|---:|---:|---:|---:|\n");
    header = false;
  }
  return text;
}

std::vector<std::string> Notes(const v1::Report& report) {
  std::vector<std::string> notes;
  for (const v1::Variant& variant : report.variants()) {
    const std::string name = PrecisionName(variant.precision());
    if (!variant.summary().empty()) notes.push_back(absl::StrCat(name, ": ", Printable(variant.summary())));
    if (variant.precision() == v1::INT8 && variant.int8_share() >= 0) {
      notes.push_back(absl::StrCat(name, ": ", Percent(variant.int8_share()), " of the multiply-adds are in int8"));
    }
    if (const std::string saturation = SaturationNote(variant, report.environment()); !saturation.empty()) {
      notes.push_back(absl::StrCat(name, ": ", saturation));
    }
    if (const v1::GoalResult& goal = variant.goal(); !goal.text().empty()) {
      notes.push_back(
          absl::StrCat(name, ": goal ", goal.met() ? "reached" : "MISSED", ": ", Printable(goal.text()),
                       goal.configs_size() > 1 ? absl::StrCat("; config ", Printable(goal.config())) : "",
                       goal.raised() > 0 ? absl::StrCat("; ", goal.raised(), " nodes kept out of int8") : ""));
    }
    if (!variant.not_measured().empty()) notes.push_back(absl::StrCat(name, ": ", Printable(variant.not_measured())));
    if (variant.casts_planned() > 0 || variant.casts_in_file() > 0) {
      notes.push_back(absl::StrCat(name, ": ", CastsText(variant)));
    }
    if (variant.fusions_size() > 0) notes.push_back(absl::StrCat(name, ": ", FusionsText(variant)));
    if (variant.passes_verified() > 0) {
      notes.push_back(absl::StrCat(name, ": answers before and after ", variant.passes_verified(),
                                   " runs of passes that changed something agree"));
    }
    if (variant.emulated()) {
      notes.push_back(absl::StrCat(name, ": emulated: this CPU has no native instructions for it"));
    }
    if (const std::vector<std::string> reasons = OwnReasons(variant, report.benchmark_run()); !reasons.empty()) {
      notes.push_back(absl::StrCat(name, ": benchmark INVALID: ", Printable(absl::StrJoin(reasons, "; "))));
    }
    if (variant.benchmark().peak_rss_bytes() > 0) {
      notes.push_back(absl::StrCat(name, ": ", DetailsNote(variant.benchmark(), report.benchmark_run())));
    }
    if (const v1::Benchmark& b = variant.benchmark(); variant.precision() != v1::FP32 && b.speedup().verdict() != 0) {
      notes.push_back(absl::StrCat(name, ": ", VerdictSentence(b.speedup().verdict())));
    }
    if (report.benchmark_run().instances() > 1 && Measured(variant.benchmark())) {
      notes.push_back(absl::StrFormat("%s: %.1f inferences a second by %d instances together", name,
                                      variant.benchmark().inferences_per_second(), report.benchmark_run().instances()));
    }
    if (variant.opaque_ops_size() > 0) {
      notes.push_back(absl::StrCat(name, ": left as they are, and the model cannot be run: ",
                                   Printable(absl::StrJoin(variant.opaque_ops(), ", "))));
    }
    if (variant.reference_nodes_size() > 0) {
      notes.push_back(absl::StrFormat("%s: reference functions take %.1f %% of the time: %s", name,
                                      100 * variant.reference_share(), Printable(FirstFew(variant.reference_nodes()))));
    }
  }
  for (std::string& note : CalibrationNotes(report.calibration())) notes.push_back(std::move(note));
  if (report.dialect() > v1::PORTABLE) {
    notes.push_back(absl::StrCat("dialect: ", DialectName(report.dialect())));
  }
  if (report.benchmark_run().rounds() > 0) notes.push_back(BenchmarkNote(report.benchmark_run()));
  return notes;
}

}  // namespace halftone::report
