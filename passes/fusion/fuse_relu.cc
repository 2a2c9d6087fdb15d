// SPDX-License-Identifier: Apache-2.0
// maximum(x, 0)  =>  relu(x)
//
// Legal when x is floating-point and the result has the shape of x. Bit-exact except for NaN, which stays NaN, and the
// sign of zero.

#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseRelu final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-relu"; }
  std::string_view equation() const override { return "maximum(x, 0) => relu(x)"; }
  bool makes_one_node() const override { return true; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return {OpKind::kMaximum, OpKind::kMaxN}; }

  FindResult Find(const Graph& g, NodeId maximum, const Target&) const override {
    const auto bounded = NumberOperand(g, g.output(maximum), g.op(maximum));
    if (!bounded.has_value() || bounded->number != 0) return No("the other operand is not 0");
    if (!IsFloatingPoint(g.type(bounded->x))) return Kept("its type is an integer type");
    if (g.shape(g.output(maximum)) != g.shape(bounded->x))
      return Kept(DescribeBoth("the zero is broadcast to another shape", g, bounded->x, g.output(maximum)));
    return Match({maximum}, {bounded->x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    ReplaceByNode(edit, m.root(), ActivationNode(edit, m.value(0), {Activation::kRelu}, ""));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseRelu() { return std::make_unique<FuseRelu>(); }

}  // namespace halftone
