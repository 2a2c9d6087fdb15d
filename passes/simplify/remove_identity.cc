// SPDX-License-Identifier: Apache-2.0
// identity(x)  =>  x
//
// Legal where no name is lost: the result is neither an output of the graph nor read by name inside a subgraph, and no
// control edge leads through the node. Bit-exact.

#include "passes/core/reasons.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

class RemoveIdentity final : public RewriteRule {
 public:
  std::string_view name() const override { return "remove-identity"; }
  std::string_view equation() const override { return "identity(x) => x"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kIdentity; }

  FindResult Find(const Graph& g, NodeId identity, const Target&) const override {
    const ValueId x = g.input(identity, 0);
    const ValueId y = g.output(identity);
    if (!x.valid()) return No("it has no input");
    if (g.IsOutput(y)) return Kept("it is an output of the graph");
    if (g.IsCaptured(y)) return Kept("a subgraph reads it by name");
    if (g.type(x) != g.type(y)) return Kept(DescribeBoth("the types are not known to be equal", g, x, y));
    return Match({identity}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override { return Bypass(m, m.value(0), edit); }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeRemoveIdentity() { return std::make_unique<RemoveIdentity>(); }

}  // namespace halftone
