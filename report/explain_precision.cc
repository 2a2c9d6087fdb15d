// SPDX-License-Identifier: Apache-2.0
#include "report/explain_precision.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/int8_evidence.h"
#include "report/names.h"

namespace halftone::report {
namespace {

using Row = std::vector<std::string>;

std::string ResultRange(const v1::NodeDecision& decision) {
  if (!decision.has_result_min() || !decision.has_result_max()) return "-";
  return absl::StrFormat("[%.4g, %.4g]", decision.result_min(), decision.result_max());
}

// The reason is last.
Row RowOf(const v1::NodeDecision& decision, bool with_numbers) {
  Row row = {PrecisionName(decision.precision()), Printable(decision.node()), Printable(decision.op())};
  if (with_numbers) {
    row.push_back(ResultRange(decision));
    row.push_back(decision.has_sqnr_alone_db() ? Decibels(decision.sqnr_alone_db()) : "-");
  }
  row.push_back(decision.rule());
  row.push_back(Printable(decision.reason()));
  return row;
}

Row HeaderRow(bool with_numbers) {
  Row row = {"precision", "node", "op"};
  if (with_numbers) row.insert(row.end(), {"range", "SQNR if only this is int8"});
  row.insert(row.end(), {"rule", "reason"});
  return row;
}

// Columns but for the last are as wide as their widest cell.
std::string Aligned(const std::vector<Row>& rows) {
  std::vector<size_t> width(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (size_t c = 0; c + 1 < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      absl::StrAppendFormat(&text, "  %-*s", static_cast<int>(width[c]), row[c]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string ExplainPrecision(const v1::Report& report) {
  std::string text;
  for (const v1::Variant& variant : report.variants()) {
    const bool converted = variant.precision() != v1::PRECISION_ORIGINAL && variant.precision() != v1::PRECISION_FP32;
    if (!converted || variant.decisions().empty()) continue;
    const bool is_int8 = variant.precision() == v1::PRECISION_INT8;
    std::vector<Row> rows = {HeaderRow(is_int8)};
    for (const v1::NodeDecision& decision : variant.decisions()) rows.push_back(RowOf(decision, is_int8));
    absl::StrAppend(&text, "precision of each node of ", PrecisionName(variant.precision()), ":\n", Aligned(rows));
    absl::StrAppend(&text, SaturationTable(variant));
  }
  return text.empty() ? "no variant was converted: nothing to explain\n" : text;
}

}  // namespace halftone::report
