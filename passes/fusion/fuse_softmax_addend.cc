// SPDX-License-Identifier: Apache-2.0
// softmax(x + m)  =>  softmax(x, m)
//
// The mask before an attention's softmax. Legal over the last axis, when one operand has the shape of the sum, and the
// target adds in the same kernel. That operand is x; if both have the shape, x is the one that is a matmul or a scaled
// matmul. Bit-exact in f32; below f32 it rounds once where the two ops round twice.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/softmax.h"

namespace halftone {
namespace {

bool IsScore(const Graph& g, ValueId value) {
  const OpKind op = g.op(value);
  return op == OpKind::kMatMul || op == OpKind::kMul || op == OpKind::kDiv;
}

class FuseSoftmaxAddend final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-softmax-addend"; }
  std::string_view equation() const override { return "softmax(x + m) => softmax(x, m)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kSoftmax; }

  FindResult Find(const Graph& g, NodeId softmax, const Target& target) const override {
    const ValueId sum = g.input(softmax, 0);
    if (!sum.valid() || g.op(sum) != OpKind::kAdd) return No("the input is not an add");
    if (g.input(softmax, kSoftmaxAddend).valid())
      return Kept(Concat("it already has an addend: ", Describe(g, g.input(softmax, kSoftmaxAddend))));
    if (g.node(softmax).attributes.Float("scale", 1) != 1)
      return Kept(Concat("it has a scale (", g.node(softmax).attributes.Float("scale", 1),
                         "), which would multiply the addend"));
    if (!IsOverLastAxis(g, softmax)) return Kept(Concat("it is not over the last axis of ", Describe(g, sum)));
    const NodeId add = g.producer(sum);
    auto [x, addend] = g.inputs<2>(add);
    if (!x.valid() || !addend.valid()) return No("an operand is missing");
    if (g.type(x) != g.type(addend)) return Kept(DescribeBoth("the operands have different types", g, x, addend));
    const auto whole = [&](ValueId value) { return SameShape(g.shape(value), g.shape(sum)); };
    if (!whole(x) || (whole(addend) && !IsScore(g, x) && IsScore(g, addend))) std::swap(x, addend);
    if (!whole(x) || !g.shape(addend).has_rank())
      return Kept(DescribeBoth("no operand is known to have the sum's shape", g, x, addend));
    if (const absl::Status supported = target.SupportsFused(g, softmax, {.residual = true}); !supported.ok())
      return Kept(Describe(g, softmax, supported));
    return Match({softmax, add}, {x, addend});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const NodeId fused = edit.Clone(m.root());
    edit.SetInput(fused, 0, m.value(0));
    edit.SetInput(fused, kSoftmaxAddend, m.value(1));
    edit.ReplaceNode(m.root(), fused);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseSoftmaxAddend() { return std::make_unique<FuseSoftmaxAddend>(); }

}  // namespace halftone
