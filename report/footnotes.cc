// SPDX-License-Identifier: Apache-2.0
#include "report/footnotes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/names.h"

namespace halftone::report {
namespace {

// "INVALID: steal 3 %", "noisy, but decided: steal 3 %", or "" for a good measurement.
std::string MeasurementText(const v1::Benchmark& benchmark) {
  if (benchmark.samples() == 0) return "";
  std::vector<std::string> reasons(benchmark.invalid_reasons().begin(), benchmark.invalid_reasons().end());
  reasons.insert(reasons.end(), benchmark.noise().begin(), benchmark.noise().end());
  const std::string text = Printable(absl::StrJoin(reasons, "; "));
  if (!benchmark.valid()) return absl::StrCat("INVALID: ", text);
  return reasons.empty() ? "" : absl::StrCat("noisy, but the interval decides: ", text);
}

// What restricts the use of the file or of its numbers.
std::vector<std::string> VariantTexts(const v1::Variant& variant) {
  std::vector<std::string> texts;
  for (const std::string& refusal : variant.refused_by()) texts.push_back(Printable(refusal));
  if (!variant.not_measured().empty()) texts.push_back(Printable(variant.not_measured()));
  if (variant.emulated()) texts.emplace_back("emulated: this CPU has no native instructions for it");
  if (variant.opaque_ops_size() > 0) {
    texts.push_back(absl::StrCat("unsupported ops are passed through unchanged, the model cannot run here: ",
                                 Printable(absl::StrJoin(variant.opaque_ops(), ", "))));
  }
  if (variant.reference_nodes_size() > 0) {
    texts.push_back(absl::StrFormat("reference kernels take %.1f %% of the time: %s", 100 * variant.reference_share(),
                                    Printable(FirstFew(variant.reference_nodes()))));
  }
  return texts;
}

}  // namespace

std::vector<Footnote> Footnotes(const v1::Report& report) {
  std::vector<Footnote> footnotes;
  for (const v1::Variant& variant : report.variants()) {
    for (std::string& text : VariantTexts(variant)) {
      footnotes.push_back({variant.precision(), Footnote::Cell::kVariant, std::move(text)});
    }
    if (std::string text = MeasurementText(variant.benchmark()); !text.empty()) {
      footnotes.push_back({variant.precision(), Footnote::Cell::kSpeedup, std::move(text)});
    }
  }
  return footnotes;
}

}  // namespace halftone::report
