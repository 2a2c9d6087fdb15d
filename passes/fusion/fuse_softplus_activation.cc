// SPDX-License-Identifier: Apache-2.0
// activation(softplus(x))  =>  softplus(x) {activation}
//
// Legal for floats, when the softplus has no other consumer and no activation yet, the activation's parameters are
// constants, and the target has the kernel. Bit-exact in f32 where the kernel computes both as the nodes do; below f32
// it rounds once where the two ops round twice.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseSoftplusActivation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-softplus-activation"; }
  std::string_view equation() const override { return "activation(softplus(x)) => softplus(x) {activation}"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return ActivationOps(); }

  FindResult Find(const Graph& g, NodeId activation, const Target& target) const override {
    const ValueId x = g.input(activation, 0);
    if (!x.valid() || g.op(x) != OpKind::kSoftplus) return No("the input is not a softplus");
    const NodeId softplus = g.producer(x);
    if (HasActivation(g, softplus)) return Kept("there is an activation already");
    const std::optional<ActivationSpec> spec = ActivationOf(g, activation);
    if (!spec.has_value()) return Kept("the bounds are not constant");
    if (spec->kind == Activation::kClip && !(spec->alpha <= spec->beta))
      return Kept(Concat("the bounds are not in order: ", spec->alpha, " and ", spec->beta));
    const absl::Status supported = target.SupportsFused(g, softplus, {.activation = spec->kind});
    if (!supported.ok()) return Kept(Describe(g, softplus, supported));
    return Match({activation, softplus});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [activation, softplus] = m.nodes<2>();
    const ActivationSpec spec = *ActivationOf(edit.graph(), activation);
    ReplaceByFused(edit, softplus, activation, [&](NodeId fused) { AttachActivation(edit, fused, spec); });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseSoftplusActivation() { return std::make_unique<FuseSoftplusActivation>(); }

}  // namespace halftone
