// SPDX-License-Identifier: Apache-2.0
// cast(compare(a, b)) to a number type  =>  compare(a, b) with that type
//
// Comparisons: equal, not_equal, less, less_equal, greater, greater_equal. Legal when the bool result has no other
// consumer and the cast is to a number type. Bit-exact: 1 and 0.

#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

bool IsComparison(OpKind op) {
  switch (op) {
    case OpKind::kEqual:
    case OpKind::kNotEqual:
    case OpKind::kLess:
    case OpKind::kLessEqual:
    case OpKind::kGreater:
    case OpKind::kGreaterEqual:
      return true;
    default:
      return false;
  }
}

class FuseComparisonCast final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-comparison-cast"; }
  std::string_view equation() const override { return "cast(compare(a, b)) => compare(a, b) with the cast's type"; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId cast, const Target&) const override {
    const ValueId truth = g.input(cast, 0);
    if (!truth.valid() || !IsComparison(g.op(truth))) return No("the input is not a comparison");
    const DataType type = g.type(g.output(cast));
    if (g.type(truth) != DataType::kBool) return Kept("the comparison already has a number type");
    if (type == DataType::kBool || ElementSize(type) == 0) return Kept("it does not cast to a number type");
    return Match({cast, g.producer(truth)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [cast, comparison] = m.nodes<2>();
    const Graph& g = edit.graph();
    const NodeId fused = edit.Clone(comparison);
    edit.SetType(g.output(fused), g.type(g.output(cast)));
    edit.SetShape(g.output(fused), g.shape(g.output(cast)));
    edit.ReplaceNode(cast, fused);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseComparisonCast() { return std::make_unique<FuseComparisonCast>(); }

}  // namespace halftone
