// SPDX-License-Identifier: Apache-2.0
// transpose(reshape(concat(a, b, ..), [.., g, c, ..]), [.., c, g, ..])
//   =>  concat(unsqueeze(a), unsqueeze(b), ..) along a new dimension after the channels
//
// The channel shuffle of ShuffleNet, which interleaves the channels of g tensors. Legal when the concat is along the
// dimension that the reshape splits, its parts are the groups (as many, of equal size), and the transpose swaps only
// the two new dimensions. Bit-exact: the same elements in the same places, copied once instead of twice.

#include <vector>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The only dimension p where perm has p + 1, p; -1 if perm does anything else.
int SwappedPair(const std::vector<int64_t>& perm) {
  int at = -1;
  for (int i = 0; i < static_cast<int>(perm.size()); ++i) {
    if (perm[i] == i) continue;
    if (at >= 0 || i + 1 == static_cast<int>(perm.size()) || perm[i] != i + 1 || perm[i + 1] != i) return -1;
    at = i++;
  }
  return at;
}

bool Known(const Dim& dim) { return dim.known() || !dim.symbol.empty(); }

class FuseChannelShuffle final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-channel-shuffle"; }
  std::string_view equation() const override {
    return "transpose(reshape(concat(a, b), [.., 2, c, ..])) => concat(unsqueeze(a), unsqueeze(b))";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kTranspose; }

  FindResult Find(const Graph& g, NodeId transpose, const Target&) const override {
    const ValueId split = g.input(transpose, 0);
    if (!split.valid() || g.op(split) != OpKind::kReshape) return No("the input is not a reshape");
    const NodeId reshape = g.producer(split);
    const ValueId whole = g.input(reshape, 0);
    if (!whole.valid() || g.op(whole) != OpKind::kConcat) return No("the reshape is not of a concat");
    const NodeId concat = g.producer(whole);
    const std::optional<std::vector<int64_t>> perm = g.ConstantInts(g.input(transpose, 1));
    const int axis = perm.has_value() ? SwappedPair(*perm) : -1;
    if (axis < 0) return No("it does not swap two adjacent dimensions");
    const Shape& before = g.shape(whole);
    const Shape& after = g.shape(split);
    if (!before.has_rank() || !after.has_rank()) return Kept(DescribeBoth("a rank is not known", g, whole, split));
    if (after.rank() != before.rank() + 1) return No("the reshape does not split one dimension");
    for (int i = 0; i < before.rank(); ++i) {
      if (i == axis) continue;
      const Dim& other = after.dim(i < axis ? i : i + 1);
      if (!Known(before.dim(i)) || before.dim(i) != other)
        return Kept(
            DescribeBoth("the reshape changes another dimension, or the dimensions are unknown", g, whole, split));
    }
    const int parts = static_cast<int>(g.node(concat).inputs.size()) - 1;
    if (const int along = AxisOf(g, g.input(concat, parts), before.rank()); along != axis)
      return Kept(Concat("the concat is along another dimension: ", along, ", and ", axis, " is shuffled"));
    if (after.dim(axis).value != parts)
      return Kept(Concat("the parts are not the groups: ", parts, " of them, ", after.dim(axis).value, " groups"));
    for (int i = 0; i < parts; ++i) {
      const Shape& part = g.shape(g.input(concat, i));
      if (!part.has_rank() || !part.dim(axis).known() || part.dim(axis) != after.dim(axis + 1)) {
        return Kept(DescribeBoth("a part has a different size than a group", g, g.input(concat, i), split));
      }
      if (!SameQuantization(g.quantization(g.input(concat, i)), g.quantization(whole)))
        return Kept("the concat changes quantization scales");
    }
    return Match({transpose, reshape, concat});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [transpose, reshape, concat] = m.nodes<3>();
    const int axis_after = SwappedPair(*g.ConstantInts(g.input(transpose, 1))) + 1;
    const std::string label = g.Label(transpose);
    const auto constant = [&](std::string_view suffix, Tensor tensor) {
      return edit.AddConstant(FreshName(g, Concat(label, "/", suffix)), std::move(tensor));
    };
    const ValueId axes = constant("axes", Tensor::Ints(std::vector<int64_t>{axis_after}, DataType::kInt64));
    Node together;
    together.op = OpKind::kConcat;
    const int parts = static_cast<int>(g.node(concat).inputs.size()) - 1;
    for (int i = 0; i < parts; ++i) {
      const ValueId part = g.input(concat, i);
      Node wide;
      wide.op = OpKind::kUnsqueeze;
      wide.name = FreshName(g, Concat(label, "/part"));
      wide.device = g.node(transpose).device;
      wide.origin = g.node(transpose).origin;
      wide.inputs = {part, axes};
      std::vector<Dim> dims(g.shape(part).dims().begin(), g.shape(part).dims().end());
      dims.insert(dims.begin() + axis_after, Dim::Of(1));
      const ValueSpec spec = {g.type(part), Shape(dims), "", g.value(part).quantization};
      together.inputs.push_back(g.output(edit.AddNode(std::move(wide), {spec})));
    }
    together.inputs.push_back(constant("axis", Tensor::IntScalar(axis_after, DataType::kInt32)));
    ReplaceByNode(edit, transpose, std::move(together));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseChannelShuffle() { return std::make_unique<FuseChannelShuffle>(); }

}  // namespace halftone
