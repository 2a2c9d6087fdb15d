#include "report/int8_evidence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "report/names.h"

namespace halftone::report {
namespace {

constexpr double kExactSqnr = 999;  // the contract's value for answers that are equal to the last bit

// The names of certificates, and how a sentence counts them.
struct SaturationWords {
  absl::string_view name;
  absl::string_view counted;
  bool needs_32_bits;  // CPUs without VNNI compute such a node in fp32
};
constexpr SaturationWords kSaturations[] = {
    {"proved", "proved", false},
    {"7 bits", "with 7 bits", false},
    {"16 bits", "in 16 bits", false},
    {"may saturate", "may saturate", true},
    {"s8 activations", "with s8 activations", true},
};

// Worst first; what is no number is worst of all.
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
    absl::StrAppend(&text, "configs tried for the goal with everything in ", PrecisionName(variant.precision()),
                    ", * is taken:\n");
    for (const v1::TriedConfig& tried : goal.configs()) {
      absl::StrAppendFormat(&text, "  %s %9s  top-1 drop %6.2f points  cosine %.6f  %-6s  %s\n",
                            tried.config() == goal.config() ? "*" : " ", Decibels(tried.sqnr_db()),
                            100 * tried.top1_drop(), tried.cosine(), tried.met() ? "met" : "missed",
                            Printable(tried.config()));
    }
  }
  return text;
}

std::string SaturationNote(const v1::Variant& variant, const v1::Environment& environment) {
  if (variant.saturation().empty()) return "";
  std::string text;
  int unproved = 0;
  for (const SaturationWords& words : kSaturations) {
    const auto count = static_cast<int>(
        std::count_if(variant.saturation().begin(), variant.saturation().end(),
                      [&](const v1::SaturationCertificate& node) { return node.saturation() == words.name; }));
    if (count == 0) continue;
    const char* layers = !text.empty() ? " " : count == 1 ? " layer " : " layers ";
    absl::StrAppend(&text, text.empty() ? "saturation: " : ", ", count, layers, words.counted);
    if (words.needs_32_bits) unproved += count;
  }
  const std::string rest = unproved == 0 ? "all of them in int8" : absl::StrCat(unproved, " of them in fp32");
  if (environment.native_int8()) {
    return absl::StrCat(text, "; this CPU sums in 32 bits, one without VNNI computes ", rest);
  }
  return absl::StrCat(text, "; this CPU has no VNNI and computes ", rest);
}

std::string SaturationText(const v1::Variant& variant) {
  if (variant.saturation().empty()) return "";
  size_t name_width = 0, node_width = 0;
  for (const v1::SaturationCertificate& node : variant.saturation()) {
    name_width = std::max(name_width, node.saturation().size());
    node_width = std::max(node_width, Printable(node.node()).size());
  }
  std::string text = absl::StrCat("sums of pairs of products of bytes in ", PrecisionName(variant.precision()),
                                  "; without VNNI they have to lie in -32768 .. 32767:\n");
  for (const v1::SaturationCertificate& node : variant.saturation()) {
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
  std::string text = absl::StrCat("SQNR where one node alone is int8, worst first (", nodes.size(), " of ", all,
                                  "), and what the node is in the file:\n");
  for (const v1::NodeDecision* node : nodes) {
    absl::StrAppendFormat(&text, "  %9s  %-4s  %-*s  %s\n", Decibels(node->sqnr_alone_db()),
                          PrecisionName(node->precision()), static_cast<int>(node_width), Printable(node->node()),
                          Printable(node->op()));
  }
  return text;
}

}  // namespace halftone::report
