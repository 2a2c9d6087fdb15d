// TensorFlow's ops on quantized tensors, as quantized_groups.h finds them. A tensor is three outputs: integers and both
// ends of their range. The ends of s8 are those of -127 and 127: kernels of oneDNN take the larger magnitude for 127.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/quantized_groups.h"
#include "formats/tensorflow/write_node.h"
#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

tf::AttrValue QuantizedType(DataType type) {
  tf::AttrValue value;
  value.set_type(QuantizedTfType(ToTfType(type)));
  return value;
}

DataType FileType(const SaidRange& said) { return IsUnsigned(said) ? DataType::kUInt8 : DataType::kInt8; }

// Both ends as constants: of one tensor scalars, of channels vectors.
std::pair<Source, Source> Ends(GraphWriter& out, NodeId owner, std::string_view word, const SaidRange& said) {
  const bool is_signed = !IsUnsigned(said);
  const std::vector<int64_t> dims =
      said.of_channels ? std::vector<int64_t>{static_cast<int64_t>(said.channels.size())} : std::vector<int64_t>{};
  std::vector<float> lows, highs;
  for (const QuantizationParameters& channel : said.channels) {
    highs.push_back(channel.scale * (is_signed ? 127.0f : 255.0f));
    lows.push_back(is_signed ? -highs.back() : 0.0f);
  }
  const std::string& device = out.graph().node(owner).device;
  const std::string name = Concat(out.NameOf(owner), "/", word);
  Source low = out.AddConst(name + "_min", Tensor::Of<float>(dims, lows), device);
  return {std::move(low), out.AddConst(name + "_max", Tensor::Of<float>(dims, highs), device)};
}

// Integers and ends behind the dequantize_linear that makes a number.
std::vector<Source> Tensors(GraphWriter& out, ValueId number) {
  const Graph& graph = out.graph();
  const NodeId quantize = graph.producer(graph.input(graph.producer(number), 0));
  const std::string& name = out.NameOf(quantize);
  return {{name, FileType(*RangeSaidBy(graph, quantize))},
          {name + ":1", DataType::kFloat32},
          {name + ":2", DataType::kFloat32}};
}

// What windows of convolutions and pools say; dilations only where there are some.
void SetWindow(const Node& node, AttrValues& attrs) {
  const auto spatial = [&](std::string_view name) {
    std::vector<int64_t> sizes = node.attributes.Ints(name);
    if (sizes.size() != 2) sizes = {1, 1};
    return IntsAttr({1, sizes[0], sizes[1], 1});
  };
  attrs["strides"] = spatial("strides");
  if (node.op != OpKind::kConv) attrs["ksize"] = spatial("kernel");
  if (node.op == OpKind::kConv && node.attributes.has("dilations")) attrs["dilations"] = spatial("dilations");
  attrs["padding"] = StringAttr(node.attributes.String("auto_pad", "") == "VALID" ? "VALID" : "SAME");
}

absl::Status WriteQuantizedPool(GraphWriter& out, const QuantizedGroup& group, DataType type) {
  const Node& pool = out.graph().node(group.op);
  AttrValues attrs;
  attrs["T"] = QuantizedType(type);
  SetWindow(pool, attrs);
  out.Add(pool.op == OpKind::kMaxPool ? "QuantizedMaxPool" : "QuantizedAvgPool", out.NameOf(group.quantize),
          group.quantize, Tensors(out, pool.inputs[0]), std::move(attrs), type);
  return absl::OkStatus();
}

Source Bias(GraphWriter& out, const QuantizedGroup& group, const SaidRange& weights, const Shape& shape) {
  if (group.bias.valid()) return out.Value(group.bias, Concat(out.NameOf(group.quantize), "/bias"));
  const Dim channels = shape.dim(static_cast<int>(weights.of_channels ? weights.axis : shape.rank() - 1));
  return out.AddConst(Concat(out.NameOf(group.quantize), "/bias"), Tensor(DataType::kFloat32, {channels.value}),
                      out.graph().node(group.quantize).device);
}

absl::Status WriteContraction(GraphWriter& out, const QuantizedGroup& group, const SaidRange& said) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(group.op);
  const bool conv = node.op == OpKind::kConv;
  const bool depthwise = conv && node.attributes.String("weights_layout", "OIHW") == "HWCM";
  const bool clipped = IsUnsigned(said);
  const bool bias = group.bias.valid() || group.summand.valid() || depthwise || !conv;  // some have it always
  const NodeId dequantized = graph.producer(node.inputs[1]);
  const SaidRange weights = *RangeSaidBy(graph, dequantized);
  const std::vector<Source> x = Tensors(out, node.inputs[0]);
  const DataType x_type = x[0].type;

  std::string op = conv ? depthwise ? "QuantizedDepthwiseConv2D" : "QuantizedConv2D" : "QuantizedMatMul";
  std::vector<Source> inputs = {x[0], out.Input(dequantized, 0)};
  if (bias) op += "WithBias";
  if (bias) {
    Shape shape = graph.shape(node.inputs[1]);
    SaidRange along = weights;
    if (!along.of_channels) {
      along.of_channels = true;
      along.axis = depthwise ? 2 : conv ? 3 : node.attributes.Bool("transpose_b", false) ? 0 : 1;
    }
    inputs.push_back(Bias(out, group, along, shape));
  }
  inputs.insert(inputs.end(), {x[1], x[2]});
  for (const auto& [word, range] : {std::pair("filter", &weights), std::pair("out", &said)}) {
    auto [low, high] = Ends(out, group.quantize, word, *range);
    inputs.insert(inputs.end(), {std::move(low), std::move(high)});
  }
  AttrValues attrs;
  if (group.summand.valid()) {
    const std::vector<Source> summand = Tensors(out, group.summand);
    op += summand[0].type == DataType::kInt8 ? "SignedSum" : "Sum";
    inputs.insert(inputs.end(), summand.begin(), summand.end());
    attrs["Tsummand"] = QuantizedType(summand[0].type);
  }
  op += clipped ? "AndReluAndRequantize" : "AndRequantize";
  attrs[conv ? "Tinput" : "T1"] = QuantizedType(x_type);
  attrs[conv ? "Tfilter" : "T2"] = QuantizedType(DataType::kInt8);
  if (bias) attrs["Tbias"] = TypeAttr(DataType::kFloat32);
  attrs[conv ? "out_type" : "Toutput"] = QuantizedType(FileType(said));
  if (conv) {
    SetWindow(node, attrs);
  } else {
    for (const char* name : {"transpose_a", "transpose_b"}) attrs[name] = BoolAttr(node.attributes.Bool(name, false));
    attrs["input_quant_mode"] = StringAttr("SCALED");
  }
  out.Add(op, out.NameOf(group.quantize), group.quantize, inputs, std::move(attrs), FileType(said));
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteWithRange(GraphWriter& out, NodeId quantize) {
  const SaidRange said = *RangeSaidBy(out.graph(), quantize);
  if (const QuantizedGroup* group = out.written().groups().Find(quantize)) {
    const OpKind op = out.graph().op(group->op);
    const bool pools = op == OpKind::kMaxPool || op == OpKind::kAveragePool;
    return pools ? WriteQuantizedPool(out, *group, FileType(said)) : WriteContraction(out, *group, said);
  }
  auto [low, high] = Ends(out, quantize, "range", said);
  AttrValues attrs;
  attrs["T"] = QuantizedType(FileType(said));
  attrs["mode"] = StringAttr("SCALED");
  attrs["round_mode"] = StringAttr("HALF_TO_EVEN");
  attrs["ensure_minimum_range"] = FloatAttr(0);
  out.Add("QuantizeV2", out.NameOf(quantize), quantize, {out.Input(quantize, 0), low, high}, std::move(attrs),
          FileType(said));
  return absl::OkStatus();
}

absl::Status WriteDequantizeOfRange(GraphWriter& out, NodeId dequantize) {
  const std::vector<Source> tensors = Tensors(out, out.graph().output(dequantize));
  AttrValues attrs;
  attrs["T"] = QuantizedType(tensors[0].type);
  attrs["mode"] = StringAttr("SCALED");
  out.Add("Dequantize", out.NameOf(dequantize), dequantize, tensors, std::move(attrs), DataType::kFloat32);
  return absl::OkStatus();
}

}  // namespace halftone::graphdef
