// SPDX-License-Identifier: Apache-2.0
// clip(x + 3, 0, 6) / 6  =>  hard_sigmoid(x) {alpha=1/6, beta=0.5}
//
// Also with relu6 and with a multiplication by 1/6, as Keras and older exporters write it. Legal for exactly these
// numbers. Not bit-exact: it rounds in a different order and differs by a unit in the last place of 1.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr float kSixth = 1.0f / 6;

class FuseHardSigmoid final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-hard-sigmoid"; }
  std::string_view equation() const override {
    return "clip(x + 3, 0, 6) / 6 => hard_sigmoid(x) {alpha=1/6, beta=0.5}";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kMul, OpKind::kDiv}; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    const std::optional<WithNumber> scaled = FactorOperand(g, g.output(root));
    if (!scaled.has_value()) return No("no operand is a number");
    const NodeId clip = g.producer(scaled->x);
    if (g.op(clip) != OpKind::kClip && g.op(clip) != OpKind::kRelu6) return No("the other operand is not a clip");
    const ValueId raised = g.input(clip, 0);
    if (!raised.valid() || g.op(raised) != OpKind::kAdd) return No("the clip's input is not an add");
    const std::optional<WithNumber> sum = NumberOperand(g, raised, OpKind::kAdd);
    if (!sum.has_value()) return No("the clip's input does not add a number");
    if (!IsFloatingPoint(g.type(sum->x))) return Kept(Concat("its type is an integer type: ", Describe(g, sum->x)));
    const std::optional<ActivationSpec> spec = ActivationOf(g, clip);
    if (!spec.has_value()) return Kept(Concat("the bounds of '", g.Label(clip), "' are not constant"));
    const bool six = spec->kind == Activation::kRelu6 || (spec->alpha == 0 && spec->beta == 6);
    if (!six || sum->number != 3 || !IsNumber(scaled->number, kSixth, g.type(sum->x)))
      return Kept(Concat("it is not clip(x + 3, 0, 6) / 6 but ", scaled->number, " * clip(x + ", sum->number, ", ",
                         spec->alpha, ", ", spec->beta, ")"));
    if (g.shape(g.output(root)) != g.shape(sum->x))
      return Kept(DescribeBoth("the numbers are broadcast to another shape", g, sum->x, g.output(root)));
    return Match({root, clip, sum->node}, {sum->x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const ActivationSpec spec{Activation::kHardSigmoid, kSixth, 0.5f};
    ReplaceByNode(edit, m.root(), ActivationNode(edit, m.value(0), spec, ""));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseHardSigmoid() { return std::make_unique<FuseHardSigmoid>(); }

}  // namespace halftone
