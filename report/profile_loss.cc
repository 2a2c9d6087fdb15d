// SPDX-License-Identifier: Apache-2.0
// One sentence: where the time of a variant is lost, the largest loss first.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/names.h"
#include "report/profile.h"

namespace halftone::report {
namespace {

struct Loss {
  double us = 0;
  std::string where;
};

std::string Milliseconds(double us) { return absl::StrFormat("%.3f ms", us * 1e-3); }

// Steps that take longer within the run than isolated; names the one that loses most.
Loss SlowerThanIsolated(const v1::ProfiledVariant& variant) {
  constexpr double kNoise = 0.02;  // of a step's own time
  Loss loss;
  int count = 0;
  double fetched = 0;
  const v1::ProfiledStep* worst = nullptr;
  for (const v1::ProfiledStep& step : variant.steps()) {
    if (step.conversion() || step.saving_us() <= 0) continue;
    loss.us += step.saving_us();
    fetched += std::clamp(step.cold_cache_us() - step.isolated_us(), 0.0, step.saving_us());
    if (step.saving_us() > kNoise * step.median_us()) ++count;
    if (worst == nullptr || step.saving_us() > worst->saving_us()) worst = &step;
  }
  if (worst == nullptr) return loss;
  loss.where = absl::StrFormat(
      "in %d of %d steps that are slower within the run than isolated (%s of it because weights are not in the cache; "
      "most in %s '%s' by %s: %s)",
      count, variant.steps_size(), Milliseconds(fetched), worst->op(), Printable(worst->name()), worst->kernel(),
      Milliseconds(worst->saving_us()));
  return loss;
}

Loss Conversions(const v1::ProfiledVariant& variant) {
  Loss loss{variant.conversions_us(), ""};
  int count = 0;
  const v1::ProfiledStep* worst = nullptr;
  for (const v1::ProfiledStep& step : variant.steps()) {
    if (!step.conversion()) continue;
    ++count;
    if (worst == nullptr || step.median_us() > worst->median_us()) worst = &step;
  }
  if (worst == nullptr) return loss;
  loss.where = absl::StrFormat("in %d conversions of layout or type (most for '%s': %s)", count,
                               Printable(worst->name()), Milliseconds(worst->median_us()));
  return loss;
}

// Isolated steps with MACs against the measured peak.
std::string OfPeak(const v1::ProfiledVariant& variant) {
  double ideal = 0, isolated = 0;
  for (const v1::ProfiledStep& step : variant.steps()) {
    if (step.peak_share() <= 0 || step.isolated_us() <= 0) continue;
    ideal += step.peak_share() * step.median_us();
    isolated += step.isolated_us();
  }
  if (isolated <= 0) return "";
  return absl::StrFormat("; isolated, the steps with MACs reach %.0f %% of the peak", 100 * ideal / isolated);
}

}  // namespace

std::string LossSentence(const v1::ProfiledVariant& variant) {
  std::vector<Loss> losses = {SlowerThanIsolated(variant),
                              Conversions(variant),
                              {variant.whole_us() - variant.steps_us(), "between the steps and at inputs and outputs"}};
  std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.us > b.us; });
  double total = 0;
  std::vector<std::string> parts;
  for (const Loss& loss : losses) {
    if (loss.us <= 0 || loss.where.empty()) continue;
    total += loss.us;
    parts.push_back(absl::StrCat(Milliseconds(loss.us), " ", loss.where));
  }
  const double share = variant.whole_us() > 0 ? 100 * total / variant.whole_us() : 0;
  if (!variant.disturbances().empty()) {
    return absl::StrFormat("The times are not reliable (%s): profile again on an idle machine.",
                           absl::StrJoin(variant.disturbances(), ", "));
  }
  if (parts.empty()) return absl::StrCat("Nothing is lost of ", Milliseconds(variant.whole_us()), OfPeak(variant), ".");
  return absl::StrFormat("Of %s, %s (%.1f %%) are lost: %s%s.", Milliseconds(variant.whole_us()), Milliseconds(total),
                         share, absl::StrJoin(parts, ", "), OfPeak(variant));
}

}  // namespace halftone::report
