// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace halftone::report {
namespace {

constexpr double kMostSumError = 0.05;
constexpr double kMostOutside = 0.08;
constexpr double kMostMemory = 1.2;  // times the largest sum of live values

void AddCheck(const std::string& name, double value, double limit, const std::string& text,
              v1::ProfiledVariant& variant) {
  v1::ProfileCheck* check = variant.add_checks();
  check->set_name(name);
  check->set_value(value);
  check->set_limit(limit);
  check->set_ok(value <= limit);
  check->set_text(text);
}

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

void AddChecks(v1::ProfiledVariant& variant) {
  const double whole = variant.whole_us();
  if (whole <= 0) return;
  const bool reliable = variant.disturbances().empty();
  AddCheck("noise", variant.disturbances_size(), 0,
           reliable ? "the times are reliable: no noise"
                    : absl::StrCat("the times are not reliable: ", absl::StrJoin(variant.disturbances(), ", ")),
           variant);
  const double sum = variant.steps_us() / whole;
  AddCheck("sum of steps", std::abs(sum - 1), kMostSumError,
           absl::StrFormat("sum of step times %.3f ms, the whole %.3f ms: %.1f %% of it", variant.steps_us() * 1e-3,
                           whole * 1e-3, 100 * sum),
           variant);
  const double outside = variant.outside_us() / whole;
  AddCheck("outside compute steps", outside, kMostOutside,
           absl::StrFormat("outside compute steps %.3f ms, %.1f %% (conversions %.3f ms, between steps %.3f ms); the "
                           "limit is 5 %% on resnet50, 8 %% elsewhere",
                           variant.outside_us() * 1e-3, 100 * outside, variant.conversions_us() * 1e-3,
                           (whole - variant.steps_us()) * 1e-3),
           variant);
  const int missing = std::abs(variant.reorders() - variant.verbose_reorders());
  AddCheck("reorders", missing, 0,
           absl::StrFormat("reorders: %d by oneDNN (%d in its verbose lines), %d conversions by native kernels",
                           variant.reorders(), variant.verbose_reorders(), variant.other_conversions()),
           variant);
  if (variant.live_bytes() <= 0) return;
  const auto times = [&](int64_t bytes) {
    return bytes > 0 ? static_cast<double>(variant.arena_bytes()) / static_cast<double>(bytes) : 0;
  };
  AddCheck("memory", times(variant.live_bytes()), kMostMemory,
           absl::StrFormat(
               "arena with scratch memory %.2f MB, live tensors at most %.2f MB: %.2f x; a step needs at most %.2f "
               "MB of scratch memory, with it %.2f MB are live: %.2f x",
               Megabytes(variant.arena_bytes()), Megabytes(variant.live_bytes()), times(variant.live_bytes()),
               Megabytes(variant.scratch_bytes()), Megabytes(variant.live_with_scratch_bytes()),
               times(variant.live_with_scratch_bytes())),
           variant);
}

}  // namespace

void CompleteProfile(v1::ProfiledVariant& variant) {
  double computing = 0, isolated = 0, cold = 0;
  for (v1::ProfiledStep& step : *variant.mutable_steps()) {
    if (variant.whole_us() > 0) step.set_share(step.median_us() / variant.whole_us());
    if (step.conversion()) {
      step.set_saving_us(step.median_us());
      continue;
    }
    computing += step.median_us();
    isolated += step.isolated_us() > 0 ? step.isolated_us() : step.median_us();
    cold += step.cold_cache_us() > 0 ? step.cold_cache_us() : step.median_us();
    if (step.isolated_us() > 0) step.set_saving_us(std::max(0.0, step.median_us() - step.isolated_us()));
  }
  variant.set_isolated_us(isolated);
  variant.set_cold_cache_us(cold);
  variant.set_outside_us(variant.whole_us() - computing);
  std::stable_sort(variant.mutable_steps()->begin(), variant.mutable_steps()->end(),
                   [](const v1::ProfiledStep& a, const v1::ProfiledStep& b) {
                     if (a.conversion() != b.conversion()) return b.conversion();
                     return a.saving_us() > b.saving_us();
                   });
  variant.clear_checks();
  AddChecks(variant);
  variant.set_loss(LossSentence(variant));
}

}  // namespace halftone::report
