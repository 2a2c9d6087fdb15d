// SPDX-License-Identifier: Apache-2.0
// matmul(x, w) + b  =>  matmul(x, w, b)
//
// Legal when b has rank 1 and one element per column of the result (a constant [1,n] or one number also qualifies), the
// matmul has no bias, residual or activation, and the target has the kernel. Not bit-exact: below f32 it rounds once
// where the two ops round twice; in f32 the order of the sum may differ.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// Whether the operand is a vector over the columns, constant or not.
bool IsColumnVector(const Graph& g, ValueId bias, NodeId matmul) {
  const Shape& shape = g.shape(bias);
  const std::optional<int64_t> columns = OutputChannels(g, matmul);
  return columns.has_value() && shape.has_rank() && shape.rank() == 1 && shape.dim(0).value == *columns;
}

class FuseMatMulBias final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-matmul-bias"; }
  std::string_view equation() const override { return "matmul(x, w) + b => matmul(x, w, b)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kAdd, OpKind::kBiasAdd}; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    auto [result, bias] = g.inputs<2>(root);
    if (!result.valid() || !bias.valid() || result == bias) return No("no operand is a matmul");
    if (g.op(root) == OpKind::kAdd && g.op(result) != OpKind::kMatMul) std::swap(result, bias);
    if (g.op(result) != OpKind::kMatMul) return No("no operand is a matmul");
    const NodeId matmul = g.producer(result);
    if (HasBias(g, matmul)) return No("the matmul has a bias");
    if (HasResidual(g, matmul) || HasActivation(g, matmul)) {
      return No("the matmul already ends in a residual or an activation");
    }
    const std::optional<int> rank = ResultRank(g, matmul);
    if (!rank.has_value() || *rank < 2)
      return Kept(Concat("the matmul's result is not known to be a matrix: ", Describe(g, result)));
    // bias_add adds along dimension 1 unless its layout is NHWC. Dimension 1 is the columns only for rank 2.
    const bool last = g.op(root) == OpKind::kAdd || g.node(root).attributes.String("layout", "NCHW") == "NHWC";
    if (!last && *rank != 2) return Kept(DescribeBoth("the bias is along a different dimension", g, result, bias));
    if (!IsColumnVector(g, bias, matmul) && !ChannelVector(g, bias, matmul).has_value()) {
      return No("the other operand is not a vector over the columns");
    }
    const absl::Status supported = target.SupportsFused(g, matmul, {.bias = true});
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({root, matmul}, {bias});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, matmul] = m.nodes<2>();
    const Graph& g = edit.graph();
    ValueId bias = m.value(0);
    if (!IsColumnVector(g, bias, matmul)) {
      bias = edit.AddConstant(FreshName(g, g.Label(root) + "/bias"), *ChannelVector(g, bias, matmul));
    }
    ReplaceByFused(edit, matmul, root, [&](NodeId fused) { edit.SetInput(fused, kBiasInput, bias); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseMatMulBias() { return std::make_unique<FuseMatMulBias>(); }

}  // namespace halftone
