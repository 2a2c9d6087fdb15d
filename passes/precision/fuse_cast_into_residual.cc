// SPDX-License-Identifier: Apache-2.0
// contraction(x, w, b, cast(r))  =>  contraction(x, w, b, r)          (conv and matmul)
//
// The kernel reads a residual of type f32, bf16 or f16 directly and adds in f32. Legal when the cast has no other
// consumer: otherwise it would be computed anyway. Bit-exact if the cast widens; if it narrows, its rounding is
// omitted.

#include "passes/core/guards.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

class FuseCastIntoResidual final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-cast-into-residual"; }
  std::string_view equation() const override { return "contraction(x, w, b, cast(r)) => contraction(x, w, b, r)"; }
  OpSet root() const override { return {OpKind::kConv, OpKind::kMatMul}; }

  FindResult Find(const Graph& g, NodeId contraction, const Target& target) const override {
    const ValueId residual = g.input(contraction, kResidualInput);
    if (!residual.valid()) return No("it has no residual");
    const ValueId r = CastFrom(g, residual);
    if (!r.valid()) return No("the residual is not a cast between f32, bf16 and f16");
    if (const std::string need = OtherNeed(g, residual); !need.empty()) return Kept(need);
    if (const absl::Status supported = target.SupportsFused(g, contraction, {}); !supported.ok())
      return Kept(Describe(g, contraction, supported));
    return Match({contraction}, {r});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    edit.SetInput(m.root(), kResidualInput, m.value(0));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseCastIntoResidual() { return std::make_unique<FuseCastIntoResidual>(); }

}  // namespace halftone
