// contraction(x, w, b) + r  =>  contraction(x, w, b, r)          (conv and matmul)
//
// Legal when r is computed and has exactly the shape and type of the product (nothing is broadcast), the contraction
// has no residual and no activation, and the target has the kernel. Of two contractions the right one is tried first:
// in residual networks the short cut tends to be computed before it. Not bit-exact: below f32 it rounds once where the
// two ops round twice; in f32 the order of the sum may differ.

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
  static FindResult TryOperand(const Graph& g, NodeId add, ValueId product, ValueId residual, const Target& target) {
    const NodeId contraction = g.producer(product);
    if (!IsContraction(g, contraction)) return No("no operand is a conv or matmul");
    if (HasResidual(g, contraction) || HasActivation(g, contraction)) {
      return No("the contraction already ends in a residual or an activation");
    }
    if (g.IsConstant(residual)) return No("the other operand is a constant");
    if (!OtherNeed(g, product).empty()) return Kept(OtherNeed(g, product));
    if (g.type(product) != g.type(residual))
      return Kept(DescribeBoth("the operands have different types", g, product, residual));
    if (!SameShape(g.shape(product), g.shape(residual)))
      return Kept(DescribeBoth("the operands are not known to have the same shape", g, product, residual));
    const absl::Status supported = target.SupportsFused(g, contraction, {.residual = true});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({add, contraction}, {residual});
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseResidual() { return std::make_unique<FuseResidual>(); }

}  // namespace halftone
