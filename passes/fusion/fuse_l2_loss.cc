// SPDX-License-Identifier: Apache-2.0
// l2_loss(a, ..) + l2_loss(b, ..)  =>  l2_loss(a, .., b, ..)          (add and add_n)
//
// The regularization of a model that was exported with its losses. Legal when every operand is an l2_loss without other
// consumers, and all have one type. Not bit-exact: the order of the sums differs.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseL2Loss final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-l2-loss"; }
  std::string_view equation() const override { return "l2_loss(a, ..) + l2_loss(b, ..) => l2_loss(a, .., b, ..)"; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kAddN}; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId sum, const Target& target) const override {
    std::vector<NodeId> nodes = {sum};
    std::vector<ValueId> parts;
    ValueId other = kNoValue;
    for (const ValueId loss : g.node(sum).inputs) {
      if (g.op(loss) != OpKind::kL2Loss) {
        other = loss;
        continue;
      }
      if (g.type(loss) != g.type(g.output(sum)))
        return Kept(DescribeBoth("the losses have different types", g, loss, g.output(sum)));
      const NodeId node = g.producer(loss);
      for (const NodeId seen : nodes) {
        if (seen == node) return Kept(Concat("a loss is added twice: ", Describe(g, loss)));
      }
      nodes.push_back(node);
      parts.insert(parts.end(), g.node(node).inputs.begin(), g.node(node).inputs.end());
    }
    if (nodes.size() == 1) return No("no operand is an l2_loss");
    if (other.valid()) return Kept(Concat("an operand is not an l2_loss: ", Describe(g, other)));
    if (nodes.size() == 2) return No("it adds only one l2_loss");
    const absl::Status supported = target.SupportsOp(g, OpKind::kL2Loss, parts);
    if (!supported.ok()) return Kept(Describe(g, sum, supported));
    return Match(std::move(nodes));
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    Node node;
    node.op = OpKind::kL2Loss;
    for (size_t i = 1; i < m.nodes().size(); ++i) {
      const std::vector<ValueId>& parts = g.node(m.nodes()[i]).inputs;
      node.inputs.insert(node.inputs.end(), parts.begin(), parts.end());
    }
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseL2Loss() { return std::make_unique<FuseL2Loss>(); }

}  // namespace halftone
