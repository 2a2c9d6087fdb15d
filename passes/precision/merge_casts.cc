// SPDX-License-Identifier: Apache-2.0
// cast(cast(x))  =>  cast(x)
//
// Legal if the intermediate type represents every value of x's type exactly, so that the first cast does not round. f32
// -> bf16 -> f32 is not such a chain. Other consumers of the first cast keep it. Bit-exact.

#include "passes/core/reasons.h"
#include "passes/precision/conversions.h"

namespace halftone {
namespace {

// Whether `wide` represents every value of `narrow` exactly.
bool Holds(DataType wide, DataType narrow) {
  if (wide == narrow) return true;
  switch (narrow) {
    case DataType::kBFloat16:
    case DataType::kFloat16:
      return wide == DataType::kFloat32 || wide == DataType::kFloat64;
    case DataType::kFloat32:
      return wide == DataType::kFloat64;
    default:
      return false;
  }
}

class MergeCasts final : public RewriteRule {
 public:
  std::string_view name() const override { return "merge-casts"; }
  std::string_view equation() const override { return "cast(cast(x)) => cast(x)"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId outer, const Target&) const override {
    const ValueId middle = g.input(outer, 0);
    if (!middle.valid() || g.op(middle) != OpKind::kCast) return No("the input is not a cast");
    const ValueId x = g.input(g.producer(middle), 0);
    if (!x.valid() || !Holds(g.type(middle), g.type(x)))
      return Kept(DescribeBoth("the first cast changes values", g, x, middle));
    return Match({outer}, {x});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    edit.SetInput(m.root(), 0, m.value(0));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeCasts() { return std::make_unique<MergeCasts>(); }

}  // namespace halftone
