// SPDX-License-Identifier: Apache-2.0
// contraction(x, w, b) + r  =>  contraction(x, w, b, r)          (conv and matmul)
//
// Legal when r is not constant and has exactly the shape and type of the result (no broadcast), the contraction has no
// residual and no activation, and the target has the kernel. If both operands are contractions, the right one is tried
// first, because residual networks usually compute the shortcut first. Not bit-exact: below f32 it rounds once where
// the two ops round twice; in f32 the order of the sum may differ.

#include "passes/core/guards.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseResidual final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-residual"; }
  std::string_view equation() const override { return "contraction(x, w, b) + r => contraction(x, w, b, r)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId add, const Target& target) const override {
    return FindEitherOperand(g, add, target, TryOperand);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [add, contraction] = m.nodes<2>();
    ReplaceByFused(edit, contraction, add, [&](NodeId fused) { edit.SetInput(fused, kResidualInput, m.value(0)); });
    return absl::OkStatus();
  }

 private:
  static FindResult TryOperand(const Graph& g, NodeId add, ValueId result, ValueId residual, const Target& target) {
    const NodeId contraction = g.producer(result);
    if (!IsContraction(g, contraction)) return No("no operand is a conv or matmul");
    if (HasResidual(g, contraction) || HasActivation(g, contraction)) {
      return No("the contraction already ends in a residual or an activation");
    }
    if (g.IsConstant(residual)) return No("the other operand is a constant");
    if (!OtherNeed(g, result).empty()) return Kept(OtherNeed(g, result));
    if (g.type(result) != g.type(residual))
      return Kept(DescribeBoth("the operands have different types", g, result, residual));
    if (!SameShape(g.shape(result), g.shape(residual)))
      return Kept(DescribeBoth("the operands are not known to have the same shape", g, result, residual));
    const absl::Status supported = target.SupportsFused(g, contraction, {.residual = true});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({add, contraction}, {residual});
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseResidual() { return std::make_unique<FuseResidual>(); }

}  // namespace halftone
