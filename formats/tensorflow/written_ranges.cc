// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/written_ranges.h"

#include <algorithm>

namespace halftone::graphdef {
namespace {

constexpr int kHalfOfSteps = 128;  // between u8 and s8

bool AllReaders(const Graph& graph, ValueId value, bool (*fits)(const Graph&, NodeId)) {
  const std::vector<Use>& uses = graph.uses(value);
  if (uses.empty() || graph.IsOutput(value) || graph.IsCaptured(value)) return false;
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.index == 0 && graph.op(use.node) == OpKind::kDequantizeLinear && fits(graph, use.node);
  });
}

}  // namespace

std::optional<SaidRange> RangeSaidBy(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool quantizes = node.op == OpKind::kQuantizeLinear;
  const ValueId integers = quantizes ? node.outputs[0] : node.inputs[0];
  const ValueId numbers = quantizes ? node.inputs[0] : node.outputs[0];
  const Tensor* scale = graph.ConstantTensor(graph.input(id, 1));
  const ValueId zero_input = graph.input(id, 2);
  const Tensor* zero = graph.ConstantTensor(zero_input);
  SaidRange said;
  said.type = graph.type(integers);
  if (!QuantizedRange(said.type).has_value() || graph.type(numbers) != DataType::kFloat32 || scale == nullptr ||
      scale->type() != DataType::kFloat32 || scale->rank() > 1 || scale->num_elements() == 0 ||
      node.attributes.Int("block_size", 0) != 0 || (zero_input.valid() && zero == nullptr)) {
    return std::nullopt;
  }
  said.of_channels = scale->num_elements() > 1;
  if (said.of_channels) said.axis = node.attributes.Int("axis", 1);
  const std::vector<int64_t> zeros = zero == nullptr ? std::vector<int64_t>{0} : zero->ToInts();
  if (zeros.size() != 1 && static_cast<int64_t>(zeros.size()) != scale->num_elements()) return std::nullopt;
  for (int64_t i = 0; i < scale->num_elements(); ++i) {
    const auto point = static_cast<int32_t>(zeros[zeros.size() == 1 ? 0 : i]);
    said.channels.push_back({scale->data<float>()[i], point + (said.type == DataType::kInt8 ? kHalfOfSteps : 0)});
  }
  return said;
}

bool IsFakeQuantized(const Graph& graph, NodeId quantize) {
  const Node& node = graph.node(quantize);
  if (node.op != OpKind::kQuantizeLinear || graph.HasControlEdges(quantize)) return false;
  const std::optional<SaidRange> said = RangeSaidBy(graph, quantize);
  if (!said.has_value() || said->type == DataType::kInt32) return false;
  if (said->of_channels && said->axis != -1) {
    const Shape& shape = graph.shape(node.inputs[0]);
    if (!shape.has_rank() || said->axis != shape.rank() - 1) return false;
  }
  const auto has_range = [](const QuantizationParameters& p) { return FakeQuantRange(p).has_value(); };
  if (!std::all_of(said->channels.begin(), said->channels.end(), has_range)) return false;
  return AllReaders(graph, node.outputs[0], [](const Graph& g, NodeId reader) {
    return RangeSaidBy(g, reader) == RangeSaidBy(g, g.producer(g.input(reader, 0)));
  });
}

bool IsScaled(const Graph& graph, NodeId dequantize) {
  const std::optional<SaidRange> said = RangeSaidBy(graph, dequantize);
  if (!said.has_value()) return false;
  const int zero = said->type == DataType::kInt8 ? kHalfOfSteps : 0;
  return std::all_of(said->channels.begin(), said->channels.end(), [&](const QuantizationParameters& p) {
    return p.zero_point == zero && DequantizeRangeOf(p.scale, said->type).has_value();
  });
}

bool IsQuantizedConstant(const Graph& graph, NodeId constant) {
  if (graph.op(constant) != OpKind::kConstant) return false;
  const ValueId value = graph.output(constant);
  const DataType type = graph.type(value);
  if (type != DataType::kInt8 && type != DataType::kUInt8) return false;
  const std::vector<Use>& uses = graph.uses(value);
  if (uses.empty() || graph.IsOutput(value) || graph.IsCaptured(value)) return false;
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    const OpKind op = graph.op(use.node);
    if (use.index == 1) return op == OpKind::kMatMulIntegerToFloat;
    if (use.index != 0) return false;
    return op == OpKind::kDequantizeRange || (op == OpKind::kDequantizeLinear && IsScaled(graph, use.node));
  });
}

}  // namespace halftone::graphdef
