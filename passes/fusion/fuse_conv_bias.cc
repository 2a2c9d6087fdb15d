// SPDX-License-Identifier: Apache-2.0
// conv(x, w) + b  =>  conv(x, w, b)
//
// Legal when b is added along the channels: bias_add in the convolution's layout, or add of a constant like [C,1,1]
// (NCHW) or [C] (NHWC), or of one number. The conv has no bias, residual or activation, and the target has the kernel.
// Not bit-exact: below f32 it rounds once where the two ops round twice; in f32 the order of the sum may differ.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The operand of `root` that is the result of a conv, and the other operand.
struct Operands {
  ValueId result = kNoValue;
  ValueId bias = kNoValue;
};

Operands FindConv(const Graph& g, NodeId root) {
  const auto [a, b] = g.inputs<2>(root);
  if (!a.valid() || !b.valid() || a == b) return {};
  if (g.op(a) == OpKind::kConv) return {a, b};
  if (g.op(root) == OpKind::kAdd && g.op(b) == OpKind::kConv) return {b, a};
  return {};
}

class FuseConvBias final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-conv-bias"; }
  std::string_view equation() const override { return "conv(x, w) + b => conv(x, w, b)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kBiasAdd}; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    const Operands operands = FindConv(g, root);
    if (!operands.result.valid()) return No("no operand is a conv");
    const NodeId conv = g.producer(operands.result);
    if (HasBias(g, conv)) return No("the conv has a bias");
    if (HasResidual(g, conv) || HasActivation(g, conv))
      return No("the conv already ends in a residual or an activation");
    if (g.op(root) == OpKind::kBiasAdd) {
      const std::string layout = g.node(conv).attributes.String("layout", "NCHW");
      if (g.node(root).attributes.String("layout", "NCHW") != layout)
        return Kept(Concat("the bias is along a different dimension: '", g.Label(conv), "' is ", layout,
                           ", the bias_add ", g.node(root).attributes.String("layout", "NCHW")));
    } else if (!ChannelVector(g, operands.bias, conv).has_value()) {
      return No("the other operand is not a constant vector over the channels");
    }
    const absl::Status supported = target.SupportsFused(g, conv, {.bias = true});
    if (!supported.ok()) return Kept(Describe(g, conv, supported));
    return Match({root, conv}, {operands.bias});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, conv] = m.nodes<2>();
    const Graph& g = edit.graph();
    ValueId bias = m.value(0);
    if (g.op(root) == OpKind::kAdd) {
      const Tensor vector = *ChannelVector(g, bias, conv);
      if (!g.ConstantTensor(bias)->SameBytes(vector))
        bias = edit.AddConstant(FreshName(g, g.Label(root) + "/bias"), vector);
    }
    ReplaceByFused(edit, conv, root, [&](NodeId fused) { edit.SetInput(fused, kBiasInput, bias); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseConvBias() { return std::make_unique<FuseConvBias>(); }

}  // namespace halftone
