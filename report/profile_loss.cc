// Where the time of a variant is lost, in one sentence; the largest loss first.
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

// Steps that take longer within the run than alone; the one that loses most is named.
Loss SlowerThanAlone(const v1::ProfiledVariant& variant) {
  constexpr double kNoise = 0.02;  // of a step's own time
  Loss loss;
  int count = 0;
  double fetched = 0;
  const v1::ProfiledStep* worst = nullptr;
  for (const v1::ProfiledStep& step : variant.steps()) {
    if (step.conversion() || step.gain_us() <= 0) continue;
    loss.us += step.gain_us();
    fetched += std::clamp(step.cold_us() - step.alone_us(), 0.0, step.gain_us());
    if (step.gain_us() > kNoise * step.median_us()) ++count;
    if (worst == nullptr || step.gain_us() > worst->gain_us()) worst = &step;
  }
  if (worst == nullptr) return loss;
  loss.where = absl::StrFormat(
      "in %d of %d steps that are slower here than alone (%s of it since weights are fetched anew in each run; most in "
      "%s "
      "'%s' by %s: %s)",
      count, variant.steps_size(), Milliseconds(fetched), worst->op(), Printable(worst->name()), worst->kernel(),
      Milliseconds(worst->gain_us()));
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

// Steps that multiply, as they are alone, against the measured peak.
std::string OfPeak(const v1::ProfiledVariant& variant) {
  double ideal = 0, alone = 0;
  for (const v1::ProfiledStep& step : variant.steps()) {
    if (step.peak_share() <= 0 || step.alone_us() <= 0) continue;
    ideal += step.peak_share() * step.median_us();
    alone += step.alone_us();
  }
  if (alone <= 0) return "";
  return absl::StrFormat("; alone, the steps that multiply reach %.0f %% of the peak", 100 * ideal / alone);
}

}  // namespace

std::string LossSentence(const v1::ProfiledVariant& variant) {
  std::vector<Loss> losses = {SlowerThanAlone(variant),
                              Conversions(variant),
                              {variant.whole_us() - variant.steps_us(), "between the steps and at the boundary"}};
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
    return absl::StrFormat("The machine was not quiet (%s): profile again.", absl::StrJoin(variant.disturbances(), ", "));
  }
  if (parts.empty()) return absl::StrCat("Nothing is lost of ", Milliseconds(variant.whole_us()), OfPeak(variant), ".");
  return absl::StrFormat("Of %s, %s (%.1f %%) are lost: %s%s.", Milliseconds(variant.whole_us()), Milliseconds(total),
                         share, absl::StrJoin(parts, ", "), OfPeak(variant));
}

}  // namespace halftone::report
