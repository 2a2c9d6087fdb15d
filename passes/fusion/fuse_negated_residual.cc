// SPDX-License-Identifier: Apache-2.0
// r - matmul(a, b)  =>  matmul(a, b, _, r) {scale=-1}
//
// Factorization machines compute (a b)^2 - a^2 b^2, which becomes two matmuls and two squares. Legal when r has the
// shape and type of the matmul's result, the matmul has no bias, residual or activation, and the target has the kernel
// with a scale and a residual. Bit-exact in f32 but for the order of the sum; below f32 it rounds once where the two
// ops round twice.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseNegatedResidual final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-negated-residual"; }
  std::string_view equation() const override { return "r - matmul(a, b) => matmul(a, b, _, r) {scale=-1}"; }
  OpSet root() const override { return OpKind::kSub; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId sub, const Target& target) const override {
    const auto [residual, result] = g.inputs<2>(sub);
    if (g.op(result) != OpKind::kMatMul) return No("the subtracted value is not a matmul");
    const NodeId matmul = g.producer(result);
    if (residual == result) return No("it subtracts a value from itself");
    if (g.IsConstant(residual)) return No("the other operand is a constant");
    for (const ValueId added : {g.input(matmul, kBiasInput), g.input(matmul, kResidualInput)}) {
      if (added.valid()) return Kept(Concat("the matmul already has a bias or a residual: ", Describe(g, added)));
    }
    if (HasActivation(g, matmul))
      return Kept(Concat("the matmul already has an activation: ", g.node(matmul).attributes.String("activation", "")));
    if (g.type(result) != g.type(residual))
      return Kept(DescribeBoth("the operands have different types", g, result, residual));
    if (!SameShape(g.shape(result), g.shape(residual)))
      return Kept(DescribeBoth("the operands are not known to have the same shape", g, result, residual));
    const absl::Status supported = target.SupportsFused(g, matmul, {.residual = true, .scale = true});
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({sub, matmul}, {residual});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [sub, matmul] = m.nodes<2>();
    const float scale = -edit.graph().node(matmul).attributes.Float("scale", 1);
    ReplaceByFused(edit, matmul, sub, [&](NodeId fused) {
      edit.SetInput(fused, kResidualInput, m.value(0));
      if (scale == 1) {
        edit.EraseAttribute(fused, "scale");
      } else {
        edit.SetAttribute(fused, "scale", scale);
      }
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseNegatedResidual() { return std::make_unique<FuseNegatedResidual>(); }

}  // namespace halftone
