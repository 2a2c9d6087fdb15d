// SPDX-License-Identifier: Apache-2.0
// conv_transpose(x, w) + b  =>  conv_transpose(x, w, b)          and  b + t where it has a bias
//
// Legal when b is a vector along the channels: bias_add in the convolution's layout, or add of a constant like [C,1,1]
// (NCHW) or [C] (NHWC), or of one number. A second bias is added to the first only if both are constant. Not legal for
// TensorFlow's operator, which takes its output shape as an input and has no bias. Not bit-exact: the order of the sum
// differs.

#include <optional>
#include <utility>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/transposed_conv.h"

namespace halftone {
namespace {

std::optional<int64_t> Channels(const Graph& g, NodeId conv) {
  const Shape& weights = g.shape(g.input(conv, kWeightsInput));
  if (!weights.has_rank() || weights.rank() < 3 || !weights.dim(1).known()) return std::nullopt;
  return weights.dim(1).value * g.node(conv).attributes.Int("group", 1);
}

// The constant as a vector over the channels of the conv's result.
std::optional<Tensor> Vector(const Graph& g, ValueId value, NodeId conv) {
  const std::optional<int64_t> channels = Channels(g, conv);
  const Shape& weights = g.shape(g.input(conv, kWeightsInput));
  if (!channels.has_value()) return std::nullopt;
  const bool nchw = g.node(conv).attributes.String("layout", "NCHW") == "NCHW";
  return ChannelVector(g, value, *channels, nchw ? 1 : weights.rank() - 1, weights.rank());
}

class FuseConvTransposeBias final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-conv-transpose-bias"; }
  std::string_view equation() const override { return "conv_transpose(x, w) + b => conv_transpose(x, w, b)"; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kBiasAdd}; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    auto [result, bias] = g.inputs<2>(root);
    if (g.op(result) != OpKind::kConvTranspose) std::swap(result, bias);
    if (g.op(result) != OpKind::kConvTranspose) return No("no operand is a conv_transpose");
    const NodeId conv = g.producer(result);
    if (g.op(root) == OpKind::kBiasAdd && g.input(root, 0) != result)
      return No("it is not a bias of the conv_transpose");
    const Attributes& attributes = g.node(conv).attributes;
    const std::string weights_layout = attributes.String("weights_layout", "IOHW");
    const ValueId output_shape = g.input(conv, kOutputShapeInput), old = g.input(conv, kBiasInput);
    if (weights_layout != "IOHW" || output_shape.valid())
      return Kept(Concat("the operator has no bias: weights ", weights_layout, ", shape of the result ",
                         Describe(g, output_shape)));
    if (g.op(root) == OpKind::kBiasAdd) {
      const std::string layout = attributes.String("layout", "NCHW");
      if (g.node(root).attributes.String("layout", "NCHW") != layout)
        return Kept(Concat("the bias is along a different dimension: '", g.Label(conv), "' is ", layout,
                           ", the bias_add ", g.node(root).attributes.String("layout", "NCHW")));
      if (HasBias(g, conv)) return Kept(Concat("it already has a bias: ", Describe(g, old)));
    } else if (!Vector(g, bias, conv).has_value()) {
      return Kept(DescribeBoth("the other operand is not a constant vector over the channels", g, bias, result));
    } else if (HasBias(g, conv) && !IsConstantBias(g, conv)) {
      return Kept(DescribeBoth("its bias is not an f32 constant with one element per channel", g, old, result));
    }
    return Match({root, conv}, {bias});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, conv] = m.nodes<2>();
    const Graph& g = edit.graph();
    ValueId bias = m.value(0);
    if (g.op(root) == OpKind::kAdd) {
      std::vector<double> sum = Vector(g, bias, conv)->ToDoubles();
      if (HasBias(g, conv)) {
        const std::vector<double> old = g.ConstantTensor(g.input(conv, kBiasInput))->ToDoubles();
        for (size_t c = 0; c < sum.size(); ++c) sum[c] += old[c];
      }
      bias = edit.AddConstant(FreshName(g, g.Label(root) + "/bias"), VectorOf(sum));
    }
    ReplaceByFused(edit, conv, root, [&](NodeId fused) { edit.SetInput(fused, kBiasInput, bias); });
    return absl::OkStatus();
  }

 private:
  static bool IsConstantBias(const Graph& g, NodeId conv) {
    const Tensor* bias = g.ConstantTensor(g.input(conv, kBiasInput));
    return bias != nullptr && bias->type() == DataType::kFloat32 && bias->num_elements() == Channels(g, conv);
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseConvTransposeBias() { return std::make_unique<FuseConvTransposeBias>(); }

}  // namespace halftone
