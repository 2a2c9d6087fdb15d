// SPDX-License-Identifier: Apache-2.0
// (x * clip(x + 3, 0, 6)) / 6  =>  hard_swish(x)
//
// The factors are x, clip(x + 3, 0, 6) (or relu6) and 1/6 (or a division by 6), in every order except clip * 1/6: that
// is a hard_sigmoid (fuse-hard-sigmoid), and x times it is handled by fuse-hard-swish. Legal when the numbers are exact
// to the last digits of their type. Not bit-exact: it rounds in a different order and differs by a unit in the last
// place.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// value = x / 6
std::optional<WithNumber> Sixth(const Graph& g, ValueId value) {
  auto scaled = NumberOperand(g, value, OpKind::kMul);
  if (!scaled.has_value()) {
    scaled = NumberOperand(g, value, OpKind::kDiv, /*swap=*/false);
    if (scaled.has_value()) scaled->number = 1 / scaled->number;
  }
  if (scaled.has_value() && !IsNumber(scaled->number, 1.0 / 6, g.type(value))) scaled.reset();
  return scaled;
}

// value = clip(x + 3, 0, 6): the clip and the sum.
std::vector<NodeId> RaisedClip(const Graph& g, ValueId value, ValueId x) {
  const NodeId clip = g.producer(value);
  if (g.op(clip) != OpKind::kClip && g.op(clip) != OpKind::kRelu6) return {};
  const std::optional<ActivationSpec> spec = ActivationOf(g, clip);
  const bool six = spec.has_value() && (spec->kind == Activation::kRelu6 || (spec->alpha == 0 && spec->beta == 6));
  const auto sum = NumberOperand(g, g.input(clip, 0), OpKind::kAdd);
  if (!six || !sum.has_value() || sum->x != x || sum->number != 3) return {};
  return {clip, sum->node};
}

class FuseHardSwishProduct final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-hard-swish-product"; }
  std::string_view equation() const override { return "(x * clip(x + 3, 0, 6)) / 6 => hard_swish(x)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kMul, OpKind::kDiv}; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    const ValueId y = g.output(root);
    if (const auto sixth = Sixth(g, y); sixth.has_value()) {  // (x * clip) / 6
      if (g.op(sixth->x) != OpKind::kMul) return No("the value divided by 6 is not a multiplication");
      const NodeId product = g.producer(sixth->x);
      return Product(g, root, product, g.input(product, 0), g.input(product, 1));
    }
    if (g.op(root) != OpKind::kMul) return No("it does not divide by 6");
    const auto [a, b] = g.inputs<2>(root);
    if (!a.valid() || !b.valid()) return No("an operand is missing");
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {  // (x / 6) * clip
      const auto sixth = Sixth(g, one);
      if (!sixth.has_value()) continue;
      const std::vector<NodeId> clip = RaisedClip(g, other, sixth->x);
      if (!clip.empty()) return Whole(g, {root, sixth->node, clip[0], clip[1]}, sixth->x);
    }
    return No("no factor is divided by 6");
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kHardSwish;
    node.inputs = {m.value(0)};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  static FindResult Whole(const Graph& g, std::vector<NodeId> nodes, ValueId x) {
    if (!IsFloatingPoint(g.type(x))) return Kept(Concat("its type is an integer type: ", Describe(g, x)));
    if (g.shape(g.output(nodes[0])) != g.shape(x))
      return Kept(DescribeBoth("the numbers are broadcast to another shape", g, x, g.output(nodes[0])));
    return Match(std::move(nodes), {x});
  }
  static FindResult Product(const Graph& g, NodeId root, NodeId product, ValueId a, ValueId b) {
    for (const auto& [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
      if (!x.valid() || !gate.valid()) continue;
      const std::vector<NodeId> clip = RaisedClip(g, gate, x);
      if (!clip.empty()) return Whole(g, {root, product, clip[0], clip[1]}, x);
    }
    const bool near = a.valid() && b.valid() && (g.op(a) == OpKind::kRelu6 || g.op(b) == OpKind::kRelu6);
    return near ? Kept("it is not x * clip(x + 3, 0, 6) / 6") : No("no factor is clip(x + 3, 0, 6)");
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseHardSwishProduct() { return std::make_unique<FuseHardSwishProduct>(); }

}  // namespace halftone
