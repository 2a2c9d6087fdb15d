// SPDX-License-Identifier: Apache-2.0
// mul(cast(matmul_integer(a, b, za, zb)), mul(sa, sb))  =>  matmul_integer_to_float(a, b, sa, sb, za, zb)
//
// ONNX files express dynamic quantization this way: a, sa and za are the outputs of a dynamic_quantize_linear. Legal
// when all floating-point values are f32, sa and za are one number, sb is a constant with one number or one per column,
// and the target has the kernel. Bit-exact by definition; a kernel may round the multiplication of the scales
// differently.

#include <utility>
#include <vector>

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

bool IsOneNumber(const Graph& g, ValueId value) { return g.shape(value).num_elements() == 1; }

class FuseIntegerMatMul final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-integer-matmul"; }
  std::string_view equation() const override {
    return "mul(cast(matmul_integer(a, b)), mul(sa, sb)) => matmul_integer_to_float(a, b, sa, sb)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    auto [sums, scales] = g.inputs<2>(root);
    if (!sums.valid() || !scales.valid()) return No("an operand is absent");
    if (g.op(sums) != OpKind::kCast) std::swap(sums, scales);
    if (g.op(sums) != OpKind::kCast) return No("no operand is a cast");
    const NodeId cast = g.producer(sums);
    const ValueId integers = g.input(cast, 0);
    if (!integers.valid() || g.op(integers) != OpKind::kMatMulInteger)
      return No("the cast's input is not a matmul_integer");
    const NodeId matmul = g.producer(integers);
    if (g.op(scales) != OpKind::kMul) return Kept(Describe(g, scales) + " is not a multiplication of two scales");
    auto [a_scale, b_scale] = g.inputs<2>(g.producer(scales));
    if (!a_scale.valid() || !b_scale.valid()) return No("a scale is absent");
    if (!g.IsConstant(b_scale)) std::swap(a_scale, b_scale);
    for (const ValueId value : {sums, a_scale, b_scale}) {
      if (g.type(value) != DataType::kFloat32) return Kept(Describe(g, value) + " is not f32");
    }
    const ValueId a_zero = g.input(matmul, 2), b_zero = g.input(matmul, 3);
    if (!IsOneNumber(g, a_scale) || (a_zero.valid() && !IsOneNumber(g, a_zero))) {
      return Kept("the left operand has more than one scale or zero point");
    }
    const Shape &b = g.shape(g.input(matmul, 1)), &scale = g.shape(b_scale);
    const bool of_columns = b.has_rank() && b.rank() == 2 && scale.has_rank() && scale.rank() == 1 &&
                            scale.dim(0).known() && scale.dim(0) == b.dim(1);
    if (!g.IsConstant(b_scale) || (!of_columns && !IsOneNumber(g, b_scale))) {
      return Kept(DescribeBoth("the right operand's scale is not one number or one per column", g, g.input(matmul, 1),
                               b_scale));
    }
    if (!g.shape(integers).has_rank() || g.shape(integers) != g.shape(g.output(root)))
      return Kept(DescribeBoth("the matmul's result is broadcast to the scales, or has an unknown rank", g, integers,
                               g.output(root)));
    const std::vector<ValueId> inputs = {g.input(matmul, 0), g.input(matmul, 1), a_scale, b_scale, a_zero, b_zero};
    const absl::Status supported = target.SupportsOp(g, OpKind::kMatMulIntegerToFloat, inputs);
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({root, cast, matmul, g.producer(scales)}, inputs);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kMatMulIntegerToFloat;
    for (int i = 0; i < 6; ++i) node.inputs.push_back(m.value(i));
    while (!node.inputs.back().valid()) node.inputs.pop_back();
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseIntegerMatMul() { return std::make_unique<FuseIntegerMatMul>(); }

}  // namespace halftone
