// SPDX-License-Identifier: Apache-2.0
// batch_norm(conv_transpose(x, w, b))  =>  conv_transpose(x, w * s, b * s + t)
//
// s = scale / sqrt(variance + epsilon), t = offset - mean * s. Legal at inference with constant weights, bias and
// statistics, when both ops have the same layout, and the conv_transpose's result and the statistics have no other
// consumers. Not legal where an input gives the output shape (TensorFlow's operator, which has no bias). Computed in
// f64 and rounded once to f32. Not bit-exact: the weights are scaled before the sum, not the sum afterwards.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr int kOutputShapeInput = 3;

bool IsFloat32Constant(const Graph& g, ValueId value) {
  const Tensor* tensor = value.valid() ? g.ConstantTensor(value) : nullptr;
  return tensor != nullptr && tensor->type() == DataType::kFloat32;
}

// The position of the output channel in weights [I, O / group, spatial...].
struct WeightsView {
  int64_t inputs = 0, outputs = 0, groups = 1, inner = 1;  // inputs: of all groups; outputs: of one
  int64_t channels() const { return outputs * groups; }
  int64_t ChannelOf(int64_t element) const {
    const int64_t row = element / inner;  // input * outputs + output
    return row / outputs / (inputs / groups) * outputs + row % outputs;
  }
};

std::optional<WeightsView> ViewOf(const Graph& g, NodeId node) {
  const Tensor& weights = *g.ConstantTensor(g.input(node, kWeightsInput));
  WeightsView view{.groups = g.node(node).attributes.Int("group", 1)};
  if (weights.rank() < 3 || weights.num_elements() == 0) return std::nullopt;
  view.inputs = weights.dims()[0];
  view.outputs = weights.dims()[1];
  view.inner = weights.num_elements() / view.inputs / view.outputs;
  if (view.groups < 1 || view.inputs % view.groups != 0) return std::nullopt;
  return view;
}

class FoldBatchNormIntoConvTranspose final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-batch-norm-into-conv-transpose"; }
  std::string_view equation() const override {
    return "batch_norm(conv_transpose(x, w, b)) => conv_transpose(x, w * s, b * s + t)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kBatchNorm; }

  FindResult Find(const Graph& g, NodeId batch_norm, const Target&) const override {
    const ValueId x = g.input(batch_norm, 0);
    if (!x.valid() || g.op(x) != OpKind::kConvTranspose) return No("the input is not a conv_transpose");
    const NodeId conv = g.producer(x);
    const Attributes& attributes = g.node(conv).attributes;
    if (attributes.String("layout", "NCHW") != g.node(batch_norm).attributes.String("layout", "NCHW"))
      return Kept(Concat("the layouts differ: '", g.Label(conv), "' is ", attributes.String("layout", "NCHW"),
                         ", the batch_norm ", g.node(batch_norm).attributes.String("layout", "NCHW")));
    if (attributes.String("weights_layout", "IOHW") != "IOHW" || g.input(conv, kOutputShapeInput).valid())
      return Kept(Concat("'", g.Label(conv), "': its operator has no bias"));
    if (!IsFloat32Constant(g, g.input(conv, kWeightsInput)))
      return Kept(Concat("the weights are not an f32 constant: ", Describe(g, g.input(conv, kWeightsInput))));
    const ValueId bias = g.input(conv, kBiasInput);
    if (bias.valid() && !IsFloat32Constant(g, bias))
      return Kept(Concat("the bias is not an f32 constant: ", Describe(g, bias)));
    const std::optional<WeightsView> view = ViewOf(g, conv);
    if (!view.has_value())
      return Kept(Concat("the weights do not match the number of groups: ", Describe(g, g.input(conv, kWeightsInput)),
                         " for ", attributes.Int("group", 1)));
    if (bias.valid() && g.ConstantTensor(bias)->num_elements() != view->channels())
      return Kept(
          Concat("the bias does not have one element per channel: ", Describe(g, bias), " for ", view->channels()));
    const absl::StatusOr<ChannelAffine> affine = AffineOfBatchNorm(g, batch_norm, view->channels());
    if (!affine.ok()) return Kept(Describe(g, batch_norm, affine.status()));
    return Match({batch_norm, conv});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [batch_norm, conv] = m.nodes<2>();
    const Graph& g = edit.graph();
    const WeightsView view = *ViewOf(g, conv);
    const ChannelAffine affine = *AffineOfBatchNorm(g, batch_norm, view.channels());
    const Tensor& weights = *g.ConstantTensor(g.input(conv, kWeightsInput));
    Tensor scaled(DataType::kFloat32, weights.dims());
    const std::span<const float> from = weights.data<float>();
    const std::span<float> to = scaled.mutable_data<float>();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(from[i] * affine.scale[view.ChannelOf(static_cast<int64_t>(i))]);
    }
    std::vector<double> bias = affine.offset;
    if (g.input(conv, kBiasInput).valid()) {
      const std::vector<double> old = g.ConstantTensor(g.input(conv, kBiasInput))->ToDoubles();
      for (size_t c = 0; c < bias.size(); ++c) bias[c] += old[c] * affine.scale[c];
    }
    const std::string label = g.Label(batch_norm);
    const ValueId new_weights = edit.AddConstant(FreshName(g, label + "/weights"), std::move(scaled));
    const ValueId new_bias = edit.AddConstant(FreshName(g, label + "/bias"), VectorOf(bias));
    ReplaceByFused(edit, conv, batch_norm, [&](NodeId fused) {
      edit.SetInput(fused, kWeightsInput, new_weights);
      edit.SetInput(fused, kBiasInput, new_bias);
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoConvTranspose() {
  return std::make_unique<FoldBatchNormIntoConvTranspose>();
}

}  // namespace halftone
