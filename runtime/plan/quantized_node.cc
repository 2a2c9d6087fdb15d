// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/quantized_node.h"

#include <algorithm>

namespace halftone {
namespace {

// The result's elements are elements of the inputs.
constexpr OpKind kMovers[] = {
    OpKind::kIdentity,  OpKind::kDropout,      OpKind::kReshape,       OpKind::kFlatten,      OpKind::kSqueeze,
    OpKind::kUnsqueeze, OpKind::kTranspose,    OpKind::kSlice,         OpKind::kStridedSlice, OpKind::kSplit,
    OpKind::kStack,     OpKind::kUnstack,      OpKind::kConcat,        OpKind::kExpand,       OpKind::kTile,
    OpKind::kReverse,   OpKind::kDepthToSpace, OpKind::kSpaceToDepth,  OpKind::kBatchToSpace, OpKind::kGather,
    OpKind::kGatherNd,  OpKind::kMaxPool,      OpKind::kGlobalMaxPool, OpKind::kReduceMax,    OpKind::kReduceMin,
    OpKind::kResize,    OpKind::kPad,
};

bool IsMover(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (std::ranges::find(kMovers, node.op) == std::end(kMovers)) return false;
  const Attributes& attributes = node.attributes;
  if (node.op == OpKind::kPad) return attributes.String("mode", "constant") != "constant";
  if (node.op != OpKind::kResize) return true;
  return attributes.String("mode", "nearest") == "nearest" &&
         attributes.String("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

// Data of a resize or pad are its first input: others are sizes, scales, a constant.
bool IsData(OpKind op, size_t input) {
  const bool one = op == OpKind::kResize || op == OpKind::kPad || op == OpKind::kDropout;
  return !one || input == 0;
}

// Axes, indices and shapes have other types.
bool MayBeData(DataType type) {
  return type != DataType::kInt32 && type != DataType::kInt64 && type != DataType::kBool;
}

}  // namespace

NodeValues ValuesOf(const Graph& graph, NodeId id) {
  if (!IsQuantized(graph, id)) return NodeValues::kPlain;
  return MovesIntegers(graph, id) ? NodeValues::kMoved : NodeValues::kQuantized;
}

bool IsQuantized(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (PassesIntegers(node.op)) return false;
  const auto stands = [&](ValueId value) { return value.valid() && graph.quantization(value) != nullptr; };
  return std::ranges::any_of(node.inputs, stands) || std::ranges::any_of(node.outputs, stands);
}

bool MovesIntegers(const Graph& graph, NodeId id) {
  if (!IsMover(graph, id)) return false;
  const Node& node = graph.node(id);
  const Quantization* common = nullptr;
  DataType type = DataType::kUnknown;
  const auto fits = [&](ValueId value) {
    if (!value.valid()) return true;
    const Quantization* own = graph.quantization(value);
    if (own == nullptr) return !MayBeData(graph.type(value));
    if (common == nullptr) {
      common = own;
      type = graph.type(value);
    }
    return own->per_tensor() && *own == *common && graph.type(value) == type;
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (IsData(node.op, i) && !fits(node.inputs[i])) return false;
  }
  const auto stands = [&](ValueId value) { return value.valid() && graph.quantization(value) != nullptr; };
  return std::ranges::all_of(node.outputs, fits) && stands(graph.input(id, 0)) && stands(graph.output(id));
}

}  // namespace halftone
