// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "report/footnotes.h"
#include "report/names.h"

namespace halftone::report {
namespace {

constexpr char kNothing[] = "-";

constexpr int kColumns = 9;
using Row = std::array<std::string, kColumns>;

// The first column is text, the others are numbers.
const Row kHeader = {"variant", "size",      "median ms",       "samples/s",     "speed-up (95 % interval)",
                     "SQNR dB", "max error", "top-1 agreement", "top-1 accuracy"};

std::string Percent(double share) { return absl::StrFormat("%.2f %%", 100 * share); }

std::string Rate(double per_second) { return absl::StrFormat("%.*f", per_second < 100 ? 1 : 0, per_second); }

bool Measured(const v1::Benchmark& benchmark) { return benchmark.samples() > 0; }

// "[1][2]"
std::string MarksOf(const std::vector<Footnote>& footnotes, v1::Precision precision, Footnote::Cell cell) {
  std::string marks;
  for (size_t i = 0; i < footnotes.size(); ++i) {
    if (footnotes[i].precision == precision && footnotes[i].cell == cell) absl::StrAppend(&marks, "[", i + 1, "]");
  }
  return marks.empty() ? "" : absl::StrCat(" ", marks);
}

std::string SpeedupText(const v1::Benchmark& benchmark) {
  const v1::Speedup& s = benchmark.speedup();
  if (s.median() <= 0) return kNothing;  // too few rounds
  return absl::StrFormat("%.3f (%.3f .. %.3f)", s.median(), s.low(), s.high());
}

Row MakeRow(const v1::Variant& variant, const std::vector<Footnote>& footnotes) {
  Row row;
  row.fill(kNothing);
  const v1::Benchmark& benchmark = variant.benchmark();
  row[0] = absl::StrCat(PrecisionName(variant.precision()),
                        MarksOf(footnotes, variant.precision(), Footnote::Cell::kVariant));
  if (variant.artifact().size_bytes() > 0) row[1] = SizeText(variant.artifact().size_bytes());
  if (Measured(benchmark)) {
    row[2] = MillisecondsText(benchmark.median_ms());
    if (benchmark.samples_per_second() > 0) row[3] = Rate(benchmark.samples_per_second());
    row[4] = absl::StrCat(SpeedupText(benchmark), MarksOf(footnotes, variant.precision(), Footnote::Cell::kSpeedup));
  }
  if (const WorstFidelity worst = Worst(variant); worst.known) {
    row[5] = worst.sqnr_db == kExactSqnr ? "exact" : absl::StrFormat("%.1f", worst.sqnr_db);
    row[6] = absl::StrFormat("%.3g", worst.max_abs_error);
    if (worst.top1_agreement.has_value()) row[7] = Percent(*worst.top1_agreement);
  }
  if (variant.labelled_samples() > 0) row[8] = Percent(variant.top1_accuracy());
  return row;
}

std::vector<Row> Rows(const v1::Report& report, const std::vector<Footnote>& footnotes) {
  std::vector<Row> rows = {kHeader};
  for (const v1::Variant& variant : report.variants()) rows.push_back(MakeRow(variant, footnotes));
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

double WorseOf(double a, double b, bool low_is_worse) {
  if (std::isnan(a) || std::isnan(b)) return NAN;  // nothing is worse than an output that is not a number
  return low_is_worse ? std::min(a, b) : std::max(a, b);
}

}  // namespace

std::string SizeText(int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  if (bytes < 1000 * 1000) return absl::StrFormat("%.1f kB", size / 1e3);
  if (bytes < 1000 * 1000 * 1000) return absl::StrFormat("%.2f MB", size / 1e6);
  return absl::StrFormat("%.3f GB", size / 1e9);
}

std::string MillisecondsText(double ms) {
  if (ms < 1) return absl::StrFormat("%.4f", ms);
  if (ms < 100) return absl::StrFormat("%.3f", ms);
  return absl::StrFormat("%.1f", ms);
}

WorstFidelity Worst(const v1::Variant& variant) {
  WorstFidelity worst;
  for (const v1::Fidelity& f : variant.fidelity()) {
    if (f.has_top1_agreement()) {
      worst.top1_agreement =
          WorseOf(worst.top1_agreement.value_or(f.top1_agreement()), f.top1_agreement(), /*low_is_worse=*/true);
    }
    if (!worst.known) {
      worst.known = true;
      worst.sqnr_db = f.sqnr_db();
      worst.max_abs_error = f.max_abs_error();
      continue;
    }
    worst.sqnr_db = WorseOf(worst.sqnr_db, f.sqnr_db(), /*low_is_worse=*/true);
    worst.max_abs_error = WorseOf(worst.max_abs_error, f.max_abs_error(), /*low_is_worse=*/false);
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
  const std::vector<Footnote> footnotes = Footnotes(report);
  const std::vector<Row> rows = Rows(report, footnotes);
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
  for (size_t i = 0; i < footnotes.size(); ++i) absl::StrAppend(&text, "[", i + 1, "] ", footnotes[i].text, "\n");
  return text;
}

std::string MarkdownTable(const v1::Report& report) {
  const std::vector<Footnote> footnotes = Footnotes(report);
  std::string text = absl::StrCat("**", MarkdownCell(Heading(report)), "**\n\n");
  bool header = true;
  for (const Row& row : Rows(report, footnotes)) {
    for (const std::string& cell : row) absl::StrAppend(&text, "| ", MarkdownCell(cell), " ");
    absl::StrAppend(&text, "|\n");
    if (header) absl::StrAppend(&text, "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    header = false;
  }
  for (size_t i = 0; i < footnotes.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : "", "\\[", i + 1, "] ", MarkdownCell(footnotes[i].text), "  \n");
  }
  return text;
}

}  // namespace halftone::report
