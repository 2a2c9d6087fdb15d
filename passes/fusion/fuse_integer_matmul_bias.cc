// SPDX-License-Identifier: Apache-2.0
// matmul_integer_to_float(a, b, sa, sb, za, zb) + c  =>  matmul_integer_to_float(a, b, sa, sb, za, zb, c)
//
// Legal when c is an f32 vector with one element per column of b (a constant [1,n] or one number also qualifies), and
// the matmul has no bias yet. Bit-exact by definition; a kernel may add the bias before the result is rounded.

#include <optional>
#include <utility>

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr int kBias = 6;

class FuseIntegerMatMulBias final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-integer-matmul-bias"; }
  std::string_view equation() const override {
    return "matmul_integer_to_float(a, b) + c => matmul_integer_to_float(a, b, c)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    auto [sum, bias] = g.inputs<2>(root);
    if (!sum.valid() || !bias.valid()) return No("an operand is absent");
    if (g.op(sum) != OpKind::kMatMulIntegerToFloat) std::swap(sum, bias);
    if (g.op(sum) != OpKind::kMatMulIntegerToFloat) return No("no operand is a matmul_integer_to_float");
    const NodeId matmul = g.producer(sum);
    if (g.input(matmul, kBias).valid() || HasActivation(g, matmul)) return No("the matmul has a bias or an activation");
    if (g.type(bias) != DataType::kFloat32) return Kept(Describe(g, bias) + " is not f32");
    const std::optional<int64_t> columns = Columns(g, matmul);
    const Shape& y = g.shape(sum);
    if (!columns.has_value() || !y.has_rank() || y.rank() < 1) return Kept("the number of columns is not known");
    if (!IsVector(g, bias, *columns) && !ChannelVector(g, bias, *columns, y.rank() - 1, y.rank()).has_value()) {
      return No("the other operand is not a vector over the columns");
    }
    return Match({root, matmul}, {bias});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [root, matmul] = m.nodes<2>();
    const Graph& g = edit.graph();
    ValueId bias = m.value(0);
    const int64_t columns = *Columns(g, matmul);
    if (!IsVector(g, bias, columns)) {
      const int rank = g.shape(g.output(matmul)).rank();
      bias = edit.AddConstant(FreshName(g, g.Label(root) + "/bias"), *ChannelVector(g, bias, columns, rank - 1, rank));
    }
    ReplaceByFused(edit, matmul, root, [&](NodeId fused) { edit.SetInput(fused, kBias, bias); });
    return absl::OkStatus();
  }

 private:
  static bool IsVector(const Graph& g, ValueId value, int64_t count) {
    const Shape& shape = g.shape(value);
    return shape.has_rank() && shape.rank() == 1 && shape.dim(0) == Dim::Of(count);
  }
  static std::optional<int64_t> Columns(const Graph& g, NodeId matmul) {
    const Shape& b = g.shape(g.input(matmul, kWeightsInput));
    if (!b.has_rank() || b.rank() != 2 || !b.dim(1).known()) return std::nullopt;
    return b.dim(1).value;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseIntegerMatMulBias() { return std::make_unique<FuseIntegerMatMulBias>(); }

}  // namespace halftone
