// contraction(x, w, b) {activation} + r  =>  contraction(x, w, b, r) {activation, activation_first}
//
// The short cuts of YOLO: activated first, added then (ITEX's BiasAdd + Activation + Add). Legal when r is computed,
// has exactly the shape and type of the result, the contraction has an activation and no residual, nobody else reads
// it, and the target has the kernel. Of two such contractions the right one is tried first. Not bit-exact below f32: it
// rounds once where the ops round twice.

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
  static FindResult TryOperand(const Graph& g, NodeId add, ValueId product, ValueId residual, const Target& target) {
    const NodeId contraction = g.producer(product);
    if (!IsContraction(g, contraction) || !HasActivation(g, contraction))
      return No("no operand is a conv or matmul with an activation");
    if (HasResidual(g, contraction)) return No("the contraction has a residual");
    if (g.IsConstant(residual)) return No("the other operand is a constant");
    if (!g.HasOneUser(product)) return Kept("the contraction has another user");
    if (g.type(product) != g.type(residual)) return Kept(DescribeBoth("different types", g, product, residual));
    if (!SameShape(g.shape(product), g.shape(residual)))
      return Kept(DescribeBoth("not known to have the same shape", g, product, residual));
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
