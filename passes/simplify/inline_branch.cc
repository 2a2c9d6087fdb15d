// SPDX-License-Identifier: Apache-2.0
// if(true, x...)  =>  the nodes of its branch     if(false, x...) likewise
//
// Legal where the condition is a constant and nothing inside the branch reads values by name. Exact.

#include <memory>
#include <vector>

#include "base/strings.h"
#include "ir/nested.h"
#include "passes/core/reasons.h"
#include "passes/simplify/inline_graph.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

class InlineBranch final : public RewriteRule {
 public:
  std::string_view name() const override { return "inline-branch"; }
  std::string_view equation() const override { return "if(constant, x) => branch(x)"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kIf; }

  FindResult Find(const Graph& g, NodeId id, const Target&) const override {
    const Tensor* condition = g.ConstantTensor(g.input(id, 0));
    if (condition == nullptr) return No("the condition is not constant");
    const std::optional<double> value = g.ConstantScalar(g.input(id, 0));
    if (!value.has_value()) return Kept(Concat("the condition is not one element: ", Describe(g, g.input(id, 0))));
    const std::shared_ptr<const Graph> branch = NestedGraph(g.node(id), *value != 0 ? "then" : "else");
    if (std::string obstacle = ObstacleToInlining(g, id, *branch); !obstacle.empty()) return Kept(std::move(obstacle));
    return Match({id}, {g.input(id, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Node& node = edit.graph().node(m.root());
    const bool taken = *edit.graph().ConstantScalar(m.value(0)) != 0;
    const std::shared_ptr<const Graph> branch = NestedGraph(node, taken ? "then" : "else");
    InlineGraph(edit, m.root(), *branch, std::vector<ValueId>(node.inputs.begin() + 1, node.inputs.end()));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeInlineBranch() { return std::make_unique<InlineBranch>(); }

}  // namespace halftone
