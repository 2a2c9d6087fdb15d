// SPDX-License-Identifier: Apache-2.0
// clip(a * x + b, 0, 1)  =>  hard_sigmoid(x) {alpha=a, beta=b}
//
// Keras' hard_sigmoid (0.2 and 0.5). A GraphDef holds its clip as a minimum and a maximum, which fuse-clip has
// replaced. Legal when a is a normal f32 number and b is finite. Bit-exact in f32, except for a kernel with fused
// multiply-add; below f32 it rounds once where each part rounds.

#include <cmath>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseLinearHardSigmoid final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-linear-hard-sigmoid"; }
  std::string_view equation() const override { return "clip(a * x + b, 0, 1) => hard_sigmoid(x) {alpha=a, beta=b}"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kClip; }

  FindResult Find(const Graph& g, NodeId clip, const Target&) const override {
    const std::optional<WithNumber> sum = NumberOperand(g, g.input(clip, 0), OpKind::kAdd);
    if (!sum.has_value()) return No("the clip's input does not add a number");
    const std::optional<WithNumber> product = FactorOperand(g, sum->x);
    if (!product.has_value()) return No("the add's operand is not multiplied by a number");
    const ValueId x = product->x;
    if (!IsFloatingPoint(g.type(x))) return Kept("its type is an integer type");
    const std::optional<ActivationSpec> bounds = ActivationOf(g, clip);
    if (!bounds.has_value()) return Kept(Concat("the bounds of '", g.Label(clip), "' are not constant"));
    if (bounds->alpha != 0 || bounds->beta != 1)
      return Kept(Concat("the bounds are not 0 and 1 but ", bounds->alpha, " and ", bounds->beta));
    if (!std::isnormal(static_cast<float>(product->number)) || !std::isfinite(static_cast<float>(sum->number)))
      return Kept(Concat("slope or offset is not a normal number: ", product->number, " and ", sum->number));
    if (g.shape(g.output(clip)) != g.shape(x))
      return Kept(DescribeBoth("the numbers are broadcast to another shape", g, x, g.output(clip)));
    return Match({clip, sum->node, product->node}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [clip, sum, product] = m.nodes<3>();
    const Graph& g = edit.graph();
    const float slope = static_cast<float>(FactorOperand(g, g.output(product))->number);
    const float offset = static_cast<float>(NumberOperand(g, g.output(sum), OpKind::kAdd)->number);
    ReplaceByNode(edit, clip,
                  ActivationNode(edit, m.value(0), {Activation::kHardSigmoid, slope, offset}, g.Label(clip)));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLinearHardSigmoid() { return std::make_unique<FuseLinearHardSigmoid>(); }

}  // namespace halftone
