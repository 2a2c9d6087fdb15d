#include "formats/tensorflow/quantized_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;

constexpr int kMiddle = 128;

// Bytes of one scale whose zero point is the first or the middle one: u8 and s8 of zero point 0, whatever they are
// here.
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

// The quantize_linear behind a number that was quantized and dequantized with just the same range; kNoNode otherwise.
NodeId QuantizeOf(const Graph& graph, ValueId number) {
  if (!number.valid() || graph.op(number) != kDequantizeLinear) return kNoNode;
  const NodeId dequantize = graph.producer(number);
  const ValueId integers = graph.input(dequantize, 0);
  if (graph.op(integers) != kQuantizeLinear) return kNoNode;
  const NodeId quantize = graph.producer(integers);
  return IsPlain(RangeSaidBy(graph, quantize)) && OnlyDequantized(graph, integers) ? quantize : kNoNode;
}

// Nobody else needs it.
bool IsPrivate(const Graph& graph, ValueId value) {
  return graph.HasOneUser(value) && !graph.IsOutput(value) && !graph.IsCaptured(value) &&
         !graph.HasControlEdges(graph.producer(value)) && graph.node(graph.producer(value)).outputs.size() == 1;
}

bool IsRank(const Graph& graph, ValueId value, int rank) {
  return value.valid() && graph.shape(value).has_rank() && graph.shape(value).rank() == rank;
}

class Matcher {
 public:
  Matcher(const Graph& graph, NodeId quantize) : graph_(graph) { group_.quantize = quantize; }

  std::optional<QuantizedGroup> Match() {
    const NodeId q = group_.quantize;
    said_ = RangeSaidBy(graph_, q);
    if (!IsPlain(said_) || graph_.HasControlEdges(q) || !OnlyDequantized(graph_, graph_.output(q))) return std::nullopt;
    ValueId value = graph_.input(q, 0);
    if (!IsPrivate(graph_, value)) return std::nullopt;
    if (IsPool(value)) return std::exchange(group_, {});
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

 private:
  // Behind the node; kNoValue where somebody else reads it.
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

  // Of the largest integer, or of the mean, with one scale before and behind.
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
      if (!IsRank(graph_, node.inputs[0], 2) || !IsRank(graph_, w, 2)) return false;
      channels = attributes.Bool("transpose_b", false) ? 0 : 1;
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
    std::optional<QuantizedGroup> group = Matcher(graph, id).Match();
    if (!group.has_value()) continue;
    inside_.insert(group->op);
    inside_.insert(group->between.begin(), group->between.end());
    with_range_.insert(id);
    with_range_.insert(QuantizeOf(graph, graph.input(group->op, 0)));
    if (group->summand.valid()) with_range_.insert(QuantizeOf(graph, group->summand));
    groups_[id] = *std::move(group);
  }
  for (const NodeId id : dequantizations) {
    const ValueId number = graph.output(id);
    const std::vector<Use>& uses = graph.uses(number);
    if (graph.IsOutput(number) || graph.IsCaptured(number) || graph.HasControlEdges(id) || uses.empty()) continue;
    const ValueId integers = graph.input(id, 0);
    const bool known = graph.IsConstant(integers) || with_range_.contains(graph.producer(integers));
    if (known && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
          return inside_.contains(use.node) && graph.op(use.node) != kBiasAdd;
        })) {
      inside_.insert(id);
    }
  }
}

const QuantizedGroup* QuantizedGroups::Find(NodeId quantize) const {
  const auto it = groups_.find(quantize);
  return it == groups_.end() ? nullptr : &it->second;
}

}  // namespace halftone::graphdef
