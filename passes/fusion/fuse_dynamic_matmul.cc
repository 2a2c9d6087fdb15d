// SPDX-License-Identifier: Apache-2.0
// matmul(dequantize_linear(q, s, z), dequantize_linear(w, sw, zw), c)
//     =>  matmul_integer_to_float(q, w, s, sw, z, zw, c)   where   q, s, z = dynamic_quantize_linear(x)
//
// A GraphDef expresses dynamic quantization this way: with dequantized values between the ops. Legal when w, sw and zw
// are constants, w is an int8 or uint8 matrix with one scale or one scale per column, c is a vector, no operand is
// transposed, and the target has the kernel. A fused activation is kept. The quantized x may have other consumers. The
// integer sums are exact; the result differs from the matmul's by f32 rounding.

#include <algorithm>
#include <utility>
#include <vector>

#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

bool IsDequantized(const Graph& g, ValueId value) { return value.valid() && g.op(value) == OpKind::kDequantizeLinear; }

// Whether matmul_integer_to_float supports the scales of the weights.
bool ScalesFit(const Graph& g, NodeId dequantize) {
  const Shape &w = g.shape(g.input(dequantize, 0)), &scale = g.shape(g.input(dequantize, 1));
  const Attributes& attributes = g.node(dequantize).attributes;
  if (!w.has_rank() || w.rank() != 2 || attributes.Int("block_size", 0) != 0) return false;
  if (scale.num_elements() == 1) return true;
  const int64_t axis = attributes.Int("axis", 1);
  return (axis == 1 || axis == -1) && scale.has_rank() && scale.rank() == 1 && scale.dim(0) == w.dim(1);
}

// The zero points; kNoValue if all of them are 0.
ValueId ZeroPoint(const Graph& g, ValueId zero) {
  if (!zero.valid()) return kNoValue;
  const std::vector<int64_t> points = g.ConstantTensor(zero)->ToInts();
  return std::all_of(points.begin(), points.end(), [](int64_t point) { return point == 0; }) ? kNoValue : zero;
}

class FuseDynamicMatMul final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-dynamic-matmul"; }
  std::string_view equation() const override {
    return "matmul(dequantize_linear(q, s, z), dequantize_linear(w, sw), c) => "
           "matmul_integer_to_float(q, w, s, sw, z, c), q, s, z = dynamic_quantize_linear(x)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kMatMul; }

  FindResult Find(const Graph& g, NodeId matmul, const Target& target) const override {
    const auto [x, w] = g.inputs<2>(matmul);
    if (!IsDequantized(g, x) || !IsDequantized(g, w)) return No("an operand is not dequantized");
    const NodeId left = g.producer(x), right = g.producer(w);
    const ValueId q = g.input(left, 0);
    if (g.op(q) != OpKind::kDynamicQuantizeLinear) return No("the left operand is not dynamically quantized");
    const NodeId maker = g.producer(q);
    if (q != g.output(maker, 0) || g.input(left, 1) != g.output(maker, 1) || g.input(left, 2) != g.output(maker, 2))
      return Kept(Describe(g, x) + " does not have the scale and zero point of its dynamic_quantize_linear");
    for (const ValueId input : g.node(right).inputs) {
      if (input.valid() && !g.IsConstant(input)) return Kept(Describe(g, w) + " is not constant");
    }
    if (!ScalesFit(g, right)) return Kept(Describe(g, w) + " is not a matrix with one scale or one scale per column");
    const Attributes& attributes = g.node(matmul).attributes;
    if (HasResidual(g, matmul) || attributes.Float("scale", 1) != 1 || attributes.Bool("transpose_a", false) ||
        attributes.Bool("transpose_b", false) || attributes.Bool("activation_first", false)) {
      return Kept("a residual, a factor or a transposed operand is fused into it");
    }
    for (const ValueId value : {x, w, g.output(matmul)}) {
      if (g.type(value) != DataType::kFloat32) return Kept(Describe(g, value) + " is not f32");
    }
    const ValueId bias = g.input(matmul, kBiasInput);
    std::vector<ValueId> inputs = {
        q,   g.input(right, 0), g.input(left, 1), g.input(right, 1), g.input(left, 2), ZeroPoint(g, g.input(right, 2)),
        bias};
    if (bias.valid() && (!g.shape(bias).has_rank() || g.shape(bias).rank() != 1 ||
                         g.shape(bias).dim(0) != g.shape(g.input(right, 0)).dim(1))) {
      return Kept(Describe(g, bias) + " does not have one element per column");
    }
    const absl::Status supported = target.SupportsOp(g, OpKind::kMatMulIntegerToFloat, inputs);
    if (!supported.ok()) return Kept(Describe(g, matmul, supported));
    return Match({matmul}, std::move(inputs));
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    Node node;
    node.op = OpKind::kMatMulIntegerToFloat;
    for (int i = 0; i < 7; ++i) node.inputs.push_back(m.value(i));
    while (!node.inputs.back().valid()) node.inputs.pop_back();
    const Attributes& attributes = edit.graph().node(m.root()).attributes;
    for (const char* name : {"activation", "activation_alpha", "activation_beta"}) {
      if (const AttributeValue* value = attributes.find(name)) node.attributes.Set(name, *value);
    }
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseDynamicMatMul() { return std::make_unique<FuseDynamicMatMul>(); }

}  // namespace halftone
