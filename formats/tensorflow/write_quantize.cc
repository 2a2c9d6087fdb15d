// SPDX-License-Identifier: Apache-2.0
// Quantized values in a GraphDef, by ops of its standard:
//
//   dequantize(quantize(x))      FakeQuantWithMinMaxVars, of channels ...PerChannel (or ...Args, where it was that)
//   dequantize(constant of s8)   Dequantize with mode SCALED of DT_QINT8: FakeQuant would ask for the weights in f32,
//                                four times as large
//   dequantize(another constant) the floats, as an f32 constant: biases
//   the others                   arithmetic: divide, round, add, clip, cast; cast, subtract, multiply
//
// Values whose range is computed at run time are in write_run_ranges.cc.
// Ranges are such that scales and zero points read back are the same to the bit (quantized_ranges.h).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"
#include "formats/tensorflow/written_ranges.h"
#include "ir/quantization.h"

namespace halftone::graphdef {
namespace {

constexpr std::string_view kPerChannel = "FakeQuantWithMinMaxVarsPerChannel";

// The ends that the file had, in the order of channels; empty where there were none.
std::vector<EndsOfRange> KeptEnds(const Node& node) {
  std::vector<EndsOfRange> ends;
  const AttributeValue* kept = node.extra.find(kExtraRange);
  const auto* numbers = kept == nullptr ? nullptr : std::get_if<std::vector<float>>(kept);
  if (numbers == nullptr || numbers->size() % 2 != 0) return ends;
  const size_t count = numbers->size() / 2;
  for (size_t i = 0; i < count; ++i) ends.push_back({(*numbers)[i], (*numbers)[count + i]});
  return ends;
}

// Both ends as constants, which have the names that they had in the file.
std::vector<Source> EndSources(GraphWriter& out, NodeId id, const std::vector<EndsOfRange>& ends, bool of_channels) {
  const Node& node = out.graph().node(id);
  std::vector<std::string> names = {Concat(out.NameOf(id), "/min"), Concat(out.NameOf(id), "/max")};
  if (const AttributeValue* kept = node.extra.find(kExtraRangeNames)) {
    const auto* strings = std::get_if<std::vector<std::string>>(kept);
    if (strings != nullptr && strings->size() == 2) names = *strings;
  }
  std::vector<Source> sources;
  for (const int i : {0, 1}) {
    Tensor tensor(DataType::kFloat32,
                  of_channels ? std::vector<int64_t>{static_cast<int64_t>(ends.size())} : std::vector<int64_t>{});
    for (size_t c = 0; c < ends.size(); ++c) tensor.mutable_data<float>()[c] = i == 0 ? ends[c].low : ends[c].high;
    sources.push_back(out.ConstNamed(names[i], tensor, node.device));
  }
  return sources;
}

bool Makes(const std::vector<EndsOfRange>& ends, const SaidRange& said, bool narrow) {
  if (ends.size() != said.channels.size()) return false;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (FakeQuantParameters(ends[i], narrow) != said.channels[i]) return false;
  }
  return true;
}

// REQUIRES: IsFakeQuantized(quantize), which `id` reads.
absl::Status WriteFakeQuant(GraphWriter& out, NodeId id, NodeId quantize) {
  const Node& node = out.graph().node(id);
  const SaidRange said = *RangeSaidBy(out.graph(), quantize);
  const OpRow* row = OwnWriter(out.graph(), id);
  const bool was_fake = row != nullptr && row->tf_op.starts_with("FakeQuant");
  const bool narrow = was_fake && node.extra.Bool("narrow_range", false);
  if (was_fake && row->tf_op.ends_with("Args")) {
    const EndsOfRange ends{node.extra.Float("min", -6), node.extra.Float("max", 6)};
    if (Makes({ends}, said, narrow)) return out.AddRow(id, *row, {out.Input(quantize, 0)});
  }
  const bool was_of_channels = was_fake && row->tf_op == kPerChannel;
  std::vector<EndsOfRange> ends = KeptEnds(node);
  const bool as_it_was = was_fake && Makes(ends, said, narrow);
  const bool of_channels = said.of_channels || (as_it_was && was_of_channels);
  AttrValues attrs;
  if (!as_it_was) {
    ends.clear();
    for (const QuantizationParameters& channel : said.channels) ends.push_back(*FakeQuantRange(channel));
    attrs["num_bits"];  // 8, and not narrow
    attrs["narrow_range"];
  }
  std::vector<Source> inputs = {out.Input(quantize, 0)};
  for (Source& source : EndSources(out, id, ends, of_channels)) inputs.push_back(std::move(source));
  return out.AddRow(id, *FindRow(of_channels ? kPerChannel : "FakeQuantWithMinMaxVars"), inputs, nullptr, attrs);
}

// REQUIRES: IsScaled
absl::Status WriteScaled(GraphWriter& out, NodeId id) {
  const Node& node = out.graph().node(id);
  const SaidRange said = *RangeSaidBy(out.graph(), id);
  const OpRow& row = *FindRow("Dequantize");
  const bool narrow = node.extra.Bool("narrow_range", false);
  const std::vector<EndsOfRange> kept = KeptEnds(node);
  bool as_it_was = node.spelling == row.tf_op && kept.size() == said.channels.size();
  std::vector<EndsOfRange> ends;
  for (size_t i = 0; i < said.channels.size(); ++i) {
    const float scale = said.channels[i].scale;
    as_it_was = as_it_was && DequantizeScale(kept[i], said.type, narrow) == scale;
    ends.push_back(*DequantizeRangeOf(scale, said.type));
  }
  AttrValues attrs;
  tf::AttrValue type;
  type.set_type(static_cast<tf::DataType>(QuantizedTfType(ToTfType(said.type))));
  attrs["T"] = std::move(type);
  attrs["mode"] = StringAttr("SCALED");
  bool of_channels = said.of_channels;
  if (as_it_was) {
    of_channels = of_channels || node.extra.Int("axis", -1) != -1;
  } else {
    attrs["narrow_range"];
    attrs["axis"];
    if (said.of_channels) {
      const std::optional<int> rank = RankOf(out.graph(), node.inputs[0]);
      if (said.axis < 0 && !rank.has_value()) return Cannot("scales along a dimension of a tensor of unknown rank");
      attrs["axis"] = IntAttr(said.axis < 0 ? said.axis + *rank : said.axis);
    }
  }
  std::vector<Source> inputs = {out.Input(id, 0)};
  for (Source& source : EndSources(out, id, as_it_was ? kept : ends, of_channels)) inputs.push_back(std::move(source));
  return out.AddRow(id, row, inputs, nullptr, attrs);
}

absl::Status WriteFolded(GraphWriter& out, NodeId id, const SaidRange& said) {
  const Graph& graph = out.graph();
  const Tensor& integers = *graph.ConstantTensor(graph.input(id, 0));
  Quantization quantization;
  for (const QuantizationParameters& channel : said.channels) {
    quantization.scales.push_back(channel.scale);
    quantization.zero_points.push_back(channel.zero_point - (said.type == DataType::kInt8 ? 128 : 0));
  }
  quantization.axis = static_cast<int>(said.axis < 0 ? said.axis + integers.rank() : said.axis);
  const std::string wrong = WrongQuantization(quantization, said.type, integers.shape());
  if (!wrong.empty()) return Cannot(Concat("a dequantization whose ", wrong));
  out.AddConstAs(out.NameOf(id), Dequantized(integers, quantization), graph.node(id).device);
  return absl::OkStatus();
}

// Operands of one op in a row of them, each called NAME/word; the last is the node itself.
class Arithmetic {
 public:
  Arithmetic(GraphWriter& out, NodeId id) : out_(out), id_(id) {}
  Source Apply(std::string_view op, std::vector<Source> inputs, bool is_last = false) {
    const DataType type = inputs[0].type;
    return out_.Add(op, Name(op, is_last), id_, inputs, OneType(type), type);
  }
  Source Cast(const Source& x, DataType to, bool is_last) {
    AttrValues attrs;
    attrs["SrcT"] = TypeAttr(x.type);
    attrs["DstT"] = TypeAttr(to);
    return out_.Add("Cast", Name("Cast", is_last), id_, {x}, std::move(attrs), to);
  }
  Source Number(std::string_view word, double number) {
    return out_.AddConst(Concat(out_.NameOf(id_), "/", word), Tensor::Scalar(static_cast<float>(number)),
                         out_.graph().node(id_).device);
  }

 private:
  std::string Name(std::string_view op, bool is_last) {
    return is_last ? out_.NameOf(id_) : out_.UniqueName(Concat(out_.NameOf(id_), "/", op));
  }
  GraphWriter& out_;
  const NodeId id_;
};

}  // namespace

// saturate(round half even(x / scale) + zero)
absl::Status WriteQuantize(GraphWriter& out, NodeId id) {
  if (out.written().groups().HasRange(id)) return WriteWithRange(out, id);
  const std::optional<SaidRange> said = RangeSaidBy(out.graph(), id);
  if (!said.has_value() || said->of_channels || said->type == DataType::kInt32)
    return Cannot("a quantization that is not of u8 or s8 by one constant scale and zero point");
  const IntegerRange range = *QuantizedRange(said->type);
  const double zero = said->channels[0].zero_point - (said->type == DataType::kInt8 ? 128 : 0);
  Arithmetic a(out, id);
  Source y = a.Apply("RealDiv", {out.Input(id, 0), a.Number("scale", said->channels[0].scale)});
  y = a.Apply("Round", {y});
  if (zero != 0) y = a.Apply("AddV2", {y, a.Number("zero_point", zero)});
  y = a.Apply("Maximum", {y, a.Number("lowest", static_cast<double>(range.low))});
  y = a.Apply("Minimum", {y, a.Number("highest", static_cast<double>(range.high))});
  a.Cast(y, said->type, /*is_last=*/true);
  return absl::OkStatus();
}

absl::Status WriteDequantize(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const ValueId x = graph.input(id, 0);
  const NodeId producer = graph.producer(x);
  if (graph.op(producer) == OpKind::kDynamicQuantizeLinear) return WriteDequantizeByRun(out, id);
  if (out.written().groups().HasRange(producer)) return WriteDequantizeOfRange(out, id);
  if (IsFakeQuantized(graph, producer)) return WriteFakeQuant(out, id, producer);
  const bool was_quantized = graph.node(id).spelling == "Dequantize" &&
                             (graph.op(producer) == OpKind::kOpaque || graph.node(producer).extra.has(kExtraQuantized));
  if (IsQuantizedConstant(graph, producer) || (was_quantized && IsScaled(graph, id))) return WriteScaled(out, id);
  const std::optional<SaidRange> said = RangeSaidBy(graph, id);
  if (said.has_value() && graph.IsConstant(x)) return WriteFolded(out, id, *said);
  if (!said.has_value() || said->of_channels)
    return Cannot("a dequantization to f32 that is not by one constant scale and zero point");
  const double zero = said->channels[0].zero_point - (said->type == DataType::kInt8 ? 128 : 0);
  Arithmetic a(out, id);
  Source y = a.Cast(out.Input(id, 0), DataType::kFloat32, /*is_last=*/false);
  if (zero != 0) y = a.Apply("Sub", {y, a.Number("zero_point", zero)});
  a.Apply("Mul", {y, a.Number("scale", said->channels[0].scale)}, /*is_last=*/true);
  return absl::OkStatus();
}

absl::Status WriteRanges(GraphWriter& out, NodeId id, const OpRow&) { return WriteDequantize(out, id); }

}  // namespace halftone::graphdef
