// SPDX-License-Identifier: Apache-2.0
// matmul(a, b) * s  =>  matmul(a, b) {scale=s}
//
// Also a division by a number. Legal when s is one constant number that does not change the shape of the result, the
// matmul has no bias, residual or activation (the kernel applies them after the scale), and the target has the kernel.
// With constant weights the scale is folded into the weights instead (fold-scale). Not bit-exact below f32: it rounds
// once where the two ops round twice.

#include <cmath>

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseMatMulScale final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-matmul-scale"; }
  std::string_view equation() const override { return "matmul(a, b) * s => matmul(a, b) {scale=s}"; }
  OpSet root() const override { return {OpKind::kMul, OpKind::kDiv}; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    const std::optional<WithNumber> scaled = FactorOperand(g, g.output(root));
    if (!scaled.has_value()) return No("no operand is a number");
    if (g.op(scaled->x) != OpKind::kMatMul) return No("the other operand is not a matmul");
    const NodeId matmul = g.producer(scaled->x);
    if (HasBias(g, matmul) || HasResidual(g, matmul) || HasActivation(g, matmul))
      return Kept("the matmul already has a bias, a residual or an activation");
    if (!std::isnormal(Together(g, matmul, scaled->number))) return Kept("the scale is not a normal number");
    if (g.shape(scaled->x) != g.shape(g.output(root))) return Kept("the number is broadcast to another shape");
    const absl::Status supported = target.SupportsFused(g, matmul, {.scale = true});
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({root, matmul});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, matmul] = m.nodes<2>();
    const Graph& g = edit.graph();
    const float scale = Together(g, matmul, FactorOperand(g, g.output(root))->number);
    ReplaceByFused(edit, matmul, root, [&](NodeId fused) { edit.SetAttribute(fused, "scale", scale); });
    return absl::OkStatus();
  }

 private:
  static float Together(const Graph& g, NodeId matmul, double number) {
    return static_cast<float>(number * g.node(matmul).attributes.Float("scale", 1));
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseMatMulScale() { return std::make_unique<FuseMatMulScale>(); }

}  // namespace halftone
