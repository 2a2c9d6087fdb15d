// The driver of a rewrite rule: one sweep over the graph in topological order, with the guards that hold for every
// rule.
//
// A match is refused where
//   - an intermediate value (of any matched node but the root) has a reader outside the match or is an output,
//   - a matched node has control edges or stands on another device than the root,
//   - the plan gives the matched nodes that compute (not those that only move values) different precisions.
// Nodes that nobody needs after Apply are removed at once, so that a dead reader never looks like a second user.
#ifndef HALFTONE_PASSES_CORE_RULE_PASS_H_
#define HALFTONE_PASSES_CORE_RULE_PASS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "passes/core/pass.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

class RulePass final : public Pass {
 public:
  explicit RulePass(std::unique_ptr<RewriteRule> rule) : rule_(std::move(rule)) {}
  std::string_view name() const override { return rule_->name(); }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  std::unique_ptr<RewriteRule> rule_;
};

// "" if the general guards allow the match, else the reason.
std::string GuardAgainst(const Graph& graph, const Match& match, const PrecisionPlan* plan);

// Removes `nodes` that are alive and that nobody needs, then the producers of their inputs that nobody needs any more.
void RemoveUnused(GraphEditor& edit, std::vector<NodeId> nodes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_RULE_PASS_H_
