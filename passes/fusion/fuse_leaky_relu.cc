// SPDX-License-Identifier: Apache-2.0
// maximum(x, a * x)  =>  leaky_relu(x) {alpha=a}
//
// Legal when a is a constant number above 0 and not above 1: then a * x is the larger value exactly where x is
// negative. The multiplication may have either order or be a division. Bit-exact except for NaN, which stays NaN.

#include "base/strings.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseLeakyRelu final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-leaky-relu"; }
  std::string_view equation() const override { return "maximum(x, a * x) => leaky_relu(x) {alpha=a}"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kMaximum, OpKind::kMaxN}; }

  FindResult Find(const Graph& g, NodeId maximum, const Target&) const override {
    if (g.node(maximum).inputs.size() != 2) return No("it does not have two operands");
    for (const int i : {0, 1}) {
      const ValueId x = g.input(maximum, 1 - i);
      const std::optional<WithNumber> multiple = FactorOperand(g, g.input(maximum, i));
      if (!multiple.has_value() || multiple->x != x) continue;
      if (!IsFloatingPoint(g.type(x))) return Kept("its type is an integer type");
      if (!(multiple->number > 0 && multiple->number <= 1))
        return Kept(Concat("the factor is not between 0 and 1: ", multiple->number));
      if (g.shape(g.output(maximum)) != g.shape(x)) return Kept("the factor is broadcast to another shape");
      return Match({maximum, multiple->node}, {x});
    }
    return No("no operand is a multiple of the other");
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto alpha = static_cast<float>(FactorOperand(g, g.output(m.nodes()[1]))->number);
    ReplaceByNode(edit, m.root(), ActivationNode(edit, m.value(0), {Activation::kLeakyRelu, alpha}, ""));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLeakyRelu() { return std::make_unique<FuseLeakyRelu>(); }

}  // namespace halftone
