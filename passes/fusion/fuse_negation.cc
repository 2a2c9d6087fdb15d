// SPDX-License-Identifier: Apache-2.0
// x + neg(y)  =>  x - y          x - neg(y)  =>  x + y
//
// Legal for every type that both ops support: subtraction is the addition of the negated number, bit by bit for floats
// and modulo the width for integers. Bit-exact. Both formats have both ops, so that the export does not split it again.

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseNegation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-negation"; }
  std::string_view equation() const override { return "x + neg(y) => x - y"; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kSub}; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    auto [x, negated] = g.inputs<2>(root);
    if (g.op(root) == OpKind::kAdd && g.op(negated) != OpKind::kNeg) std::swap(x, negated);
    if (g.op(negated) != OpKind::kNeg) return No("no operand is negated");
    const ValueId y = g.input(g.producer(negated), 0);
    if (g.type(x) != g.type(y)) return Kept(DescribeBoth("the operands have different types", g, x, y));
    return Match({root, g.producer(negated)}, {x, y});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = edit.graph().op(m.root()) == OpKind::kAdd ? OpKind::kSub : OpKind::kAdd;
    node.inputs = {m.value(0), m.value(1)};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseNegation() { return std::make_unique<FuseNegation>(); }

}  // namespace halftone
