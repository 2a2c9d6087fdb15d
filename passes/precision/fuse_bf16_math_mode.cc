// product(cast(x), cast(w)) -> f32  =>  product(x, w) {math_mode="bf16"} -> f32          (x, w: f32; casts to bf16)
//
// Products: conv, matmul, gemm, conv_transpose. The weights may be a constant of bf16 instead, which stays as it is.
// Legal when the result is f32 (fuse-cast-into-contraction brings it there), whoever else reads the casts is such a product
// too, and the target rounds operands on the way in. Bit-exact: the operands are rounded as the casts do, sums are f32.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;

// The f32 that a cast rounded to bf16.
ValueId Unrounded(const Graph& g, ValueId value) {
  const ValueId from = CastFrom(g, value);
  return from.valid() && g.type(from) == kF32 && g.type(value) == kBf16 ? from : kNoValue;
}

// "" or why the product does not compute so.
std::string WhyNot(const Graph& g, NodeId product) {
  if (!MathModeOps().has(g.op(product))) return "no product";
  if (g.type(g.output(product)) != kF32) return "the result is not f32";
  if (!Unrounded(g, g.input(product, 0)).valid()) return "the operand is no cast from f32 to bf16";
  const ValueId weights = g.input(product, kWeightsInput);
  if (!Unrounded(g, weights).valid() && !(g.IsConstant(weights) && g.type(weights) == kBf16))
    return "the weights are neither a cast nor a constant";
  return "";
}

class FuseBf16MathMode final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-bf16-math-mode"; }
  std::string_view equation() const override {
    return "product(cast(x), cast(w)) => product(x, w) {math_mode=\"bf16\"}";
  }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return MathModeOps(); }

  FindResult Find(const Graph& g, NodeId product, const Target& target) const override {
    if (std::string why = WhyNot(g, product); !why.empty()) return No(std::move(why));
    for (const int operand : {0, kWeightsInput}) {
      const ValueId cast = g.input(product, operand);
      if (!Unrounded(g, cast).valid()) continue;
      if (g.IsOutput(cast) || g.IsCaptured(cast)) return Kept(Concat(Describe(g, cast), " is known by name outside"));
      for (const Use& use : g.uses(cast)) {
        if (use.index > kWeightsInput || !WhyNot(g, use.node).empty())
          return Kept(Concat(Describe(g, cast), " has another user: '", g.Label(use.node), "'"));
      }
    }
    if (!RunsAs(target, g, product, {kF32, kF32, kF32, true, /*bf16_math=*/true}))
      return Kept(Concat("no kernel for ", OpName(g.op(product)), " of f32 in bf16 math mode"));
    return Match({product});
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
