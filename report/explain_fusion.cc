// SPDX-License-Identifier: Apache-2.0
#include "report/explain_fusion.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/names.h"

namespace halftone::report {

std::string ExplainFusion(const v1::Report& report) {
  std::set<std::tuple<std::string, std::string, std::string>> said;
  std::string text;
  for (const v1::Variant& variant : report.variants()) {
    std::vector<const v1::Unfused*> rows;
    size_t pass_width = 0, node_width = 0;
    for (const v1::Unfused& row : variant.unfused()) {
      if (!said.emplace(row.pass(), row.node(), row.reason()).second) continue;
      rows.push_back(&row);
      pass_width = std::max(pass_width, row.pass().size());
      node_width = std::max(node_width, Printable(row.node()).size());
    }
    if (rows.empty()) continue;
    absl::StrAppend(&text, "not applied in ", PrecisionName(variant.precision()), " (rule, node, failed condition):\n");
    for (const v1::Unfused* row : rows) {
      absl::StrAppendFormat(&text, "  %-*s  %-*s  %s\n", static_cast<int>(pass_width), row->pass(),
                            static_cast<int>(node_width), Printable(row->node()), Printable(row->reason()));
    }
  }
  return text.empty() ? "not applied: none, every node with the pattern of a rule was fused\n" : text;
}

}  // namespace halftone::report
