// SPDX-License-Identifier: Apache-2.0
#include "optimizer/suspect_steps.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace halftone {
namespace {

// Width of the vectors that a name of an instruction set, or of a kernel, speaks of; 0: it does not say.
int VectorBits(std::string_view name) {
  struct Row {
    std::string_view word;
    int bits;
  };
  constexpr Row kRows[] = {{"avx512", 512}, {"avx10", 512}, {"amx", 512}, {"avx", 256}, {"sse41", 128}};
  for (const Row& row : kRows) {
    if (name.find(row.word) != std::string_view::npos) return row.bits;
  }
  return 0;
}

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
    if (names.size() < kMostNames) names.push_back(Concat(step->name, " (", step->kernel, ")"));
  }
  if (suspects.size() > kMostNames) names.push_back(Concat(suspects.size() - kMostNames, " more"));
  reasons.push_back(Concat(what, absl::StrFormat(" take %.1f %% of the time: ", 100 * of_suspects / total),
                           absl::StrJoin(names, ", ")));
}

}  // namespace

bool IsReference(std::string_view kernel) { return kernel == "reference" || kernel.starts_with("ref:"); }

std::vector<std::string> SuspectSteps(const std::vector<StepReport>& steps, std::string_view isa) {
  std::vector<std::string> reasons;
  AddReason(
      steps, [](const StepReport& step) { return IsReference(step.kernel); }, "reference functions, which are slow,",
      reasons);
  const int widest = VectorBits(isa);
  AddReason(
      steps,
      [widest](const StepReport& step) {
        const int bits = VectorBits(step.kernel);
        return bits > 0 && bits < widest;
      },
      "kernels for a smaller instruction set than this CPU's", reasons);
  return reasons;
}

}  // namespace halftone
