// SPDX-License-Identifier: Apache-2.0
// transpose(conv(transpose(x, to NCHW), w), to NHWC)  =>  conv(x, w) {layout="NHWC"}          (and the other way round)
//
// Exporters wrap a convolution in transposes because the source or target framework has only one layout. Legal for any
// number of dimensions when the two permutations are inverse, the conv has the layout between them, a residual of the
// conv is transposed like x, and the conv and the transposed values have no other consumers. Bit-exact: the same sums.

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The permutation from the other layout to `to` ("NCHW" or "NHWC").
std::vector<int64_t> PermutationTo(const std::string& to, int rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (to == "NCHW") {
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  } else {
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  }
  return perm;
}

class FuseConvLayout final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-conv-layout"; }
  std::string_view equation() const override {
    return "transpose(conv(transpose(x, to NCHW), w), to NHWC) => conv(x, w) {layout=\"NHWC\"}";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kTranspose; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    const ValueId y = g.input(root, 0);
    if (!y.valid() || g.op(y) != OpKind::kConv) return No("the input is not a conv");
    const NodeId conv = g.producer(y);
    const ValueId image = g.input(conv, 0);
    if (!image.valid() || g.op(image) != OpKind::kTranspose) return No("the input of the conv is not transposed");
    const NodeId there = g.producer(image);
    const std::optional<int> rank = ResultRank(g, conv);
    if (!rank.has_value() || *rank < 3) return Kept(Concat("the conv's rank is not known: ", Describe(g, y)));
    const std::string inside = g.node(conv).attributes.String("layout", "NCHW");
    const std::vector<int64_t> to = PermutationTo(inside, *rank), back = PermutationTo(Other(inside), *rank);
    if (PermutationOf(g, there) != to)
      return Kept(OtherPermutation("x is not transposed to the conv's layout", g, there, to));
    if (PermutationOf(g, root) != back)
      return Kept(OtherPermutation("the result is not transposed to the other layout", g, root, back));
    if (!HasResidual(g, conv)) return Match({root, conv, there}, {g.input(there, 0)});
    const ValueId residual = g.input(conv, kResidualInput);
    const NodeId added = g.producer(residual);
    if (g.op(added) != OpKind::kTranspose)
      return Kept(Concat("the conv's residual is not transposed: ", Describe(g, residual)));
    if (PermutationOf(g, added) != to)
      return Kept(OtherPermutation("the conv's residual is not transposed as x is", g, added, to));
    std::vector<NodeId> nodes = {root, conv, there};
    if (added != there) nodes.push_back(added);
    return Match(std::move(nodes), {g.input(there, 0), g.input(added, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, conv] = m.nodes<2>();
    const std::string outside = Other(edit.graph().node(conv).attributes.String("layout", "NCHW"));
    const bool residual = HasResidual(edit.graph(), conv);
    ReplaceByFused(edit, conv, root, [&](NodeId fused) {
      edit.SetInput(fused, 0, m.value(0));
      if (residual) edit.SetInput(fused, kResidualInput, m.value(1));
      edit.SetAttribute(fused, "layout", outside);
    });
    return absl::OkStatus();
  }

 private:
  static std::string Other(const std::string& layout) { return layout == "NCHW" ? "NHWC" : "NCHW"; }
  static std::vector<int64_t> PermutationOf(const Graph& g, NodeId transpose) {
    const ValueId perm = g.input(transpose, 1);
    return perm.valid() ? g.ConstantInts(perm).value_or(std::vector<int64_t>()) : std::vector<int64_t>();
  }
  static std::string OtherPermutation(std::string_view what, const Graph& g, NodeId transpose,
                                      const std::vector<int64_t>& wanted) {
    return Concat(what, ": [", absl::StrJoin(PermutationOf(g, transpose), ", "), "], not [",
                  absl::StrJoin(wanted, ", "), "]");
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseConvLayout() { return std::make_unique<FuseConvLayout>(); }

}  // namespace halftone
