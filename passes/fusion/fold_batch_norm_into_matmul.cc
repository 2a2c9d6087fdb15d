// SPDX-License-Identifier: Apache-2.0
// batch_norm(matmul(x, w, b))  =>  matmul(x, w * s, b * s + t)
//
// s = scale / sqrt(variance + epsilon), t = offset - mean * s. Legal as for a conv (fold_batch_norm_into_conv.cc), when
// w is a matrix and the channel is the last dimension of the result: rank 2, or any rank in layout NHWC. Computed in
// f64 and rounded once to f32. Not bit-exact: the weights are scaled before the sum, not the sum afterwards.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FoldBatchNormIntoMatMul final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-batch-norm-into-matmul"; }
  std::string_view equation() const override { return "batch_norm(matmul(x, w, b)) => matmul(x, w * s, b * s + t)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kBatchNorm; }

  FindResult Find(const Graph& g, NodeId batch_norm, const Target& target) const override {
    const ValueId x = g.input(batch_norm, 0);
    if (!x.valid() || g.op(x) != OpKind::kMatMul) return No("the input is not a matmul");
    const NodeId matmul = g.producer(x);
    const bool last = g.node(batch_norm).attributes.String("layout", "NCHW") == "NHWC";
    const std::optional<int> rank = ResultRank(g, matmul);
    if (!rank.has_value() || *rank < 2 || (*rank != 2 && !last))
      return Kept(Concat("the channel is not known to be the last dimension of ", Describe(g, x)));
    if (std::string reason = CannotFold(g, matmul); !reason.empty()) return Kept(std::move(reason));
    const absl::StatusOr<ChannelAffine> affine = AffineOfBatchNorm(g, batch_norm, *OutputChannels(g, matmul));
    if (!affine.ok()) return Kept(Describe(g, batch_norm, affine.status()));
    if (!StaysFinite(g, matmul, affine->scale, affine->offset))
      return Kept(DescribeBoth("the scaled weights are not finite", g, g.input(matmul, kWeightsInput), x));
    const absl::Status supported = target.SupportsFused(g, matmul, {.bias = !HasBias(g, matmul)});
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({batch_norm, matmul});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [batch_norm, matmul] = m.nodes<2>();
    FoldAffine(edit, matmul, batch_norm,
               *AffineOfBatchNorm(edit.graph(), batch_norm, *OutputChannels(edit.graph(), matmul)));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoMatMul() { return std::make_unique<FoldBatchNormIntoMatMul>(); }

}  // namespace halftone
