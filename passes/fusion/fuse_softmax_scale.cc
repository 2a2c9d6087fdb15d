// SPDX-License-Identifier: Apache-2.0
// softmax(x * s, m)  =>  softmax(x, m) {scale=s}          softmax(x / s, m)  =>  softmax(x, m) {scale=1/s}
//
// Legal over the last axis, when s is a constant number that is not 0 and has a finite reciprocal, and the target
// scales in the same kernel. Bit-exact in f32 for powers of two; otherwise a division may differ in the last digit, and
// below f32 it rounds once where the two ops round twice.

#include <cmath>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/softmax.h"

namespace halftone {
namespace {

class FuseSoftmaxScale final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-softmax-scale"; }
  std::string_view equation() const override { return "softmax(x * s, m) => softmax(x, m) {scale=s}"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kSoftmax; }

  FindResult Find(const Graph& g, NodeId softmax, const Target& target) const override {
    const ValueId scaled = g.input(softmax, 0);
    const std::optional<WithNumber> product = FactorOperand(g, scaled);
    if (!product.has_value()) return No("the input is not multiplied by a number");
    if (g.node(softmax).attributes.Float("scale", 1) != 1)
      return Kept(Concat("it already has a scale: ", g.node(softmax).attributes.Float("scale", 1)));
    if (!IsOverLastAxis(g, softmax)) return Kept(Concat("it is not over the last axis of ", Describe(g, scaled)));
    if (!std::isnormal(static_cast<float>(product->number)))
      return Kept(Concat("the scale is not a normal number: ", product->number));
    if (g.shape(product->x) != g.shape(scaled))
      return Kept(DescribeBoth("the number is broadcast to another shape", g, product->x, scaled));
    if (const absl::Status supported = target.SupportsFused(g, softmax, {}); !supported.ok())
      return Kept(Describe(g, softmax, supported));
    return Match({softmax, product->node}, {product->x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const double scale = FactorOperand(edit.graph(), edit.graph().input(m.root(), 0))->number;
    const NodeId fused = edit.Clone(m.root());
    edit.SetInput(fused, 0, m.value(0));
    edit.SetAttribute(fused, "scale", static_cast<float>(scale));
    edit.ReplaceNode(m.root(), fused);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseSoftmaxScale() { return std::make_unique<FuseSoftmaxScale>(); }

}  // namespace halftone
