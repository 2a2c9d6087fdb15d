// SPDX-License-Identifier: Apache-2.0
// contraction(x, w, b) {activation} + r  =>  contraction(x, w, b, r) {activation, activation_first}
//
// The shortcuts of YOLO apply the activation before the addition (ITEX fuses it as BiasAdd + Activation + Add). Legal
// when r is not constant and has exactly the shape and type of the result, the contraction has an activation, no
// residual and no other consumer, and the target has the kernel. If both operands are such contractions, the right one
// is tried first. Not bit-exact below f32: it rounds once where the ops round twice.

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseResidualAfterActivation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-residual-after-activation"; }
  std::string_view equation() const override {
    return "contraction(x, w, b) {activation} + r => contraction(x, w, b, r) {activation, activation_first}";
  }
  OpSet root() const override { return OpKind::kAdd; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId add, const Target& target) const override {
    return FindEitherOperand(g, add, target, TryOperand);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [add, contraction] = m.nodes<2>();
    ReplaceByFused(edit, contraction, add, [&](NodeId fused) {
      edit.SetInput(fused, kResidualInput, m.value(0));
      edit.SetAttribute(fused, "activation_first", true);
    });
    return absl::OkStatus();
  }

 private:
  static FindResult TryOperand(const Graph& g, NodeId add, ValueId result, ValueId residual, const Target& target) {
    const NodeId contraction = g.producer(result);
    if (!IsContraction(g, contraction) || !HasActivation(g, contraction))
      return No("no operand is a conv or matmul with an activation");
    if (HasResidual(g, contraction)) return No("the contraction has a residual");
    if (g.IsConstant(residual)) return No("the other operand is a constant");
    if (!g.HasOneUser(result)) return Kept("the contraction has another user");
    if (g.type(result) != g.type(residual)) return Kept(DescribeBoth("different types", g, result, residual));
    if (!SameShape(g.shape(result), g.shape(residual)))
      return Kept(DescribeBoth("not known to have the same shape", g, result, residual));
    const absl::Status supported = target.SupportsFused(g, contraction, {.residual = true, .activation_first = true});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({add, contraction}, {residual});
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseResidualAfterActivation() {
  return std::make_unique<FuseResidualAfterActivation>();
}

}  // namespace halftone
