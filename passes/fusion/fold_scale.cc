// SPDX-License-Identifier: Apache-2.0
// contraction(x, w, b) * s  =>  contraction(x, w * s, b * s)          (conv and matmul; also / s, by 1 / s)
//
// Legal when s is a constant over the output channels (or one number), weights and bias are constants, and the
// contraction has no other consumer. This folds a batch norm that was exported as separate ops. Computed in f64 and
// rounded once to f32. Not bit-exact: the weights are scaled before the sum, not the sum afterwards.

#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// One factor per output channel: the numbers of the constant, or their reciprocals for a division.
std::optional<std::vector<double>> Factors(const Graph& g, NodeId root, ValueId constant, NodeId contraction) {
  const std::optional<Tensor> vector = ChannelVector(g, constant, contraction);
  if (!vector.has_value()) return std::nullopt;
  std::vector<double> factors = vector->ToDoubles();
  for (double& factor : factors) factor = g.op(root) == OpKind::kDiv ? 1 / factor : factor;
  return factors;
}

class FoldScale final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-scale"; }
  std::string_view equation() const override { return "contraction(x, w, b) * s => contraction(x, w * s, b * s)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kMul, OpKind::kDiv}; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    auto [result, scale] = g.inputs<2>(mul);
    if (!result.valid() || !scale.valid() || result == scale) return No("no operand is a conv or matmul");
    if (g.op(mul) == OpKind::kMul && !IsContraction(g, g.producer(result))) std::swap(result, scale);
    const NodeId contraction = g.producer(result);
    if (!IsContraction(g, contraction)) return No("no operand is a conv or matmul");
    if (!g.IsConstant(scale)) return No("the scale is not constant");
    if (std::string reason = CannotFold(g, contraction); !reason.empty()) return Kept(std::move(reason));
    const std::optional<std::vector<double>> factors = Factors(g, mul, scale, contraction);
    if (!factors.has_value())
      return Kept(DescribeBoth("the scale is not a vector over the channels", g, result, scale));
    if (!StaysFinite(g, contraction, *factors))
      return Kept(DescribeBoth("the scaled weights are not finite", g, g.input(contraction, kWeightsInput), scale));
    return Match({mul, contraction}, {scale});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [mul, contraction] = m.nodes<2>();
    const Graph& g = edit.graph();
    const std::vector<double> scale = *Factors(g, mul, m.value(0), contraction);
    const std::string label = g.Label(mul);
    const ValueId weights = edit.AddConstant(FreshName(g, label + "/weights"), ScaleWeights(g, contraction, scale));
    ValueId bias = g.input(contraction, kBiasInput);
    if (bias.valid()) {
      std::vector<double> values = g.ConstantTensor(bias)->ToDoubles();
      for (size_t c = 0; c < values.size(); ++c) values[c] *= scale[c];
      bias = edit.AddConstant(FreshName(g, label + "/bias"), VectorOf(values));
    }
    ReplaceByFused(edit, contraction, mul, [&](NodeId fused) {
      edit.SetInput(fused, kWeightsInput, weights);
      if (bias.valid()) edit.SetInput(fused, kBiasInput, bias);
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldScale() { return std::make_unique<FoldScale>(); }

}  // namespace halftone
