// SPDX-License-Identifier: Apache-2.0
// minimum(maximum(x, low), high)  =>  clip(x, low, high)      and maximum(minimum(x, high), low)
//
// A GraphDef holds tf.clip_by_value as these two nodes, and exporters write relu6 this way. Legal when low and high are
// constant f32 numbers, low is not above high, x is floating-point and the result has the shape of x. Bit-exact except
// for NaN, which stays NaN.

#include <optional>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// y = the minimum (maximum) of x and a number.
std::optional<WithNumber> AtMost(const Graph& g, ValueId y) {
  const auto bounded = NumberOperand(g, y, OpKind::kMinimum);
  return bounded.has_value() ? bounded : NumberOperand(g, y, OpKind::kMinN);
}
std::optional<WithNumber> AtLeast(const Graph& g, ValueId y) {
  const auto bounded = NumberOperand(g, y, OpKind::kMaximum);
  return bounded.has_value() ? bounded : NumberOperand(g, y, OpKind::kMaxN);
}

struct Bounds {
  WithNumber outer, inner;
  double low = 0, high = 0;
};
std::optional<Bounds> BoundsOf(const Graph& g, ValueId y) {
  if (const auto high = AtMost(g, y); high.has_value()) {
    const auto low = AtLeast(g, high->x);
    if (!low.has_value()) return std::nullopt;
    return Bounds{*high, *low, low->number, high->number};
  }
  const auto low = AtLeast(g, y);
  const auto high = low.has_value() ? AtMost(g, low->x) : std::nullopt;
  if (!high.has_value()) return std::nullopt;
  return Bounds{*low, *high, low->number, high->number};
}

class FuseClip final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-clip"; }
  std::string_view equation() const override { return "minimum(maximum(x, low), high) => clip(x, low, high)"; }
  bool makes_one_node() const override { return true; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return {OpKind::kMinimum, OpKind::kMinN, OpKind::kMaximum, OpKind::kMaxN}; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    const std::optional<Bounds> bounds = BoundsOf(g, g.output(root));
    if (!bounds.has_value()) return No("it is not a minimum and a maximum with numbers");
    const ValueId x = bounds->inner.x;
    if (!IsFloatingPoint(g.type(x))) return Kept("its type is an integer type");
    for (const double bound : {bounds->low, bounds->high}) {  // attributes and files hold f32
      if (static_cast<float>(bound) != bound) return Kept(Concat("the bound ", bound, " is not an f32 number"));
    }
    if (!(bounds->low <= bounds->high))
      return Kept(Concat("the lower bound is above the upper one: ", bounds->low, " and ", bounds->high));
    if (g.shape(g.output(root)) != g.shape(x))
      return Kept(DescribeBoth("a bound is broadcast to another shape", g, x, g.output(root)));
    return Match({root, bounds->inner.node}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Bounds bounds = *BoundsOf(g, g.output(m.root()));
    const ActivationSpec clip = {Activation::kClip, static_cast<float>(bounds.low), static_cast<float>(bounds.high)};
    ReplaceByNode(edit, m.root(), ActivationNode(edit, m.value(0), clip, g.Label(m.root())));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseClip() { return std::make_unique<FuseClip>(); }

}  // namespace halftone
