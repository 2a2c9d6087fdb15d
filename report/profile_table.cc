// SPDX-License-Identifier: Apache-2.0
// A Profile for a terminal.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/calibration.h"
#include "report/names.h"
#include "report/profile.h"

namespace halftone::report {
namespace {

constexpr size_t kWidestName = 44;

struct Column {
  std::string title;
  bool number = true;
  std::vector<std::string> cells;
};

// The end of a name says more than its beginning.
std::string Shortened(const std::string& name) {
  const std::string text = Printable(name);
  return text.size() <= kWidestName ? text : absl::StrCat("..", text.substr(text.size() - kWidestName + 2));
}

std::string Types(const v1::ProfiledStep& step) {
  std::string types = step.src_type();
  if (!step.weights_type().empty() && step.weights_type() != step.src_type())
    absl::StrAppend(&types, "*", step.weights_type());
  if (!step.dst_type().empty() && step.dst_type() != step.src_type()) absl::StrAppend(&types, ">", step.dst_type());
  return types;
}

std::string Aligned(const std::vector<Column>& columns) {
  std::vector<std::string> lines(columns.empty() ? 0 : columns[0].cells.size() + 1);
  for (const Column& column : columns) {
    size_t width = column.title.size();
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string& cell = i == 0 ? column.title : column.cells[i - 1];
      const std::string blanks(width - cell.size(), ' ');
      absl::StrAppend(&lines[i], lines[i].empty() ? "" : "  ", column.number ? blanks : "", cell,
                      column.number ? "" : blanks);
    }
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Steps(const v1::ProfiledVariant& variant, int top) {
  std::vector<Column> columns = {{"saving us"},    {"median us"},     {"isolated us"}, {"cold us"}, {"share"},
                                 {"GFLOP/s"},      {"peak"},          {"GB/s"},        {"step"},    {"op", false},
                                 {"types", false}, {"kernel", false}, {"name", false}};
  const int count = top > 0 ? std::min(top, variant.steps_size()) : variant.steps_size();
  for (int i = 0; i < count; ++i) {
    const v1::ProfiledStep& step = variant.steps(i);
    const std::string cells[] = {
        absl::StrFormat("%.1f", step.saving_us()),
        absl::StrFormat("%.1f", step.median_us()),
        step.isolated_us() > 0 ? absl::StrFormat("%.1f", step.isolated_us()) : "-",
        step.cold_cache_us() > 0 ? absl::StrFormat("%.1f", step.cold_cache_us()) : "-",
        absl::StrFormat("%.1f %%", 100 * step.share()),
        step.gflops() > 0 ? absl::StrFormat("%.1f", step.gflops()) : "-",
        step.peak_share() > 0 ? absl::StrFormat("%.0f %%", 100 * step.peak_share()) : "-",
        step.gbps() > 0 ? absl::StrFormat("%.1f", step.gbps()) : "-",
        absl::StrCat(step.index()),
        step.op(),
        Types(step),
        step.kernel(),
        Shortened(step.name()),
    };
    for (size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  return Aligned(columns);
}

// Time by op.
std::string ByOp(const v1::ProfiledVariant& variant) {
  struct Sum {
    std::string op;
    int count = 0;
    double median = 0, isolated = 0, cold = 0;
  };
  std::vector<Sum> sums;
  for (const v1::ProfiledStep& step : variant.steps()) {
    auto it = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) { return sum.op == step.op(); });
    if (it == sums.end()) it = sums.insert(sums.end(), Sum{step.op()});
    ++it->count;
    it->median += step.median_us();
    it->isolated += step.isolated_us();
    it->cold += step.cold_cache_us();
  }
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.median > b.median; });
  std::vector<Column> columns = {{"steps"}, {"sum us"}, {"isolated us"}, {"cold us"}, {"share"}, {"op", false}};
  for (const Sum& sum : sums) {
    columns[0].cells.push_back(absl::StrCat(sum.count));
    columns[1].cells.push_back(absl::StrFormat("%.1f", sum.median));
    columns[2].cells.push_back(sum.isolated > 0 ? absl::StrFormat("%.1f", sum.isolated) : "-");
    columns[3].cells.push_back(sum.cold > 0 ? absl::StrFormat("%.1f", sum.cold) : "-");
    columns[4].cells.push_back(
        absl::StrFormat("%.1f %%", variant.whole_us() > 0 ? 100 * sum.median / variant.whole_us() : 0));
    columns[5].cells.push_back(sum.op);
  }
  return Aligned(columns);
}

std::string Facts(const v1::Profile& profile, const v1::ProfiledVariant& variant) {
  constexpr double kMega = 1e-6;
  std::string text;
  for (const v1::ProfileCheck& check : variant.checks())
    absl::StrAppend(&text, check.ok() ? "ok    " : "FAIL  ", check.text(), "\n");
  absl::StrAppendFormat(&text, "      weights: %.2f MB in the file, %.2f MB prepacked, %.2f MB kept unpacked\n",
                        variant.weight_bytes() * kMega, variant.packed_bytes() * kMega,
                        variant.constant_bytes() * kMega);
  absl::StrAppendFormat(&text, "      setup: load %.0f ms, optimize %.0f ms, compile %.0f ms\n", variant.load_ms(),
                        variant.optimize_ms(), variant.compile_ms());
  for (const v1::PeakSpeed& peak : variant.peaks())
    absl::StrAppendFormat(&text, "      measured peak: %s %.1f GFLOP/s\n", peak.type(), peak.gflops());
  if (variant.precision() == v1::PRECISION_INT8) {
    if (const std::string note = CalibrationNote(profile.calibration()); !note.empty()) {
      absl::StrAppend(&text, "      ", note, "\n");
    }
    for (const std::string& detail : CalibrationDetails(profile.calibration())) {
      absl::StrAppend(&text, "      ", detail, "\n");
    }
  }
  return text;
}

}  // namespace

std::string ProfileTable(const v1::Profile& profile, int top) {
  std::string text;
  for (const v1::ProfiledVariant& variant : profile.variants()) {
    if (!text.empty()) absl::StrAppend(&text, "\n");
    absl::StrAppendFormat(&text,
                          "%s %s, batch %d, %d thread%s: %.3f ms (best %.3f ms, %d runs), sum of isolated steps %.3f "
                          "ms, with a cold cache %.3f ms\n",
                          Printable(profile.model()), PrecisionName(variant.precision()), variant.batch(),
                          profile.threads(), profile.threads() == 1 ? "" : "s", variant.whole_us() * 1e-3,
                          variant.whole_min_us() * 1e-3, variant.runs(), variant.isolated_us() * 1e-3,
                          variant.cold_cache_us() * 1e-3);
    absl::StrAppend(&text, Steps(variant, top));
    if (top > 0 && variant.steps_size() > top)
      absl::StrAppend(&text, "and ", variant.steps_size() - top, " more steps\n");
    absl::StrAppend(&text, "\n", ByOp(variant), "\n", Facts(profile, variant), variant.loss(), "\n");
  }
  return text;
}

}  // namespace halftone::report
