// SPDX-License-Identifier: Apache-2.0
#include "report/int8_evidence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "report/names.h"
#include "report/table.h"

namespace halftone::report {
namespace {

// The values of SaturationCheck.saturation, and their text in a count.
struct SaturationText {
  absl::string_view value;
  absl::string_view text;
  bool needs_vnni;  // CPUs without VNNI compute such a node in fp32
};
constexpr SaturationText kSaturations[] = {
    {"safe", "safe", false},
    {"7 bits", "safe with 7-bit weights", false},
    {"16 bits", "without int16 sums", false},
    {"may saturate", "may saturate", true},
    {"s8 activations", "with s8 activations", true},
};

// Worst first; NaN is worst of all.
bool CostsMore(const v1::NodeDecision* a, const v1::NodeDecision* b) {
  const double x = a->sqnr_alone_db(), y = b->sqnr_alone_db();
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && !std::isnan(y);
  return x < y;
}

}  // namespace

std::string Decibels(double sqnr_db) { return sqnr_db == kExactSqnr ? "exact" : absl::StrFormat("%.1f dB", sqnr_db); }

std::string ConfigTable(const v1::Report& report) {
  std::string text;
  for (const v1::Variant& variant : report.variants()) {
    const v1::GoalResult& goal = variant.goal();
    if (goal.configs_size() < 2) continue;
    absl::StrAppend(&text, "quantization configurations tried for the accuracy goal (*: chosen):\n");
    for (const v1::TriedConfig& tried : goal.configs()) {
      absl::StrAppendFormat(&text, "  %s %9s  top-1 drop %7.4f  cosine %.6f  %-6s  %s\n",
                            tried.config() == goal.config() ? "*" : " ", Decibels(tried.sqnr_db()), tried.top1_drop(),
                            tried.cosine(), tried.met() ? "met" : "missed", Printable(tried.config()));
    }
  }
  return text;
}

std::string SaturationNote(const v1::Variant& variant, const v1::Environment& environment) {
  if (variant.saturation().empty()) return "";
  std::string text;
  int in_fp32 = 0;
  for (const SaturationText& row : kSaturations) {
    const auto count = static_cast<int>(
        std::count_if(variant.saturation().begin(), variant.saturation().end(),
                      [&](const v1::SaturationCheck& node) { return node.saturation() == row.value; }));
    if (count == 0) continue;
    absl::StrAppend(&text, text.empty() ? "int16 saturation: " : ", ", count, " ", row.text);
    if (row.needs_vnni) in_fp32 += count;
  }
  absl::StrAppend(&text, environment.native_int8() ? "; on CPUs without VNNI " : "; on this CPU, without VNNI, ");
  return absl::StrCat(text, in_fp32 == 0 ? "all run in int8" : absl::StrCat(in_fp32, " run in fp32"));
}

std::string SaturationTable(const v1::Variant& variant) {
  if (variant.saturation().empty()) return "";
  size_t name_width = 0, node_width = 0;
  for (const v1::SaturationCheck& node : variant.saturation()) {
    name_width = std::max(name_width, node.saturation().size());
    node_width = std::max(node_width, Printable(node.node()).size());
  }
  std::string text = absl::StrCat("int16 sums of two u8 x s8 products in ", PrecisionName(variant.precision()),
                                  "; CPUs without VNNI saturate outside -32768 .. 32767:\n");
  for (const v1::SaturationCheck& node : variant.saturation()) {
    absl::StrAppendFormat(&text, "  %-*s  %-*s  %d .. %d\n", static_cast<int>(name_width), Printable(node.saturation()),
                          static_cast<int>(node_width), Printable(node.node()), node.least(), node.most());
  }
  return text;
}

std::string SensitivityTable(const v1::Report& report, int top) {
  std::vector<const v1::NodeDecision*> nodes;
  for (const v1::Variant& variant : report.variants()) {
    for (const v1::NodeDecision& decision : variant.decisions()) {
      if (decision.has_sqnr_alone_db()) nodes.push_back(&decision);
    }
  }
  if (nodes.empty()) return "";
  std::stable_sort(nodes.begin(), nodes.end(), CostsMore);
  const size_t all = nodes.size();
  if (nodes.size() > static_cast<size_t>(top)) nodes.resize(top);
  size_t node_width = 0;
  for (const v1::NodeDecision* node : nodes) node_width = std::max(node_width, Printable(node->node()).size());
  std::string text = absl::StrCat("per-layer sensitivity: SQNR of the model when only this node is int8, worst first (",
                                  nodes.size(), " of ", all, "); precision in the file:\n");
  for (const v1::NodeDecision* node : nodes) {
    absl::StrAppendFormat(&text, "  %9s  %-4s  %-*s  %s\n", Decibels(node->sqnr_alone_db()),
                          PrecisionName(node->precision()), static_cast<int>(node_width), Printable(node->node()),
                          Printable(node->op()));
  }
  return text;
}

}  // namespace halftone::report
