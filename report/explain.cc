#include "report/explain.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/int8_evidence.h"
#include "report/names.h"

namespace halftone::report {
namespace {

constexpr int kAligned = 4;  // columns before the reason
using Row = std::array<std::string, kAligned + 1>;

}  // namespace

std::string ExplainText(const v1::Report& report) {
  std::string text;
  for (const v1::Variant& variant : report.variants()) {
    const bool lowered = variant.precision() != v1::ORIGINAL && variant.precision() != v1::FP32;
    if (!lowered || variant.decisions().empty()) continue;
    std::vector<Row> rows;
    std::array<size_t, kAligned> width{};
    for (const v1::NodeDecision& decision : variant.decisions()) {
      rows.push_back({PrecisionName(decision.precision()), Printable(decision.node()), Printable(decision.op()),
                      decision.rule(), Printable(decision.reason())});
      for (int c = 0; c < kAligned; ++c) width[c] = std::max(width[c], rows.back()[c].size());
    }
    absl::StrAppend(&text, "why each node of ", PrecisionName(variant.precision()), " is what it is:\n");
    for (const Row& row : rows) {
      for (int c = 0; c < kAligned; ++c) absl::StrAppendFormat(&text, "  %-*s", static_cast<int>(width[c]), row[c]);
      absl::StrAppend(&text, "  ", row[kAligned], "\n");
    }
    absl::StrAppend(&text, SaturationText(variant));
  }
  return text.empty() ? "no variant was lowered: nothing to explain\n" : text;
}

}  // namespace halftone::report
