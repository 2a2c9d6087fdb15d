// SPDX-License-Identifier: Apache-2.0
// x * hard_sigmoid(x) {alpha=1/6, beta=0.5}  =>  hard_swish(x)
//
// Legal when the slope is the f32 number 1/6 and the offset is 0.5: by definition the same function. Below f32 it
// rounds once where the two ops round twice.

#include "base/strings.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseHardSwish final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-hard-swish"; }
  std::string_view equation() const override { return "x * hard_sigmoid(x) {alpha=1/6, beta=0.5} => hard_swish(x)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId mul, const Target&) const override {
    auto [x, gate] = g.inputs<2>(mul);
    if (!x.valid() || !gate.valid()) return No("an operand is missing");
    if (g.op(gate) != OpKind::kHardSigmoid || g.input(g.producer(gate), 0) != x) std::swap(x, gate);
    if (g.op(gate) != OpKind::kHardSigmoid) return No("no operand is a hard_sigmoid");
    const NodeId sigmoid = g.producer(gate);
    if (g.input(sigmoid, 0) != x) return No("the hard_sigmoid reads a different value");
    const ActivationSpec spec = *ActivationOf(g, sigmoid);
    if (spec.alpha != 1.0f / 6 || spec.beta != 0.5f)
      return Kept(Concat("its slope is not 1/6 or its offset not 0.5: ", spec.alpha, " and ", spec.beta));
    return Match({mul, sigmoid}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kHardSwish;
    node.inputs = {m.value(0)};
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseHardSwish() { return std::make_unique<FuseHardSwish>(); }

}  // namespace halftone
