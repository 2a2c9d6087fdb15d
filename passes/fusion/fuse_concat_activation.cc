// SPDX-License-Identifier: Apache-2.0
// activation(concat(conv0, conv1, ..))  =>  concat(conv0 {activation}, conv1 {activation}, ..)
//
// Fuses the activation of an inception block into each convolution (or matmul) of the concat. Legal when every part is
// a conv or matmul that has no activation yet and no other consumer, the activation's parameters are constants, and the
// target has the kernel for each. Bit-exact in f32 where the kernel computes the activation as the node does; below f32
// it rounds once where the two ops round twice.

#include <set>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseConcatActivation final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-concat-activation"; }
  std::string_view equation() const override {
    return "activation(concat(conv0, conv1)) => concat(conv0 {activation}, conv1 {activation})";
  }
  OpSet root() const override { return ActivationOps(); }

  FindResult Find(const Graph& g, NodeId activation, const Target& target) const override {
    const ValueId whole = g.input(activation, 0);
    if (!whole.valid() || g.op(whole) != OpKind::kConcat) return No("the input is not a concat");
    const NodeId concat = g.producer(whole);
    std::vector<NodeId> nodes = {activation, concat};
    std::set<NodeId> seen;
    for (int i = 0; i < Parts(g, concat); ++i) {
      const ValueId part = g.input(concat, i);
      if (!IsContraction(g, g.producer(part))) return No("a part is not made by a conv or matmul");
      if (!seen.insert(g.producer(part)).second) return Kept(Concat("a part occurs twice: ", Describe(g, part)));
      nodes.push_back(g.producer(part));
    }
    const std::optional<ActivationSpec> spec = ActivationOf(g, activation);
    if (!spec.has_value())
      return Kept(DescribeBoth("the bounds are not constant", g, g.input(activation, 1), g.input(activation, 2)));
    if (spec->kind == Activation::kClip && !(spec->alpha <= spec->beta))
      return Kept(Concat("the bounds are not in order: ", spec->alpha, " and ", spec->beta));
    for (const NodeId part : seen) {
      if (HasActivation(g, part))
        return Kept(Concat("a part has an activation already: '", g.Label(part), "' ",
                           g.node(part).attributes.String("activation", "")));
      const absl::Status supported = target.SupportsFused(g, part, {.activation = spec->kind});
      if (!supported.ok()) return Kept(Describe(g, part, supported));
    }
    return Match(std::move(nodes));
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const auto [activation, concat] = m.nodes<2>();
    const ActivationSpec spec = *ActivationOf(g, activation);
    for (int i = 0; i < Parts(g, concat); ++i) AttachActivation(edit, g.producer(g.input(concat, i)), spec);
    const NodeId together = edit.Clone(concat);
    edit.ReplaceNode(activation, together);
    return absl::OkStatus();
  }

 private:
  static int Parts(const Graph& g, NodeId concat) { return static_cast<int>(g.node(concat).inputs.size()) - 1; }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseConcatActivation() { return std::make_unique<FuseConcatActivation>(); }

}  // namespace halftone
