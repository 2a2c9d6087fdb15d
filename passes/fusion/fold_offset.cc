// SPDX-License-Identifier: Apache-2.0
// contraction(x, w, b) + t  =>  contraction(x, w, b + t)       (conv, matmul; also bias_add; - t with and without b)
//
// Legal when b and t are constants over the output channels, and the contraction has no residual and no activation.
// fuse-conv-bias and fuse-matmul-bias handle an addition where there is no b yet. b + t is computed in f64 and rounded
// once to f32. Not bit-exact: the order of the sum differs.

#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The number that is added (or subtracted) at each output channel; nullopt if the operand is not a vector over the
// channels.
std::optional<Tensor> OffsetOf(const Graph& g, NodeId root, ValueId offset, NodeId contraction) {
  if (g.op(root) != OpKind::kBiasAdd) return ChannelVector(g, offset, contraction);
  const std::optional<int> rank = ResultRank(g, contraction);
  const int axis = g.node(root).attributes.String("layout", "NCHW") == "NHWC" ? rank.value_or(0) - 1 : 1;
  if (!rank.has_value() || axis != ChannelAxis(g, contraction, *rank)) return std::nullopt;
  const Tensor* vector = g.ConstantTensor(offset);
  return vector->num_elements() == OutputChannels(g, contraction) ? std::optional<Tensor>(*vector) : std::nullopt;
}

class FoldOffset final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-offset"; }
  std::string_view equation() const override { return "contraction(x, w, b) + t => contraction(x, w, b + t)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kSub, OpKind::kBiasAdd}; }

  FindResult Find(const Graph& g, NodeId add, const Target& target) const override {
    const bool difference = g.op(add) == OpKind::kSub;
    auto [result, offset] = g.inputs<2>(add);
    if (!result.valid() || !offset.valid() || result == offset) return No("no operand is a conv or matmul");
    if (g.op(add) == OpKind::kAdd && !IsContraction(g, g.producer(result))) std::swap(result, offset);
    const NodeId contraction = g.producer(result);
    if (!IsContraction(g, contraction)) return No("no operand is a conv or matmul");
    if (!difference && !HasBias(g, contraction)) return No("the contraction has no bias");
    if (!g.IsConstant(offset)) return No("the offset is not constant");
    if (std::string reason = CannotFold(g, contraction); !reason.empty()) return Kept(std::move(reason));
    if (!OffsetOf(g, add, offset, contraction).has_value())
      return Kept(DescribeBoth("the offset is not a vector over the channels", g, result, offset));
    const absl::Status supported = target.SupportsFused(g, contraction, {.bias = !HasBias(g, contraction)});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({add, contraction}, {offset});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [add, contraction] = m.nodes<2>();
    const Graph& g = edit.graph();
    const double sign = g.op(add) == OpKind::kSub ? -1 : 1;
    std::vector<double> bias = OffsetOf(g, add, m.value(0), contraction)->ToDoubles();
    for (double& number : bias) number *= sign;
    if (HasBias(g, contraction)) {
      const std::vector<double> old = g.ConstantTensor(g.input(contraction, kBiasInput))->ToDoubles();
      for (size_t c = 0; c < bias.size(); ++c) bias[c] += old[c];
    }
    const ValueId sum = edit.AddConstant(FreshName(g, g.Label(add) + "/bias"), VectorOf(bias));
    ReplaceByFused(edit, contraction, add, [&](NodeId fused) { edit.SetInput(fused, kBiasInput, sum); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldOffset() { return std::make_unique<FoldOffset>(); }

}  // namespace halftone
