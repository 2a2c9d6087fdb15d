// SPDX-License-Identifier: Apache-2.0
// The driver of a rewrite rule: one sweep over its roots in topological order, with the guards of all rules (guards.h)
// and the control edges that move (control_edges.h).
//
// Dead nodes are removed immediately after Apply, so that a dead consumer never counts as a second consumer.
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
  // With a schedule in the context it visits only the nodes that are due.
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

  const RewriteRule& rule() const { return *rule_; }

 private:
  absl::Status Apply(const Match& match, GraphEditor& edit, PassContext& context) const;

  std::unique_ptr<RewriteRule> rule_;
};

// The result of the rule for this node, including the general guards. REQUIRES: rule.root().has(graph.op(id))
FindResult FindGuarded(const RewriteRule& rule, const Graph& graph, NodeId id, const PassContext& context);

// Removes those of `nodes` that are dead, then the producers of their inputs that become dead by that.
void RemoveUnused(GraphEditor& edit, std::vector<NodeId> nodes);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_RULE_PASS_H_
