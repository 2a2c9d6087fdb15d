// SPDX-License-Identifier: Apache-2.0
// cast(op(x, ..))  =>  op(x, ..) with a result of the cast's type
//
// Ops: softmax, log_softmax, layer_norm. Legal when the cast is between f32, bf16 and f16, the op has no other consumer
// and no further results, and the target's kernel writes that type. Not bit-exact if the cast widens: the op computes
// in f32, and the intermediate rounding is omitted.

#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

class FuseCastIntoResult final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-cast-into-result"; }
  std::string_view equation() const override {
    return "cast(op(x)) => op(x) of that type, op: softmax, log_softmax or layer_norm";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kCast; }

  FindResult Find(const Graph& g, NodeId cast, const Target& target) const override {
    return FindResultCast(g, cast, target, {OpKind::kSoftmax, OpKind::kLogSoftmax, OpKind::kLayerNorm});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override { return ApplyResultCast(m, edit); }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseCastIntoResult() { return std::make_unique<FuseCastIntoResult>(); }

}  // namespace halftone
