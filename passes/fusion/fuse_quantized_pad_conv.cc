// SPDX-License-Identifier: Apache-2.0
// conv(dequantize(quantize(pad(x))), w)  =>  conv(dequantize(quantize(x)), w) {pads + the pads of the pad}
//
// A padded zero is quantized to the zero point and dequantized to zero for every scale, so the conv can pad it. Legal
// as fuse-pad-conv is, when quantize_linear and dequantize_linear have the same parameters: one scale and zero point,
// or one per channel, and channels are not padded. Bit-exact.

#include "passes/fusion/contraction.h"
#include "passes/fusion/pads.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseQuantizedPadConv final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-quantized-pad-conv"; }
  std::string_view equation() const override {
    return "conv(dequantize(quantize(pad(x))), w) => conv(dequantize(quantize(x)), w) {pads}";
  }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kConv; }

  FindResult Find(const Graph& g, NodeId conv, const Target&) const override {
    const ValueId real = g.input(conv, 0);
    if (!real.valid() || g.op(real) != OpKind::kDequantizeLinear) return No("the input is not dequantized");
    const NodeId dequantize = g.producer(real);
    const ValueId small = g.input(dequantize, 0);
    if (!small.valid() || g.op(small) != OpKind::kQuantizeLinear) return No("the input is not quantized");
    const NodeId quantize = g.producer(small);
    const ValueId padded = g.input(quantize, 0);
    if (!padded.valid() || g.op(padded) != OpKind::kPad) return No("the quantized value is not a pad");
    const NodeId pad = g.producer(padded);
    for (const int i : {1, 2}) {
      if (!Same(g, g.input(quantize, i), g.input(dequantize, i)))
        return Kept("quantize and dequantize have different parameters");
    }
    const Attributes &in = g.node(quantize).attributes, &out = g.node(dequantize).attributes;
    if (in.Int("block_size", 0) != 0 || out.Int("block_size", 0) != 0) return Kept("the scales are per block");
    const std::optional<int> rank = ResultRank(g, conv);
    const Shape& scale = g.shape(g.input(quantize, 1));
    if (!rank.has_value() || !scale.has_rank()) return Kept("the rank of x or of the scale is not known");
    if (scale.rank() > 0) {
      const int64_t axis = in.Int("axis", 1);
      if (axis != out.Int("axis", 1)) return Kept("quantize and dequantize have different axes");
      if ((axis < 0 ? axis + *rank : axis) != ChannelAxis(g, conv, *rank))
        return Kept("the scales are not per channel");
    }
    if (std::string reason = CannotPad(g, conv, pad); !reason.empty()) return Kept(std::move(reason));
    return Match({conv, dequantize, quantize, pad}, {g.input(pad, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [conv, dequantize, quantize, pad] = m.nodes<4>();
    const Graph& g = edit.graph();
    const std::vector<int64_t> pads = PadsTogether(g, conv, pad);
    edit.SetInput(quantize, 0, m.value(0));
    for (const NodeId id : {quantize, dequantize}) edit.SetShape(g.output(id), g.shape(m.value(0)));
    edit.SetAttribute(conv, "pads", pads);
    edit.EraseAttribute(conv, "auto_pad");
    return absl::OkStatus();
  }

 private:
  // Whether both are one value, or constants with equal contents.
  static bool Same(const Graph& g, ValueId a, ValueId b) {
    if (a == b) return true;
    const Tensor* one = a.valid() ? g.ConstantTensor(a) : nullptr;
    const Tensor* other = b.valid() ? g.ConstantTensor(b) : nullptr;
    return one != nullptr && other != nullptr && one->SameBytes(*other);
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseQuantizedPadConv() { return std::make_unique<FuseQuantizedPadConv>(); }

}  // namespace halftone
