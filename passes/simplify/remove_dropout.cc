// SPDX-License-Identifier: Apache-2.0
// dropout(x)  =>  x
//
// Legal at inference: `training` is absent or a constant false, the mask has no consumers, and no name is lost.
// Bit-exact.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

class RemoveDropout final : public RewriteRule {
 public:
  std::string_view name() const override { return "remove-dropout"; }
  std::string_view equation() const override { return "dropout(x) => x"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kDropout; }

  FindResult Find(const Graph& g, NodeId dropout, const Target&) const override {
    const ValueId x = g.input(dropout, 0);
    const ValueId y = g.output(dropout, 0);
    const ValueId mask = g.output(dropout, 1);
    const ValueId training = g.input(dropout, 2);
    if (!x.valid() || !y.valid()) return No("it has no input or output");
    if (training.valid() && g.ConstantScalar(training).value_or(1) != 0)
      return Kept(Concat("it is in training mode, or may be: ", Describe(g, training)));
    if (mask.valid() && (!g.uses(mask).empty() || g.IsOutput(mask)))
      return Kept(Concat("the mask has consumers: ", Describe(g, mask)));
    if (g.IsOutput(y)) return Kept("it is an output of the graph");
    if (g.IsCaptured(y)) return Kept("a subgraph reads it by name");
    return Match({dropout}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override { return Bypass(m, m.value(0), edit); }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeRemoveDropout() { return std::make_unique<RemoveDropout>(); }

}  // namespace halftone
