// contraction(x, w, b) + t  =>  contraction(x, w, b + t)          (conv and matmul)
//
// Legal when b and t are constants over the output channels, and the contraction has no residual and no activation.
// b + t is computed in f64 and rounded once to f32. Not bit-exact: the order of the sum differs.

#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FoldOffset final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-offset"; }
  std::string_view equation() const override { return "contraction(x, w, b) + t => contraction(x, w, b + t)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId add, const Target&) const override {
    auto [product, offset] = g.inputs<2>(add);
    if (!product.valid() || !offset.valid() || product == offset) return No("no operand is a conv or matmul");
    if (!IsContraction(g, g.producer(product))) std::swap(product, offset);
    const NodeId contraction = g.producer(product);
    if (!IsContraction(g, contraction)) return No("no operand is a conv or matmul");
    if (!HasBias(g, contraction)) return No("the contraction has no bias");
    if (!g.IsConstant(offset)) return No("the offset is not constant");
    if (std::string reason = CannotFold(g, contraction); !reason.empty()) return Kept(std::move(reason));
    if (!ChannelVector(g, offset, contraction).has_value())
      return Kept(DescribeBoth("the offset is no vector over the channels", g, product, offset));
    return Match({add, contraction}, {offset});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [add, contraction] = m.nodes<2>();
    const Graph& g = edit.graph();
    const std::vector<double> offset = ChannelVector(g, m.value(0), contraction)->ToDoubles();
    std::vector<double> bias = g.ConstantTensor(g.input(contraction, kBiasInput))->ToDoubles();
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += offset[c];
    const ValueId sum = edit.AddConstant(FreshName(g, g.Label(add) + "/bias"), VectorOf(bias));
    ReplaceByFused(edit, contraction, add, [&](NodeId fused) { edit.SetInput(fused, kBiasInput, sum); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldOffset() { return std::make_unique<FoldOffset>(); }

}  // namespace halftone
