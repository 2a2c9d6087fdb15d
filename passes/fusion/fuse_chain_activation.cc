// SPDX-License-Identifier: Apache-2.0
// activation(x0 op x1 ..)  =>  binary_chain(x0, x1, ..) {ops, activation}
//
// After one binary op or a binary_chain: for example the add and relu of a residual that could not be fused into a
// contraction, or of batch norms. Legal for floats, when the op's result has no other consumer, the op has no
// activation yet, and the target has the kernel. Bit-exact in f32; below f32 it rounds once where each op rounds.

#include "base/strings.h"
#include "ir/binary_chain.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/binary_steps.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseChainActivation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-chain-activation"; }
  std::string_view equation() const override {
    return "activation(x0 op x1 ..) => binary_chain(x0, x1, ..) {ops, activation}";
  }
  OpSet root() const override { return ActivationOps(); }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId activation, const Target& target) const override {
    const ValueId x = g.input(activation, 0);
    if (!x.valid()) return No("it has no input");
    const NodeId op = g.producer(x);
    if (!StepOps().has(g.op(op)) && g.op(op) != OpKind::kBinaryChain) return No("the input is not a binary op");
    if (HasActivation(g, op)) return No("there is an activation already");
    if (!IsFloatingPoint(g.type(x))) return No("its type is not floating-point");
    const std::optional<ActivationSpec> spec = ActivationOf(g, activation);
    if (!spec.has_value()) return Kept("the bounds are not constant");
    if (spec->kind == Activation::kClip && !(spec->alpha <= spec->beta))
      return Kept(Concat("the bounds are not in order: ", spec->alpha, " and ", spec->beta));
    for (const ValueId input : g.node(op).inputs) {
      if (!input.valid() || g.type(input) != g.type(x))
        return Kept(Concat("the type of an operand differs from ", Describe(g, x)));
    }
    const absl::Status supported = target.SupportsOp(g, OpKind::kBinaryChain, g.node(op).inputs);
    if (!supported.ok()) return Kept(Describe(g, op, supported));
    return Match({activation, op});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [activation, op] = m.nodes<2>();
    const Graph& g = edit.graph();
    const ActivationSpec spec = *ActivationOf(g, activation);
    Node node;
    node.op = OpKind::kBinaryChain;
    node.inputs = g.node(op).inputs;
    if (g.op(op) == OpKind::kBinaryChain) {
      node.attributes = g.node(op).attributes;
    } else {
      const ChainStep step{g.op(op), /*reversed=*/false};
      node.attributes.Set("ops", std::vector<std::string>{std::string(ChainStepName(step))});
    }
    AttachActivation(node.attributes, spec);
    ReplaceByNode(edit, activation, std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseChainActivation() { return std::make_unique<FuseChainActivation>(); }

}  // namespace halftone
