// SPDX-License-Identifier: Apache-2.0
// x * sigmoid(x)  =>  swish(x)          x * sigmoid(a * x)  =>  swish(x) {alpha=a}
//
// Legal when a is a constant number and both ops have x's type. Bit-exact in f32 up to the last digit of the sigmoid;
// below f32 it rounds once where the two ops round twice.

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseSwish final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-swish"; }
  std::string_view equation() const override { return "x * sigmoid(a * x) => swish(x) {alpha=a}"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    const auto [left, right] = g.inputs<2>(mul);
    if (!left.valid() || !right.valid()) return No("an operand is missing");
    const FindResult one = TryOperand(g, mul, left, right), other = TryOperand(g, mul, right, left);
    if (std::holds_alternative<Match>(one)) return one;
    return std::holds_alternative<Match>(other) || !std::get<Refusal>(one).matched ? other : one;
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    Node node;
    node.op = OpKind::kSwish;
    node.inputs = {m.value(0)};
    if (m.nodes().size() == 3) {
      const double factor = NumberOperand(g, g.output(m.nodes()[2]), OpKind::kMul)->number;
      node.attributes.Set("alpha", static_cast<float>(factor));
    }
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  static FindResult TryOperand(const Graph& g, NodeId mul, ValueId x, ValueId gate) {
    if (g.op(gate) != OpKind::kSigmoid) return No("no operand is a sigmoid");
    const NodeId sigmoid = g.producer(gate);
    const ValueId argument = g.input(sigmoid, 0);
    if (argument == x) return Match({mul, sigmoid}, {x});
    const std::optional<WithNumber> scaled = NumberOperand(g, argument, OpKind::kMul);
    if (!scaled.has_value() || scaled->x != x) return No("the sigmoid reads a different value");
    if (g.shape(argument) != g.shape(x))
      return Kept(DescribeBoth("the factor is broadcast to another shape", g, argument, x));
    return Match({mul, sigmoid, scaled->node}, {x});
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseSwish() { return std::make_unique<FuseSwish>(); }

}  // namespace halftone
