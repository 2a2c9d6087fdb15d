// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/quantized_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;

constexpr int kMiddle = 128;

// 8-bit integers with one scale whose zero point is the lowest or the middle one: in the file u8 and s8 with zero point
// 0.
bool IsPlain(const std::optional<SaidRange>& said) {
  if (!said.has_value() || said->channels.size() != 1 || said->of_channels || said->type == DataType::kInt32)
    return false;
  return said->channels[0].zero_point == 0 || said->channels[0].zero_point == kMiddle;
}

bool OnlyDequantized(const Graph& graph, ValueId integers) {
  const std::vector<Use>& uses = graph.uses(integers);
  return !graph.IsOutput(integers) && !graph.IsCaptured(integers) &&
         std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
           return use.index == 0 && graph.op(use.node) == kDequantizeLinear &&
                  RangeSaidBy(graph, use.node) == RangeSaidBy(graph, graph.producer(integers));
         });
}

// The quantize_linear after a value that was quantized and dequantized with the same range; kNoNode otherwise.
NodeId QuantizeOf(const Graph& graph, ValueId number) {
  if (!number.valid() || graph.op(number) != kDequantizeLinear) return kNoNode;
  const NodeId dequantize = graph.producer(number);
  const ValueId integers = graph.input(dequantize, 0);
  if (graph.op(integers) != kQuantizeLinear) return kNoNode;
  const NodeId quantize = graph.producer(integers);
  return IsPlain(RangeSaidBy(graph, quantize)) && OnlyDequantized(graph, integers) ? quantize : kNoNode;
}

// It has no other consumer.
bool IsPrivate(const Graph& graph, ValueId value) {
  return graph.HasOneUser(value) && !graph.IsOutput(value) && !graph.IsCaptured(value) &&
         !graph.HasControlEdges(graph.producer(value)) && graph.node(graph.producer(value)).outputs.size() == 1;
}

bool IsRank(const Graph& graph, ValueId value, int rank) {
  return value.valid() && graph.shape(value).has_rank() && graph.shape(value).rank() == rank;
}

// Looks from the last node of a group.
class Matcher {
 public:
  Matcher(const Graph& graph, NodeId last) : graph_(graph) { group_.last = last; }

  std::optional<QuantizedGroup> Match() {
    const NodeId q = group_.last;
    said_ = RangeSaidBy(graph_, q);
    if (!IsPlain(said_) || graph_.HasControlEdges(q) || !OnlyDequantized(graph_, graph_.output(q))) return std::nullopt;
    ValueId value = graph_.input(q, 0);
    if (!IsPrivate(graph_, value)) return std::nullopt;
    if (IsPool(value) || IsConcat(value)) return std::exchange(group_, {});
    if (graph_.op(value) == kRelu) value = Into(value, 0);
    group_.relu = !group_.between.empty();
    if (graph_.op(value) == kAdd) {
      const bool first = Summand(value, 1);
      if (!first && !Summand(value, 0)) return std::nullopt;
      group_.summand = graph_.input(graph_.producer(value), first ? 1 : 0);
      value = Into(value, first ? 0 : 1);
    }
    if (graph_.op(value) == kBiasAdd && graph_.node(graph_.producer(value)).attributes.String("layout", "") == "NHWC") {
      group_.bias = graph_.input(graph_.producer(value), 1);
      value = Into(value, 0);
    }
    if (!value.valid() || !IsPrivate(graph_, value) || !IsContraction(graph_.producer(value))) return std::nullopt;
    group_.op = graph_.producer(value);
    return IsWord() ? std::optional(group_) : std::nullopt;
  }

  // A matmul, and the bias after it, where the result stays float.
  std::optional<QuantizedGroup> MatchProduct() {
    group_.op = group_.last;
    if (graph_.HasControlEdges(group_.last)) return std::nullopt;
    if (graph_.op(group_.last) == kBiasAdd) {
      const ValueId product = graph_.input(group_.last, 0);
      if (!product.valid() || !IsPrivate(graph_, product)) return std::nullopt;
      group_.op = graph_.producer(product);
      group_.bias = graph_.input(group_.last, 1);
    }
    return graph_.op(group_.op) == kMatMul && IsContraction(group_.op) ? std::optional(group_) : std::nullopt;
  }

 private:
  // After the node; kNoValue where it has other consumers.
  ValueId Into(ValueId value, int i) {
    if (!value.valid() || !IsPrivate(graph_, value)) return kNoValue;
    group_.between.push_back(graph_.producer(value));
    return graph_.input(graph_.producer(value), i);
  }

  bool Summand(ValueId sum, int i) const {
    const NodeId add = graph_.producer(sum);
    const ValueId other = graph_.input(add, 1 - i);
    const bool chains = graph_.op(other) == kBiasAdd || graph_.op(other) == kConv;
    return chains && QuantizeOf(graph_, graph_.input(add, i)).valid() &&
           graph_.shape(graph_.input(add, i)) == graph_.shape(sum);
  }

  // Max and average pools with one scale for input and output.
  bool IsPool(ValueId value) {
    const NodeId pool = graph_.producer(value);
    if (graph_.op(pool) != kMaxPool && graph_.op(pool) != kAveragePool) return false;
    const NodeId from = QuantizeOf(graph_, graph_.input(pool, 0));
    const Attributes& attributes = graph_.node(pool).attributes;
    const std::string padding = attributes.String("auto_pad", "NOTSET");
    if (!from.valid() || RangeSaidBy(graph_, from) != said_ || attributes.String("layout", "NCHW") != "NHWC" ||
        (padding != "VALID" && padding != "SAME_UPPER") || attributes.Ints("kernel").size() != 2 ||
        attributes.Bool("ceil_mode", false) || attributes.has("dilations")) {
      return false;
    }
    group_.op = pool;
    return true;
  }

  // One range for all inputs and the output.
  bool IsConcat(ValueId value) {
    const NodeId concat = graph_.producer(value);
    if (graph_.op(concat) != kConcat) return false;
    const std::vector<ValueId>& inputs = graph_.node(concat).inputs;
    if (inputs.size() < 3 || !graph_.ConstantInts(inputs.back()).has_value()) return false;  // the last one is the axis
    for (size_t i = 0; i + 1 < inputs.size(); ++i) {
      const NodeId from = QuantizeOf(graph_, inputs[i]);
      if (!from.valid() || RangeSaidBy(graph_, from) != said_) return false;
    }
    group_.op = concat;
    return true;
  }

  bool IsContraction(NodeId id) const {
    const Node& node = graph_.node(id);
    const ValueId w = graph_.input(id, 1);
    if (node.inputs.size() != 2 || !QuantizeOf(graph_, node.inputs[0]).valid() || graph_.op(w) != kDequantizeLinear)
      return false;
    const NodeId dequantize = graph_.producer(w);
    const ValueId integers = graph_.input(dequantize, 0);
    if (!graph_.IsConstant(integers) || graph_.type(integers) != DataType::kInt8 || !IsScaled(graph_, dequantize))
      return false;
    const SaidRange weights = *RangeSaidBy(graph_, dequantize);
    const Attributes& attributes = node.attributes;
    if (attributes.has("activation") || attributes.has("scale")) return false;
    int channels = 1;
    if (node.op == kMatMul) {
      const bool transposes = attributes.Bool("transpose_a", false) || attributes.Bool("transpose_b", false);
      if (!IsRank(graph_, node.inputs[0], 2) || !IsRank(graph_, w, 2) || transposes) return false;
      if (!IsUnsigned(*RangeSaidBy(graph_, QuantizeOf(graph_, node.inputs[0]))) || weights.of_channels) return false;
    } else {
      const std::string layout = attributes.String("weights_layout", "OIHW");
      const std::string padding = attributes.String("auto_pad", "NOTSET");
      if (node.op != kConv || !IsRank(graph_, w, 4) || attributes.String("layout", "NCHW") != "NHWC") return false;
      if (padding != "VALID" && padding != "SAME_UPPER") return false;
      const bool depthwise = layout == "HWCM" && graph_.shape(w).dim(3) == Dim::Of(1);
      if (!depthwise && (layout != "HWIO" || attributes.Int("group", 1) != 1)) return false;
      channels = depthwise ? 2 : 3;
    }
    return !weights.of_channels || weights.axis == channels;
  }

  // Of convolutions all with a relu, which u8 implies, and those without that have no summand; of the others one.
  bool IsWord() const {
    const bool clipped = IsUnsigned(*said_);
    const Node& node = graph_.node(group_.op);
    const bool conv = node.op == kConv && node.attributes.String("weights_layout", "OIHW") == "HWIO";
    if (group_.summand.valid() && (!conv || !clipped)) return false;
    return conv ? clipped || !group_.relu : clipped;
  }

  const Graph& graph_;
  QuantizedGroup group_;
  std::optional<SaidRange> said_;
};

}  // namespace

bool IsUnsigned(const SaidRange& said) { return said.channels[0].zero_point == 0; }

QuantizedGroups::QuantizedGroups(const Graph& graph) {
  std::vector<NodeId> dequantizations;
  for (const NodeId id : graph.TopologicalOrder()) {
    if (graph.op(id) == kDequantizeLinear) dequantizations.push_back(id);
    if (graph.op(id) != kQuantizeLinear) continue;
    if (std::optional<QuantizedGroup> group = Matcher(graph, id).Match()) Take(graph, *std::move(group));
  }
  // Biases first: a matmul before one is no group of its own.
  for (const OpKind op : {kBiasAdd, kMatMul}) {
    for (const NodeId id : graph.nodes()) {
      if (graph.op(id) != op || inside_.contains(id)) continue;
      if (std::optional<QuantizedGroup> group = Matcher(graph, id).MatchProduct()) Take(graph, *std::move(group));
    }
  }
  for (const NodeId id : dequantizations) {
    const ValueId number = graph.output(id);
    const std::vector<Use>& uses = graph.uses(number);
    if (graph.IsOutput(number) || graph.IsCaptured(number) || graph.HasControlEdges(id) || uses.empty()) continue;
    const ValueId integers = graph.input(id, 0);
    const bool known = graph.IsConstant(integers) || with_range_.contains(graph.producer(integers));
    if (known && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
          const bool is_product = graph.op(use.node) == kMatMul && groups_.contains(use.node);
          return is_product || (inside_.contains(use.node) && graph.op(use.node) != kBiasAdd);
        })) {
      inside_.insert(id);
    }
  }
}

void QuantizedGroups::Take(const Graph& graph, QuantizedGroup group) {
  if (group.op != group.last) inside_.insert(group.op);
  inside_.insert(group.between.begin(), group.between.end());
  if (graph.op(group.last) == kQuantizeLinear) with_range_.insert(group.last);
  const std::vector<ValueId>& inputs = graph.node(group.op).inputs;
  const size_t read = graph.op(group.op) == kConcat ? inputs.size() - 1 : 1;
  for (size_t i = 0; i < read; ++i) with_range_.insert(QuantizeOf(graph, inputs[i]));
  if (group.summand.valid()) with_range_.insert(QuantizeOf(graph, group.summand));
  const NodeId last = group.last;
  groups_[last] = std::move(group);
}

const QuantizedGroup* QuantizedGroups::Find(NodeId last) const {
  const auto it = groups_.find(last);
  return it == groups_.end() ? nullptr : &it->second;
}

}  // namespace halftone::graphdef
