// SPDX-License-Identifier: Apache-2.0
// activation(view(contraction(x)))  =>  view(contraction(x) {activation})
//
// Views: reshape, squeeze, unsqueeze, flatten, transpose. An elementwise op gives the same result before and after
// elements move. Keras writes its Dense layers of more than two dimensions and its 1-D convolutions this way. Legal
// when contraction and view have no other consumers, the contraction has no activation yet, and the target has the
// kernel. Bit-exact as fuse-activation is.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/views.h"

namespace halftone {
namespace {

class FuseActivationAfterView final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-activation-after-view"; }
  std::string_view equation() const override {
    return "activation(view(contraction(x))) => view(contraction(x) {activation})";
  }
  OpSet root() const override { return ActivationOps(); }

  FindResult Find(const Graph& g, NodeId activation, const Target& target) const override {
    const ValueId moved = g.input(activation, 0);
    if (!moved.valid()) return No("it has no input");
    const NodeId view = g.producer(moved);
    if (!IsView(g, view) && g.op(view) != OpKind::kTranspose) return No("the input is not a view");
    const ValueId result = g.input(view, 0);
    if (!result.valid() || !IsContraction(g, g.producer(result))) return No("it is not a view of a conv or matmul");
    const NodeId contraction = g.producer(result);
    if (HasActivation(g, contraction)) return No("there is an activation already");
    const std::optional<ActivationSpec> spec = ActivationOf(g, activation);
    if (!spec.has_value()) return Kept("the bounds are not constant");
    if (spec->kind == Activation::kClip && !(spec->alpha <= spec->beta))
      return Kept(Concat("the bounds are not in order: ", spec->alpha, " and ", spec->beta));
    const absl::Status supported = target.SupportsFused(g, contraction, {.activation = spec->kind});
    if (!supported.ok()) return Kept(Describe(g, contraction, supported));
    return Match({activation, view, contraction});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [activation, view, contraction] = m.nodes<3>();
    AttachActivation(edit, contraction, *ActivationOf(edit.graph(), activation));
    PutViewLast(edit, view, activation);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseActivationAfterView() { return std::make_unique<FuseActivationAfterView>(); }

}  // namespace halftone
