// SPDX-License-Identifier: Apache-2.0
// cast(contraction(x, w, ..))  =>  contraction(x, w, ..) with a result of the cast's type
//
// Contractions: conv, matmul, gemm, conv_transpose, with the ops fused into them. Legal when the cast is between f32,
// bf16 and f16, the contraction has no other consumer, and the target's kernel writes that type. Not bit-exact if the
// cast widens: the f32 sums are not rounded to the narrow type first. Bit-exact if it narrows.

#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

class FuseCastIntoContraction final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-cast-into-contraction"; }
  std::string_view equation() const override {
    return "cast(contraction(x, w)) => contraction(x, w) of that type: conv, matmul, gemm, conv_transpose";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId cast, const Target& target) const override {
    return FindResultCast(g, cast, target, MathModeOps());
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override { return ApplyResultCast(m, edit); }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseCastIntoContraction() { return std::make_unique<FuseCastIntoContraction>(); }

}  // namespace halftone
