// SPDX-License-Identifier: Apache-2.0
// batch_norm(concat(conv0, conv1, ..))  =>  concat(conv0', conv1', ..)
//
// convI' is convI with the scale and offset of its channels folded into weights and bias. TensorFlow's Graph Transform
// Tool does this for two convolutions (fold_old_batch_norms). Legal at inference when the concat is along the channels,
// every part is a different conv, and each conv could take the batch norm alone (fold_batch_norm_into_conv.cc).
// Computed in f64 and rounded once to f32. Not bit-exact: the weights are scaled before the sum, not the sum
// afterwards.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

int Parts(const Graph& g, NodeId concat) { return static_cast<int>(g.node(concat).inputs.size()) - 1; }

// The part of the scale and offset that belongs to each part of `concat`. REQUIRES: every part is made by a conv with a
// known number of channels
std::vector<ChannelAffine> Cut(const Graph& g, NodeId concat, const ChannelAffine& whole) {
  std::vector<ChannelAffine> parts;
  auto scale = whole.scale.begin(), offset = whole.offset.begin();
  for (int i = 0; i < Parts(g, concat); ++i) {
    const int64_t channels = *OutputChannels(g, g.producer(g.input(concat, i)));
    parts.push_back({{scale, scale + channels}, {offset, offset + channels}});
    scale += channels;
    offset += channels;
  }
  return parts;
}

class FoldBatchNormIntoConcat final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-batch-norm-into-concat"; }
  std::string_view equation() const override {
    return "batch_norm(concat(conv(x, w, b), conv(z, v, c))) => concat(conv(x, w * s0, b * s0 + t0), conv(z, v * s1, "
           "c * s1 + t1))";
  }
  OpSet root() const override { return OpKind::kBatchNorm; }

  FindResult Find(const Graph& g, NodeId batch_norm, const Target& target) const override {
    const ValueId whole = g.input(batch_norm, 0);
    if (!whole.valid() || g.op(whole) != OpKind::kConcat) return No("the input is not a concat");
    const NodeId concat = g.producer(whole);
    const std::string layout = g.node(batch_norm).attributes.String("layout", "NCHW");
    std::vector<NodeId> nodes = {batch_norm, concat};
    int64_t channels = 0;
    for (int i = 0; i < Parts(g, concat); ++i) {
      const ValueId part = g.input(concat, i);
      if (!part.valid() || g.op(part) != OpKind::kConv) return No("a part is not made by a conv");
      const NodeId conv = g.producer(part);
      if (std::ranges::find(nodes, conv) != nodes.end())
        return Kept(Concat("a part occurs twice: ", Describe(g, part)));
      if (std::string of_conv = g.node(conv).attributes.String("layout", "NCHW"); of_conv != layout)
        return Kept(Concat("the layouts differ: '", g.Label(conv), "' is ", of_conv, ", the batch_norm ", layout));
      if (std::string reason = CannotFold(g, conv); !reason.empty()) return Kept(std::move(reason));
      const absl::Status supported = target.SupportsFused(g, conv, {.bias = !HasBias(g, conv)});
      if (!supported.ok()) return Kept(Describe(g, conv, supported));
      channels += *OutputChannels(g, conv);
      nodes.push_back(conv);
    }
    const std::optional<int> rank = ResultRank(g, nodes[2]);
    const ValueId axis = g.input(concat, Parts(g, concat));
    if (!rank.has_value() || AxisOf(g, axis, *rank) != ChannelAxis(g, nodes[2], *rank))
      return Kept(Concat("the concat is not along the channels: the axis is ", Describe(g, axis)));
    const absl::StatusOr<ChannelAffine> affine = AffineOfBatchNorm(g, batch_norm, channels);
    if (!affine.ok()) return Kept(Describe(g, batch_norm, affine.status()));
    const std::vector<ChannelAffine> parts = Cut(g, concat, *affine);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!StaysFinite(g, nodes[2 + i], parts[i].scale, parts[i].offset))
        return Kept(DescribeBoth("the scaled weights are not finite", g, g.input(nodes[2 + i], kWeightsInput), whole));
    }
    return Match(std::move(nodes));
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [batch_norm, concat] = m.nodes<2>();
    const std::vector<NodeId> convs(m.nodes().begin() + 2, m.nodes().end());
    int64_t channels = 0;
    for (const NodeId conv : convs) channels += *OutputChannels(g, conv);
    const std::vector<ChannelAffine> parts = Cut(g, concat, *AffineOfBatchNorm(g, batch_norm, channels));
    for (size_t i = 0; i < convs.size(); ++i) FoldAffine(edit, convs[i], convs[i], parts[i]);
    edit.ReplaceNode(batch_norm, edit.Clone(concat));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldBatchNormIntoConcat() { return std::make_unique<FoldBatchNormIntoConcat>(); }

}  // namespace halftone
