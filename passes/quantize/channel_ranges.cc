// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/channel_ranges.h"

#include <optional>

namespace halftone {
namespace {

// Elements of a value between two of the same channel's neighbours, where they are known.
std::optional<int64_t> InnerElements(const Shape& shape, int axis) {
  if (!shape.has_rank() || axis < 0 || axis >= shape.rank()) return std::nullopt;
  int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) {
    if (!shape.dim(i).known()) return std::nullopt;
    inner *= shape.dim(i).value;
  }
  return inner;
}

bool IsView(OpKind op) {
  return op == OpKind::kReshape || op == OpKind::kFlatten || op == OpKind::kSqueeze || op == OpKind::kUnsqueeze ||
         op == OpKind::kIdentity || op == OpKind::kQuantizeLinear || op == OpKind::kDequantizeLinear;
}

}  // namespace

const ValueRange* RangeOfChannels(const Graph& graph, const ValueRanges& ranges, ValueId value, int axis,
                                  int64_t channels) {
  const std::optional<int64_t> inner = InnerElements(graph.shape(value), axis);
  if (!inner.has_value() || graph.shape(value).dim(axis) != Dim::Of(channels)) return nullptr;
  while (value.valid()) {
    const ValueRange* range = ranges.Find(graph, value);
    if (range != nullptr && !range->channel_magnitudes.empty()) {
      const bool same = static_cast<int64_t>(range->channel_magnitudes.size()) == channels &&
                        InnerElements(graph.shape(value), range->channel_axis) == inner;
      return same ? range : nullptr;
    }
    const NodeId producer = graph.producer(value);
    if (!IsView(graph.op(producer))) return nullptr;
    value = graph.input(producer, 0);
  }
  return nullptr;
}

}  // namespace halftone
