// SPDX-License-Identifier: Apache-2.0
// x * tanh(softplus(x))  =>  mish(x)
//
// Legal when all three ops have x's type. Not bit-exact: it rounds once where the ops round three times.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseMish final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-mish"; }
  std::string_view equation() const override { return "x * tanh(softplus(x)) => mish(x)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    auto [x, gate] = g.inputs<2>(mul);
    if (!x.valid() || !gate.valid()) return No("an operand is missing");
    if (!IsGate(g, gate)) std::swap(x, gate);
    if (!IsGate(g, gate)) return No("no operand is the tanh of a softplus");
    const NodeId tanh = g.producer(gate), softplus = g.producer(g.input(tanh, 0));
    if (g.input(softplus, 0) != x) {  // x may be the tanh of a softplus itself
      std::swap(x, gate);
      if (!IsGate(g, gate) || g.input(g.producer(g.input(g.producer(gate), 0)), 0) != x)
        return Kept(DescribeBoth("the gate reads a different value", g, x, g.input(g.producer(g.input(tanh, 0)), 0)));
    }
    const NodeId gate_node = g.producer(gate);
    const NodeId inner = g.producer(g.input(gate_node, 0));
    if (HasActivation(g, inner))
      return Kept(Concat("the softplus has an activation: ", g.node(inner).attributes.String("activation", "")));
    return Match({mul, gate_node, inner}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kMish;
    node.inputs = {m.value(0)};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  static bool IsGate(const Graph& g, ValueId value) {
    if (g.op(value) != OpKind::kTanh) return false;
    const ValueId inner = g.input(g.producer(value), 0);
    return inner.valid() && g.op(inner) == OpKind::kSoftplus;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseMish() { return std::make_unique<FuseMish>(); }

}  // namespace halftone
