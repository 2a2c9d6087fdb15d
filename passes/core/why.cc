// SPDX-License-Identifier: Apache-2.0
#include "passes/core/why.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "base/debug.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "passes/core/rule_pass.h"

namespace halftone {
namespace {

class Explainer {
 public:
  Explainer(std::vector<const RewriteRule*> rules, std::string_view glob, const PassContext& context)
      : rules_(std::move(rules)), glob_(glob), context_(context) {}

  void Explain(const Graph& graph, const std::string& prefix) {
    for (const NodeId id : graph.TopologicalOrder()) {
      NodeReasons node{Concat(prefix, graph.Label(id)), graph.op(id), {}};
      for (const RewriteRule* rule : rules_) {
        if (!rule->root().has(graph.op(id))) continue;
        if (GlobMatch(glob_, rule->name()) || GlobMatch(glob_, node.node)) Ask(*rule, graph, id, node);
      }
      std::stable_sort(node.reasons.begin(), node.reasons.end(),
                       [](const RuleReason& a, const RuleReason& b) { return a.matched > b.matched; });
      if (!node.reasons.empty()) nodes_.push_back(std::move(node));
      for (const std::string_view name : NestedGraphNames(graph.op(id))) {
        const std::shared_ptr<const Graph> nested = NestedGraph(graph.node(id), name);
        if (nested != nullptr) Explain(*nested, Concat(prefix, graph.Label(id), "/", name, "/"));
      }
    }
  }

  std::vector<NodeReasons> Take() { return std::move(nodes_); }

 private:
  void Ask(const RewriteRule& rule, const Graph& graph, NodeId id, NodeReasons& node) {
    const FindResult found = FindGuarded(rule, graph, id, context_);
    if (const Refusal* refusal = std::get_if<Refusal>(&found)) {
      node.reasons.push_back({std::string(rule.name()), refusal->reason, refusal->matched});
    } else {
      node.reasons.push_back({std::string(rule.name()), "nothing: the rule was skipped or stopped", true});
    }
  }

  std::vector<const RewriteRule*> rules_;
  const std::string glob_;
  const PassContext& context_;
  std::vector<NodeReasons> nodes_;
};

}  // namespace

std::vector<NodeReasons> ExplainNodes(const Pipeline& pipeline, const Graph& graph, std::string_view glob,
                                      const PassContext& context) {
  Explainer explainer(pipeline.rules(), glob, context);
  explainer.Explain(graph, "");
  return explainer.Take();
}

std::string PrintReasons(const std::vector<NodeReasons>& nodes) {
  std::string text;
  for (const NodeReasons& node : nodes) {
    text += Concat("'", node.node, "' (", OpName(node.op), ")\n");
    for (const RuleReason& reason : node.reasons) {
      text += absl::StrFormat("  %-4s %-32s %s\n", reason.matched ? "kept" : "no", reason.rule, reason.text);
    }
  }
  return text;
}

}  // namespace halftone
