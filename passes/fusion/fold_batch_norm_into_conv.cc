// SPDX-License-Identifier: Apache-2.0
// batch_norm(conv(x, w, b))  =>  conv(x, w * s, b * s + t)
//
// s = scale / sqrt(variance + epsilon), t = offset - mean * s. Legal at inference with constant weights, bias and
// statistics, when conv and batch norm have the same layout, the conv's result and the statistics have no other
// consumers, and the target has a conv kernel with bias. Computed in f64 and rounded once to f32. Not bit-exact: the
// weights are scaled before the sum, not the sum afterwards.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FoldBatchNormIntoConv final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-batch-norm-into-conv"; }
  std::string_view equation() const override { return "batch_norm(conv(x, w, b)) => conv(x, w * s, b * s + t)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kBatchNorm; }

  FindResult Find(const Graph& g, NodeId batch_norm, const Target& target) const override {
    const ValueId x = g.input(batch_norm, 0);
    if (!x.valid() || g.op(x) != OpKind::kConv) return No("the input is not a conv");
    const NodeId conv = g.producer(x);
    if (g.node(conv).attributes.String("layout", "NCHW") != g.node(batch_norm).attributes.String("layout", "NCHW")) {
      return Kept(Concat("the layouts differ: '", g.Label(conv), "' is ",
                         g.node(conv).attributes.String("layout", "NCHW"), ", the batch_norm ",
                         g.node(batch_norm).attributes.String("layout", "NCHW")));
    }
    if (std::string reason = CannotFold(g, conv); !reason.empty()) return Kept(std::move(reason));
    const absl::StatusOr<ChannelAffine> affine = AffineOfBatchNorm(g, batch_norm, *OutputChannels(g, conv));
    if (!affine.ok()) return Kept(Describe(g, batch_norm, affine.status()));
    if (!StaysFinite(g, conv, affine->scale, affine->offset))
      return Kept(DescribeBoth("the scaled weights are not finite", g, g.input(conv, kWeightsInput), x));
    const absl::Status supported = target.SupportsFused(g, conv, {.bias = !HasBias(g, conv)});
    if (!supported.ok()) return Kept(Describe(g, conv, supported));
    return Match({batch_norm, conv});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [batch_norm, conv] = m.nodes<2>();
    FoldAffine(edit, conv, batch_norm,
               *AffineOfBatchNorm(edit.graph(), batch_norm, *OutputChannels(edit.graph(), conv)));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoConv() { return std::make_unique<FoldBatchNormIntoConv>(); }

}  // namespace halftone
