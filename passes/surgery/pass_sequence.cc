#include "passes/surgery/pass_sequence.h"

#include <algorithm>

#include "absl/log/check.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/core/nested_run.h"
#include "passes/core/rule_pass.h"
#include "passes/fusion/rules.h"
#include "passes/simplify/passes.h"

namespace halftone {

absl::Status PassSequence::Run(GraphEditor& edit, PassContext& context) const {
  for (int round = 0; round < kMaxRounds; ++round) {
    const int64_t before = edit.edits();
    for (const std::unique_ptr<Pass>& pass : passes_) HALFTONE_RETURN_IF_ERROR(RunEverywhere(*pass, edit, context));
    if (!repeat_ || edit.edits() == before) return absl::OkStatus();
  }
  return absl::InternalError(Concat("'", name_, "' did not settle within ", kMaxRounds, " rounds"));
}

std::unique_ptr<Pass> MakeFoldingSequence(std::string name, std::initializer_list<std::string_view> rules) {
  std::vector<std::unique_ptr<Pass>> chosen;
  for (std::unique_ptr<RewriteRule>& rule : FusionRules()) {
    const bool wanted = std::find(rules.begin(), rules.end(), rule->name()) != rules.end();
    if (wanted) chosen.push_back(std::make_unique<RulePass>(std::move(rule)));
  }
  CHECK_EQ(chosen.size(), rules.size()) << name << " names a rule that is not there";
  std::vector<std::unique_ptr<Pass>> steps;
  steps.push_back(std::make_unique<InferShapesPass>());
  steps.push_back(std::make_unique<FoldConstants>());
  steps.push_back(std::make_unique<PassSequence>(Concat(name, "/rules"), std::move(chosen), /*repeat=*/true));
  steps.push_back(std::make_unique<RemoveDeadNodes>());
  return std::make_unique<PassSequence>(std::move(name), std::move(steps), /*repeat=*/false);
}

}  // namespace halftone
