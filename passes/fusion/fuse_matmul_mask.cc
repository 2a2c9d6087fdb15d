// SPDX-License-Identifier: Apache-2.0
// matmul(a, b) + m  =>  matmul(a, b, _, m)          m broadcasts to the result
//
// The mask of an attention whose softmax has no addend, or a bias that is not a vector over the columns. Legal when the
// sum has the shape of the matmul's result, m has its type and a different shape, the matmul has no residual and no
// activation, and the target has the kernel. An addend of the same shape is a residual (fuse-residual). Not bit-exact
// below f32: it rounds once where the two ops round twice.

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// Whether fuse-matmul-bias will fuse the operand once no other op is between.
bool IsColumnVector(const Graph& g, ValueId bias, NodeId matmul) {
  const Shape& shape = g.shape(bias);
  const std::optional<int64_t> columns = OutputChannels(g, matmul);
  const bool vector = columns.has_value() && shape.has_rank() && shape.rank() == 1 && shape.dim(0).value == *columns;
  return vector || ChannelVector(g, bias, matmul).has_value();
}

class FuseMatMulMask final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-matmul-mask"; }
  std::string_view equation() const override { return "matmul(a, b) + m => matmul(a, b, _, m), m broadcasts"; }
  OpSet root() const override { return OpKind::kAdd; }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId add, const Target& target) const override {
    auto [result, mask] = g.inputs<2>(add);
    if (!result.valid() || !mask.valid() || result == mask) return No("an operand is missing");
    if (g.op(result) != OpKind::kMatMul) std::swap(result, mask);
    if (g.op(result) != OpKind::kMatMul) return No("no operand is a matmul");
    const NodeId matmul = g.producer(result);
    if (HasResidual(g, matmul) || HasActivation(g, matmul))
      return No("the matmul already ends in a residual or an activation");
    if (SameShape(g.shape(result), g.shape(mask))) return No("the other operand is not broadcast");
    if (!HasBias(g, matmul) && IsColumnVector(g, mask, matmul)) return No("it is a bias");
    if (g.type(result) != g.type(mask)) return Kept(DescribeBoth("different types", g, result, mask));
    if (!g.shape(mask).has_rank() || !SameShape(g.shape(result), g.shape(g.output(add))))
      return Kept(DescribeBoth("not known to broadcast to the matmul's result", g, mask, result));
    const absl::Status supported = target.SupportsFused(g, matmul, {.residual = true, .broadcast_residual = true});
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({add, matmul}, {mask});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [add, matmul] = m.nodes<2>();
    ReplaceByFused(edit, matmul, add, [&](NodeId fused) { edit.SetInput(fused, kResidualInput, m.value(0)); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseMatMulMask() { return std::make_unique<FuseMatMulMask>(); }

}  // namespace halftone
