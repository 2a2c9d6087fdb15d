// SPDX-License-Identifier: Apache-2.0
// cast(x)  =>  x          where x already has that type
//
// Legal if no name is lost: the result is neither an output nor read by name inside a subgraph. Bit-exact.

#include "passes/precision/conversions.h"

namespace halftone {
namespace {

class RemoveCast final : public RewriteRule {
 public:
  std::string_view name() const override { return "remove-cast"; }
  std::string_view equation() const override { return "cast(x) => x"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId cast, const Target&) const override {
    const ValueId x = g.input(cast, 0);
    const ValueId y = g.output(cast);
    if (!x.valid() || g.type(x) != g.type(y) || g.type(x) == DataType::kUnknown) return No("it changes the type");
    if (g.IsOutput(y)) return Kept("it is an output of the graph");
    if (g.IsCaptured(y)) return Kept("a subgraph reads it by name");
    return Match({cast}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override { return Bypass(m, m.value(0), edit); }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeRemoveCast() { return std::make_unique<RemoveCast>(); }

}  // namespace halftone
