// SPDX-License-Identifier: Apache-2.0
// view(contraction(x, w)) + b  =>  view(contraction(x, w, b))          (view: reshape, squeeze, unsqueeze, flatten)
//
// Keras' Dense of more than two dimensions (MatMul, Reshape, BiasAdd) and TensorFlow's 1-D convolution (Conv2D,
// Squeeze, BiasAdd). Legal when one dimension of the view's result is exactly the contraction's output channels, b is a
// vector along it, the contraction has no bias, residual or activation, contraction and view have no other consumers,
// and the target has the kernel. Not bit-exact: in f32 the order of the sum may differ.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/views.h"

namespace halftone {
namespace {

bool IsViewOfContraction(const Graph& g, ValueId value) {
  if (!value.valid() || !IsView(g, g.producer(value))) return false;
  const ValueId x = g.input(g.producer(value), 0);
  return x.valid() && IsContraction(g, g.producer(x));
}

// Whether b is added along dimension `axis` of `rank`, and along no other dimension.
bool RunsAlong(const Graph& g, NodeId root, ValueId bias, int64_t channels, int axis, int rank) {
  if (g.op(root) == OpKind::kBiasAdd) {
    const bool last = g.node(root).attributes.String("layout", "NCHW") == "NHWC";
    return axis == (last ? rank - 1 : 1);
  }
  const Shape& shape = g.shape(bias);
  if (shape.has_rank() && shape.rank() == 1 && shape.dim(0).value == channels) return axis == rank - 1;
  return ChannelVector(g, bias, channels, axis, rank).has_value();
}

class FuseBiasAfterView final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-bias-after-view"; }
  std::string_view equation() const override { return "view(contraction(x, w)) + b => view(contraction(x, w, b))"; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kBiasAdd}; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    auto [sum, bias] = g.inputs<2>(root);
    if (!sum.valid() || !bias.valid() || sum == bias) return No("an operand is missing");
    if (g.op(root) == OpKind::kAdd && !IsViewOfContraction(g, sum)) std::swap(sum, bias);
    if (!IsViewOfContraction(g, sum)) return No("no operand is a view of a conv or matmul");
    const NodeId view = g.producer(sum), contraction = g.producer(g.input(view, 0));
    if (HasBias(g, contraction)) return No("the contraction has a bias");
    if (HasResidual(g, contraction) || HasActivation(g, contraction))
      return No("the contraction already ends in a residual or an activation");
    if (!IsFloatingPoint(g.type(bias)) || g.type(bias) != g.type(sum))
      return Kept(DescribeBoth("different types", g, bias, sum));
    const std::optional<int> rank = ResultRank(g, contraction);
    const std::optional<int64_t> channels = OutputChannels(g, contraction);
    if (!rank.has_value() || *rank < 2 || !channels.has_value())
      return Kept(Concat("the number of channels is not known: ", Describe(g, g.input(view, 0))));
    const std::optional<int> axis = AxisAfterView(g, view, ChannelAxis(g, contraction, *rank), *channels);
    if (!axis.has_value()) {
      return Kept(DescribeBoth("no dimension of the view's result is known to hold exactly the channels", g,
                               g.input(view, 0), sum));
    }
    if (!RunsAlong(g, root, bias, *channels, *axis, g.shape(sum).rank())) {
      if (!g.IsConstant(bias)) return No("the other operand is not a bias");
      return Kept(DescribeBoth("the bias is along a different dimension", g, bias, sum));
    }
    const absl::Status supported = target.SupportsFused(g, contraction, {.bias = true});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({root, view, contraction}, {bias});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, view, contraction] = m.nodes<3>();
    const Graph& g = edit.graph();
    ValueId bias = m.value(0);
    const int64_t channels = *OutputChannels(g, contraction);
    const Shape& shape = g.shape(bias);
    if (g.op(root) == OpKind::kAdd && (shape.rank() != 1 || shape.dim(0).value != channels)) {
      const int axis = *AxisAfterView(g, view, ChannelAxis(g, contraction, *ResultRank(g, contraction)), channels);
      const Tensor vector = *ChannelVector(g, bias, channels, axis, g.shape(g.output(view)).rank());
      bias = edit.AddConstant(FreshName(g, g.Label(root) + "/bias"), vector);
    }
    edit.SetInput(contraction, kBiasInput, bias);
    PutViewLast(edit, view, root);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseBiasAfterView() { return std::make_unique<FuseBiasAfterView>(); }

}  // namespace halftone
