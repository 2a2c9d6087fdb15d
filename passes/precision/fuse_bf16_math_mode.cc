// SPDX-License-Identifier: Apache-2.0
// contraction(cast(x), cast(w)) -> f32  =>  contraction(x, w) {math_mode="bf16"} -> f32      (x, w: f32; casts to bf16)
//
// Contractions: conv, matmul, gemm, conv_transpose. The weights may be a bf16 constant instead, which stays unchanged.
// Legal when the result is f32 (fuse-cast-into-contraction makes it f32), all other consumers of the casts are such
// contractions as well, and the target has a kernel that rounds its operands to bf16 (oneDNN's fpmath_mode). Bit-exact:
// the operands are rounded like the casts do, sums are f32.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;

// The f32 value before a cast to bf16; kNoValue if there is no such cast.
ValueId Unrounded(const Graph& g, ValueId value) {
  const ValueId from = CastFrom(g, value);
  return from.valid() && g.type(from) == kF32 && g.type(value) == kBf16 ? from : kNoValue;
}

// "" if the contraction can use the bf16 math mode, else the reason.
std::string WhyNot(const Graph& g, NodeId contraction) {
  if (!MathModeOps().has(g.op(contraction))) return "it is not a conv, matmul, gemm or conv_transpose";
  if (g.type(g.output(contraction)) != kF32) return "the result is not f32";
  if (!Unrounded(g, g.input(contraction, 0)).valid()) return "the operand is not a cast from f32 to bf16";
  const ValueId weights = g.input(contraction, kWeightsInput);
  if (!Unrounded(g, weights).valid() && !(g.IsConstant(weights) && g.type(weights) == kBf16))
    return "the weights are neither a cast nor a constant";
  return "";
}

class FuseBf16MathMode final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-bf16-math-mode"; }
  std::string_view equation() const override {
    return "contraction(cast(x), cast(w)) => contraction(x, w) {math_mode=\"bf16\"}";
  }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return MathModeOps(); }

  FindResult Find(const Graph& g, NodeId contraction, const Target& target) const override {
    if (std::string why = WhyNot(g, contraction); !why.empty()) return No(std::move(why));
    for (const int operand : {0, kWeightsInput}) {
      const ValueId cast = g.input(contraction, operand);
      if (!Unrounded(g, cast).valid()) continue;
      if (g.IsOutput(cast) || g.IsCaptured(cast))
        return Kept(Concat(Describe(g, cast), ": its name is used outside the graph"));
      for (const Use& use : g.uses(cast)) {
        if (use.index > kWeightsInput || !WhyNot(g, use.node).empty())
          return Kept(Concat(Describe(g, cast), " has another user: '", g.Label(use.node), "'"));
      }
    }
    if (!RunsAs(target, g, contraction, {kF32, kF32, kF32, true, /*bf16_math=*/true}))
      return Kept(Concat("no kernel for ", OpName(g.op(contraction)), " of f32 in bf16 math mode"));
    return Match({contraction});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    for (const int operand : {0, kWeightsInput}) {
      const ValueId from = Unrounded(g, g.input(m.root(), operand));
      if (from.valid()) edit.SetInput(m.root(), operand, from);
    }
    edit.SetAttribute(m.root(), "math_mode", std::string("bf16"));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseBf16MathMode() { return std::make_unique<FuseBf16MathMode>(); }

}  // namespace halftone
