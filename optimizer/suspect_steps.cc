// SPDX-License-Identifier: Apache-2.0
#include "optimizer/suspect_steps.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace halftone {
namespace {

// The sentence, where those steps take more of the time than kSuspectShare. `%s` of it are their names.
void AddReason(const std::vector<StepReport>& steps, const std::function<bool(const StepReport&)>& suspect,
               std::string_view what, std::vector<std::string>& reasons) {
  constexpr size_t kMostNames = 3;
  double total = 0, of_suspects = 0;
  std::vector<const StepReport*> suspects;
  for (const StepReport& step : steps) {
    total += step.median_us;
    if (!suspect(step)) continue;
    of_suspects += step.median_us;
    suspects.push_back(&step);
  }
  if (of_suspects <= kSuspectShare * total) return;
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const StepReport* a, const StepReport* b) { return a->median_us > b->median_us; });
  std::vector<std::string> names;
  for (const StepReport* step : suspects) {
    if (names.size() < kMostNames) names.push_back(Concat(step->name, " (", step->kernel.name, ")"));
  }
  if (suspects.size() > kMostNames) names.push_back(Concat(suspects.size() - kMostNames, " more"));
  reasons.push_back(Concat(what, absl::StrFormat(" take %.1f %% of the time: ", 100 * of_suspects / total),
                           absl::StrJoin(names, ", ")));
}

}  // namespace

std::vector<std::string> SuspectSteps(const std::vector<StepReport>& steps, int vector_bits) {
  std::vector<std::string> reasons;
  AddReason(
      steps, [](const StepReport& step) { return step.kernel.slow; }, "reference functions, which are slow,", reasons);
  AddReason(
      steps,
      [vector_bits](const StepReport& step) {
        return step.kernel.vector_bits > 0 && step.kernel.vector_bits < vector_bits;
      },
      "kernels for a smaller instruction set than this CPU's", reasons);
  return reasons;
}

}  // namespace halftone
