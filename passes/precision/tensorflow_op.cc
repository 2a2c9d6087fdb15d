// SPDX-License-Identifier: Apache-2.0
// The TensorFlow op that corresponds to a canonical node.

#include "ir/file_dialect.h"
#include "passes/precision/op_lists.h"

namespace halftone {
namespace {

// Rank of the node's input `i`; 0 if it is unknown.
int InputRank(const Graph& g, NodeId node, int i = 0) {
  const ValueId x = g.input(node, i);
  return x.valid() && g.shape(x).has_rank() ? g.shape(x).rank() : 0;
}

std::string_view ConvOp(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  const int rank = InputRank(g, conv, 1);
  if (rank == 5) return "Conv3D";
  if (attributes.String("weights_layout", "OIHW") == "HWCM") return "DepthwiseConv2dNative";
  const int64_t group = attributes.Int("group", 1);
  if (group > 1 && rank > 0 && attributes.String("weights_layout", "OIHW") == "OIHW" &&
      g.shape(g.input(conv, 1)).dim(1).value == 1) {
    return "DepthwiseConv2dNative";
  }
  return "Conv2D";
}

std::string_view PadOp(const Graph& g, NodeId pad) {
  if (g.node(pad).attributes.String("mode", "constant") != "constant") return "MirrorPad";
  return g.input(pad, 2).valid() ? "PadV2" : "Pad";
}

}  // namespace

std::string_view TensorFlowOp(const Graph& g, NodeId id, const FileDialect* imported_from) {
  const Node& node = g.node(id);
  // Before it plans, TensorFlow replaces FusedBatchNorm with FusedBatchNormV2, which has a type for the statistics.
  if (node.spelling == "FusedBatchNorm") return "FusedBatchNormV2";
  // A fused op of a dialect counts as its first op: TensorFlow converts types before it fuses.
  const bool spelled = imported_from != nullptr && !node.spelling.empty();
  if (spelled && !imported_from->is_fused_op(node.spelling)) return node.spelling;
  const bool volume = InputRank(g, id) == 5;
  using enum OpKind;
  switch (node.op) {
    case kConv:
      return ConvOp(g, id);
    case kMatMul:
      return InputRank(g, id) > 2 || InputRank(g, id, 1) > 2 ? "BatchMatMulV2" : "MatMul";
    case kMaxPool:
      return volume ? "MaxPool3D" : "MaxPool";
    case kAveragePool:
      return volume ? "AvgPool3D" : "AvgPool";
    case kPad:
      return PadOp(g, id);
    case kSlice:
      return g.input(id, 4).valid() ? "StridedSlice" : "Slice";
    case kResize:
      return node.attributes.String("mode", "nearest") == "nearest" ? "ResizeNearestNeighbor" : "ResizeBilinear";
    default:
      return Info(node.op).tensorflow;
  }
}

}  // namespace halftone
