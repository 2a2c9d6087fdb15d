// SPDX-License-Identifier: Apache-2.0
#include "passes/transforms/pass_sequence.h"

#include <algorithm>

#include "absl/log/check.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/shape_inference.h"
#include "passes/core/nested_run.h"
#include "passes/core/rule_pass.h"
#include "passes/fusion/rules.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

class WithFreshShapes final : public Pass {
 public:
  explicit WithFreshShapes(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) {}
  std::string_view name() const override { return pass_->name(); }
  bool enters_nested() const override { return false; }
  float tolerance() const override { return pass_->tolerance(); }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const int64_t before = edit.edits();
    HALFTONE_RETURN_IF_ERROR(RunEverywhere(*pass_, edit, context));
    if (edit.edits() == before) return absl::OkStatus();
    const Graph& g = edit.graph();
    for (const NodeId id : g.nodes()) {
      if (g.op(id) == OpKind::kInput || g.op(id) == OpKind::kConstant || g.op(id) == OpKind::kOpaque) continue;
      for (const ValueId output : g.node(id).outputs) {
        if (output.valid()) edit.SetShape(output, Shape());
      }
    }
    return InferShapes(edit);
  }

 private:
  std::unique_ptr<Pass> pass_;
};

}  // namespace

std::unique_ptr<Pass> WithShapes(std::unique_ptr<Pass> pass) {
  return std::make_unique<WithFreshShapes>(std::move(pass));
}

absl::Status PassSequence::Run(GraphEditor& edit, PassContext& context) const {
  for (int round = 0; round < kMaxRounds; ++round) {
    const int64_t before = edit.edits();
    for (const std::unique_ptr<Pass>& pass : passes_) HALFTONE_RETURN_IF_ERROR(RunEverywhere(*pass, edit, context));
    if (!repeat_ || edit.edits() == before) return absl::OkStatus();
  }
  return absl::InternalError(Concat("'", name_, "' did not settle within ", kMaxRounds, " rounds"));
}

float PassSequence::tolerance() const {
  float largest = kBitExact;
  for (const std::unique_ptr<Pass>& pass : passes_) largest = std::max(largest, pass->tolerance());
  return largest;
}

std::unique_ptr<Pass> MakeFoldingSequence(std::string name, std::initializer_list<std::string_view> rules) {
  std::vector<std::unique_ptr<Pass>> chosen;
  for (std::unique_ptr<RewriteRule>& rule : FusionRules()) {
    const bool wanted = std::find(rules.begin(), rules.end(), rule->name()) != rules.end();
    if (wanted) chosen.push_back(std::make_unique<RulePass>(std::move(rule)));
  }
  CHECK_EQ(chosen.size(), rules.size()) << name << " names a rule that does not exist";
  std::vector<std::unique_ptr<Pass>> steps;
  steps.push_back(std::make_unique<InferShapesPass>());
  steps.push_back(std::make_unique<FoldConstants>());
  steps.push_back(std::make_unique<PassSequence>(Concat(name, "/rules"), std::move(chosen), /*repeat=*/true));
  steps.push_back(std::make_unique<RemoveDeadNodes>());
  return std::make_unique<PassSequence>(std::move(name), std::move(steps), /*repeat=*/false);
}

}  // namespace halftone
