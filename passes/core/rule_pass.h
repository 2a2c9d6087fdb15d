// The driver of a rewrite rule: one sweep over its roots in topological order, with the guards that hold for every rule
// (guards.h) and the control edges that may move (control_edges.h).
//
// Nodes that nobody needs after Apply are removed at once, so that a dead reader never looks like a second user.
#ifndef HALFTONE_PASSES_CORE_RULE_PASS_H_
#define HALFTONE_PASSES_CORE_RULE_PASS_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/core/pass.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

class RulePass final : public Pass {
 public:
  explicit RulePass(std::unique_ptr<RewriteRule> rule) : rule_(std::move(rule)) {}
  std::string_view name() const override { return rule_->name(); }
  float tolerance() const override { return rule_->tolerance(); }
  // With a schedule in the context only over what is due.
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

  const RewriteRule& rule() const { return *rule_; }

 private:
  absl::Status Apply(const Match& match, GraphEditor& edit, PassContext& context) const;

  std::unique_ptr<RewriteRule> rule_;
};

// What the rule says of this node, the general guards included. REQUIRES: rule.root().has(graph.op(id))
FindResult FindGuarded(const RewriteRule& rule, const Graph& graph, NodeId id, const PassContext& context);

// Removes `nodes` that are alive and that nobody needs, then the producers of their inputs that nobody needs any more.
void RemoveUnused(GraphEditor& edit, std::vector<NodeId> nodes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_RULE_PASS_H_
