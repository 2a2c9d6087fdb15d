// cast(product(x, w, ..))  =>  product(x, w, ..) with a result of the cast's type
//
// Products: conv, matmul, gemm, conv_transpose, with whatever is fused into them. Legal when the cast is between f32,
// bf16 and f16, nobody else reads the product, and the target's kernel writes that type. Not bit-exact where the cast
// widens: the rounding in the middle is gone, sums leave the kernel in f32 as they are. Bit-exact where it narrows.

#include "passes/precision/conversions.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

class FuseCastIntoContraction final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-cast-into-contraction"; }
  std::string_view equation() const override {
    return "cast(product(x, w)) => product(x, w) of that type, product: conv, matmul, gemm, conv_transpose";
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
