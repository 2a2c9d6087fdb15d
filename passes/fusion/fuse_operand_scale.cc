// SPDX-License-Identifier: Apache-2.0
// matmul(a * s, b)  =>  matmul(a, b) {scale=s}          and the other operand likewise
//
// An attention may scale its queries before the matmul. Also a division by a number. Legal when s is one constant
// number that does not change the shape of a, the scaled operand has no other consumer, and the target has the kernel.
// Not bit-exact: the sum is scaled instead of its terms.

#include <cmath>
#include <optional>

#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseOperandScale final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-operand-scale"; }
  std::string_view equation() const override { return "matmul(a * s, b) => matmul(a, b) {scale=s}"; }
  OpSet root() const override { return OpKind::kMatMul; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId matmul, const Target& target) const override {
    const auto [a, b] = g.inputs<2>(matmul);
    if (a == b) return No("both operands are the same");
    Refusal refusal = No("no operand is scaled by a number");
    for (const ValueId operand : {a, b}) {
      const std::optional<WithNumber> scaled = FactorOperand(g, operand);
      if (!scaled.has_value()) continue;
      if (g.shape(scaled->x) != g.shape(operand)) {
        refusal = Kept("the number is broadcast to another shape");
      } else if (!std::isnormal(Together(g, matmul, *scaled))) {
        refusal = Kept("the scale is not a normal number");
      } else if (HasActivation(g, matmul) && g.node(matmul).attributes.Bool("activation_first", false)) {
        refusal = Kept("the matmul applies its activation before the residual");
      } else if (const absl::Status supported = target.SupportsFused(g, matmul, {.scale = true}); !supported.ok()) {
        refusal = Kept(std::string(supported.message()));
      } else {
        return Match({matmul, scaled->node}, {scaled->x, operand});
      }
    }
    return refusal;
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const float scale = Together(g, m.root(), *FactorOperand(g, m.value(1)));
    edit.SetInput(m.root(), g.input(m.root(), 0) == m.value(1) ? 0 : 1, m.value(0));
    if (scale == 1) {
      edit.EraseAttribute(m.root(), "scale");
    } else {
      edit.SetAttribute(m.root(), "scale", scale);
    }
    return absl::OkStatus();
  }

 private:
  static float Together(const Graph& g, NodeId matmul, const WithNumber& scaled) {
    return static_cast<float>(scaled.number * g.node(matmul).attributes.Float("scale", 1));
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseOperandScale() { return std::make_unique<FuseOperandScale>(); }

}  // namespace halftone
