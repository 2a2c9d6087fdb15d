// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops on quantized tensors, as quantized_groups.h finds them. A tensor is three outputs: integers and both
// ends of their range. The ends of s8 are those of -127 and 127: kernels of oneDNN take the larger magnitude for 127.

#include <iterator>
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
    highs.push_back(EndOfSteps(channel.scale, is_signed ? 127.0f : 255.0f));
    lows.push_back(is_signed ? -highs.back() : 0.0f);
  }
  const std::string& device = out.graph().node(owner).device;
  const std::string name = Concat(out.NameOf(owner), "/", word);
  Source low = out.AddConst(name + "_min", Tensor::Of<float>(dims, lows), device);
  return {std::move(low), out.AddConst(name + "_max", Tensor::Of<float>(dims, highs), device)};
}

// The integers and ends that a dequantize_linear reads.
std::vector<Source> Tensors(GraphWriter& out, ValueId number) {
  const Graph& graph = out.graph();
  const NodeId quantize = graph.producer(graph.input(graph.producer(number), 0));
  const std::string& name = out.NameOf(quantize);
  return {{name, FileType(*RangeSaidBy(graph, quantize))},
          {name + ":1", DataType::kFloat32},
          {name + ":2", DataType::kFloat32}};
}

// Attributes of the windows of convolutions and pools; dilations only where there are some.
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
  out.Add(pool.op == OpKind::kMaxPool ? "QuantizedMaxPool" : "QuantizedAvgPool", out.NameOf(group.last), group.last,
          Tensors(out, pool.inputs[0]), std::move(attrs), type);
  return absl::OkStatus();
}

absl::Status WriteQuantizedConcat(GraphWriter& out, const QuantizedGroup& group, DataType type) {
  const std::vector<ValueId>& inputs = out.graph().node(group.op).inputs;
  const auto count = static_cast<int64_t>(inputs.size()) - 1;
  std::vector<Source> sources, lows, highs;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Source> tensors = Tensors(out, inputs[i]);
    sources.push_back(std::move(tensors[0]));
    lows.push_back(std::move(tensors[1]));
    highs.push_back(std::move(tensors[2]));
  }
  const Tensor axis = Tensor::IntScalar((*out.graph().ConstantInts(inputs.back()))[0], DataType::kInt32);
  sources.push_back(out.AddConst(Concat(out.NameOf(group.last), "/axis"), axis, out.graph().node(group.last).device));
  for (std::vector<Source>* ends : {&lows, &highs}) {
    sources.insert(sources.end(), std::make_move_iterator(ends->begin()), std::make_move_iterator(ends->end()));
  }
  AttrValues attrs;
  attrs["N"] = IntAttr(count);
  attrs["T"] = QuantizedType(type);
  attrs["Tidx"] = TypeAttr(DataType::kInt32);
  out.Add("QuantizedConcatV2", out.NameOf(group.last), group.last, sources, std::move(attrs), type);
  return absl::OkStatus();
}

Source Bias(GraphWriter& out, const QuantizedGroup& group, const Dim& channels) {
  const std::string name = Concat(out.NameOf(group.last), "/bias");
  if (group.bias.valid()) return out.Value(group.bias, name);
  return out.AddConst(name, Tensor(DataType::kFloat32, {channels.value}), out.graph().node(group.last).device);
}

absl::Status WriteConvolution(GraphWriter& out, const QuantizedGroup& group, const SaidRange& said) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(group.op);
  const bool depthwise = node.attributes.String("weights_layout", "OIHW") == "HWCM";
  const bool bias = group.bias.valid() || group.summand.valid() || depthwise;  // some have it always
  const NodeId dequantized = graph.producer(node.inputs[1]);
  const SaidRange weights = *RangeSaidBy(graph, dequantized);
  const std::vector<Source> x = Tensors(out, node.inputs[0]);

  std::string op = depthwise ? "QuantizedDepthwiseConv2D" : "QuantizedConv2D";
  std::vector<Source> inputs = {x[0], out.Input(dequantized, 0)};
  if (bias) op += "WithBias";
  if (bias) inputs.push_back(Bias(out, group, graph.shape(node.inputs[1]).dim(depthwise ? 2 : 3)));
  inputs.insert(inputs.end(), {x[1], x[2]});
  for (const auto& [word, range] : {std::pair("filter", &weights), std::pair("out", &said)}) {
    auto [low, high] = Ends(out, group.last, word, *range);
    inputs.insert(inputs.end(), {std::move(low), std::move(high)});
  }
  AttrValues attrs;
  if (group.summand.valid()) {
    const std::vector<Source> summand = Tensors(out, group.summand);
    op += summand[0].type == DataType::kInt8 ? "SignedSum" : "Sum";
    inputs.insert(inputs.end(), summand.begin(), summand.end());
    attrs["Tsummand"] = QuantizedType(summand[0].type);
  }
  op += IsUnsigned(said) ? "AndReluAndRequantize" : "AndRequantize";
  attrs["Tinput"] = QuantizedType(x[0].type);
  attrs["Tfilter"] = QuantizedType(DataType::kInt8);
  if (bias) attrs["Tbias"] = TypeAttr(DataType::kFloat32);
  attrs["out_type"] = QuantizedType(FileType(said));
  SetWindow(node, attrs);
  out.Add(op, out.NameOf(group.last), group.last, inputs, std::move(attrs), FileType(said));
  return absl::OkStatus();
}

// `said`: what the result is quantized to; nullptr: it is float. By MIN_FIRST, which is the same as SCALED where the
// range starts at 0: with SCALED, kernels multiply a bias of f32 by the weights' range where they should divide by it.
absl::Status WriteProduct(GraphWriter& out, const QuantizedGroup& group, const SaidRange* said) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(group.op);
  const NodeId dequantized = graph.producer(node.inputs[1]);
  const std::vector<Source> x = Tensors(out, node.inputs[0]);
  std::vector<Source> inputs = {x[0], out.Input(dequantized, 0), Bias(out, group, graph.shape(node.inputs[1]).dim(1)),
                                x[1], x[2]};
  const auto [low, high] = Ends(out, group.last, "filter", *RangeSaidBy(graph, dequantized));
  // A float result has no range, but its op requires one and does not read it.
  const auto [out_low, out_high] = said == nullptr ? std::pair(low, high) : Ends(out, group.last, "out", *said);
  inputs.insert(inputs.end(), {low, high, out_low, out_high});
  AttrValues attrs;
  attrs["T1"] = QuantizedType(x[0].type);
  attrs["T2"] = QuantizedType(DataType::kInt8);
  attrs["Tbias"] = TypeAttr(DataType::kFloat32);
  attrs["Toutput"] = said == nullptr ? TypeAttr(DataType::kFloat32) : QuantizedType(FileType(*said));
  for (const char* name : {"transpose_a", "transpose_b"}) attrs[name] = BoolAttr(false);
  attrs["input_quant_mode"] = StringAttr("MIN_FIRST");
  const std::string op = Concat("QuantizedMatMulWithBias", said == nullptr ? "AndDequantize" : "AndReluAndRequantize");
  out.Add(op, out.NameOf(group.last), group.last, inputs, std::move(attrs),
          said == nullptr ? DataType::kFloat32 : FileType(*said));
  return absl::OkStatus();
}

absl::Status WriteGroup(GraphWriter& out, const QuantizedGroup& group, const SaidRange& said) {
  switch (out.graph().op(group.op)) {
    case OpKind::kMaxPool:
    case OpKind::kAveragePool:
      return WriteQuantizedPool(out, group, FileType(said));
    case OpKind::kConcat:
      return WriteQuantizedConcat(out, group, FileType(said));
    case OpKind::kMatMul:
      return WriteProduct(out, group, &said);
    default:  // there is no other group
      return WriteConvolution(out, group, said);
  }
}

}  // namespace

absl::Status WriteWithRange(GraphWriter& out, NodeId quantize) {
  const SaidRange said = *RangeSaidBy(out.graph(), quantize);
  if (const QuantizedGroup* group = out.written().groups().Find(quantize)) return WriteGroup(out, *group, said);
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

absl::Status WriteDequantizedProduct(GraphWriter& out, const QuantizedGroup& group) {
  return WriteProduct(out, group, nullptr);
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
