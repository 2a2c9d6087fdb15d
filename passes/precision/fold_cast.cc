// SPDX-License-Identifier: Apache-2.0
// cast(constant)  =>  constant of that type
//
// Legal for number types, when the result is not an output of the graph. The old constant stays for its other
// consumers. f32 to bf16 rounds to nearest even, as the cast does: bit-exact.

#include "passes/core/reasons.h"
#include "passes/precision/conversions.h"

namespace halftone {
namespace {

class FoldCast final : public RewriteRule {
 public:
  std::string_view name() const override { return "fold-cast"; }
  std::string_view equation() const override { return "cast(constant) => constant"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId cast, const Target&) const override {
    const ValueId x = g.input(cast, 0);
    const ValueId y = g.output(cast);
    if (!x.valid() || !g.IsConstant(x)) return No("the input is not a constant");
    if (ElementSize(g.type(x)) == 0 || ElementSize(g.type(y)) == 0)
      return Kept(DescribeBoth("it does not convert numbers", g, x, y));
    if (g.IsOutput(y) || g.IsCaptured(y)) return Kept("the name of the result is used outside the graph");
    return Match({cast}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    absl::StatusOr<Tensor> tensor = g.ConstantTensor(m.value(0))->ConvertTo(g.type(g.output(m.root())));
    if (!tensor.ok()) return tensor.status();
    const ValueId constant = edit.AddConstant("", *std::move(tensor));
    edit.ReplaceNode(m.root(), g.producer(constant));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFoldCast() { return std::make_unique<FoldCast>(); }

}  // namespace halftone
