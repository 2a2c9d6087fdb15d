// SPDX-License-Identifier: Apache-2.0
// activation(op(x, ..))  =>  op(x, ..) {activation}
//
// Ops: conv, matmul, matmul_integer_to_float, batch_norm, instance_norm. Activations: relu, relu6, clip with constant
// bounds in order, elu, leaky_relu, tanh, sigmoid, swish, hard_swish, hard_sigmoid, gelu (both), mish. Legal when the
// op has no activation yet and the target has the kernel. Bit-exact in f32 where the kernel computes the activation as
// the node does; below f32 it rounds once where the two ops round twice.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseActivation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-activation"; }
  std::string_view equation() const override {
    return "activation(op(..)) => op(..) {activation}, op: conv, matmul, matmul_integer_to_float, batch_norm or "
           "instance_norm";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return ActivationOps(); }

  FindResult Find(const Graph& g, NodeId activation, const Target& target) const override {
    const ValueId result = g.input(activation, 0);
    if (!result.valid()) return No("it has no input");
    const NodeId contraction = g.producer(result);
    const OpKind op = g.op(contraction);
    if (!IsContraction(g, contraction) && op != OpKind::kMatMulIntegerToFloat && op != OpKind::kBatchNorm &&
        op != OpKind::kInstanceNorm) {
      return No("the input is not a conv, matmul, matmul_integer_to_float, batch_norm or instance_norm");
    }
    if (result != g.output(contraction)) return No("its input is not the first output");
    if (HasActivation(g, contraction)) return No("there is an activation already");
    const std::optional<ActivationSpec> spec = ActivationOf(g, activation);
    if (!spec.has_value())
      return Kept(Concat("the bounds are not constant: ", Describe(g, g.input(activation, 1)), ", ",
                         Describe(g, g.input(activation, 2))));
    if (spec->kind == Activation::kClip && !(spec->alpha <= spec->beta))
      return Kept(Concat("the bounds are not in order: ", spec->alpha, " and ", spec->beta));
    const absl::Status supported = target.SupportsFused(g, contraction, {.activation = spec->kind});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({activation, contraction});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [activation, contraction] = m.nodes<2>();
    const ActivationSpec spec = *ActivationOf(edit.graph(), activation);
    ReplaceByFused(edit, contraction, activation, [&](NodeId fused) { AttachActivation(edit, fused, spec); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseActivation() { return std::make_unique<FuseActivation>(); }

}  // namespace halftone
