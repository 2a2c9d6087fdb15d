// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/quantizable_ops.h"

#include <string>

#include "ir/recurrent.h"

namespace halftone {
namespace {

using enum OpKind;
using enum QuantizedRole;

struct Row {
  OpKind op;
  QuantizedRole role;
  int inputs;  // of the first so many that may be integers; variadic ones all
};

constexpr Row kRows[] = {
    {kConv, kContraction, 4},
    {kMatMul, kContraction, 4},
    {kGemm, kContraction, 2},
    {kConvTranspose, kContraction, 2},
    {kLstm, kRecurrent, 3},
    {kGru, kRecurrent, 3},
    {kRnn, kRecurrent, 3},
    {kAdd, kCompute, 2},
    {kSub, kCompute, 2},
    {kMul, kCompute, 2},
    {kMaximum, kCompute, 2},
    {kMinimum, kCompute, 2},
    {kBinaryChain, kCompute, 0},
    {kRelu, kCompute, 1},
    {kRelu6, kCompute, 1},
    {kClip, kCompute, 1},
    {kLeakyRelu, kCompute, 1},
    {kPRelu, kCompute, 1},
    {kHardSwish, kCompute, 1},
    {kHardSigmoid, kCompute, 1},
    {kSwish, kCompute, 1},
    {kSigmoid, kCompute, 1},
    {kTanh, kCompute, 1},
    {kGelu, kCompute, 1},
    {kSoftmax, kCompute, 1},
    {kAveragePool, kCompute, 1},
    {kGlobalAveragePool, kCompute, 1},
    {kReduceMean, kCompute, 1},
    {kMaxPool, kMove, 1},  // scales are positive: the largest integer is the largest number
    {kGlobalMaxPool, kMove, 1},
    {kReduceMax, kMove, 1},
    {kResize, kMove, 1},  // of the nearest; else it computes
    {kReshape, kMove, 1},
    {kFlatten, kMove, 1},
    {kTranspose, kMove, 1},
    {kSqueeze, kMove, 1},
    {kUnsqueeze, kMove, 1},
    {kConcat, kMove, 0},
    {kStack, kMove, 0},
    {kSplit, kMove, 1},
    {kUnstack, kMove, 1},
    {kSlice, kMove, 1},
    {kStridedSlice, kMove, 1},
    {kGather, kMove, 1},
    {kGatherNd, kMove, 1},
    {kExpand, kMove, 1},
    {kTile, kMove, 1},
    {kReverse, kMove, 1},
    {kDepthToSpace, kMove, 1},
    {kSpaceToDepth, kMove, 1},
};

const Row* FindRow(OpKind op) {
  for (const Row& row : kRows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

constexpr int kBias = 2;

}  // namespace

QuantizedRole QuantizedRoleOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Row* row = FindRow(node.op);
  if (row == nullptr) return kNone;
  if (node.op == kMaxPool && graph.output(id, 1).valid()) return kNone;  // of the indices, too
  if (node.op == kResize) {  // tf_crop_and_resize makes a number of its own outside of the image
    const bool crops = node.attributes.String("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    return node.attributes.String("mode", "nearest") == "nearest" && !crops ? kMove : kCompute;
  }
  return row->role;
}

std::vector<int> QuantizableInputs(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Row* row = FindRow(node.op);
  std::vector<int> inputs;
  if (row == nullptr) return inputs;
  const int count = static_cast<int>(node.inputs.size());
  for (int i = 0; i < count; ++i) {
    const Port* port = InputPort(node.op, i, count);
    const bool wanted = row->inputs == 0 ? port != nullptr && port->variadic : i < row->inputs;
    const bool bias = row->role == kContraction && i == kBias;
    if (wanted && !bias && node.inputs[i].valid()) inputs.push_back(i);
  }
  return inputs;
}

bool MultipliesWeights(QuantizedRole role) {
  return role == QuantizedRole::kContraction || role == QuantizedRole::kRecurrent;
}

bool TakesWeights(QuantizedRole role, int input) {
  if (role == kContraction) return input == 1;
  return role == kRecurrent && (input == kRecurrentW || input == kRecurrentR);
}

int OutputChannelAxis(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (Info(node.op).group == OpGroup::kRecurrent) return 1;  // [directions, gates * hidden, input or hidden]
  const ValueId weights = graph.input(id, 1);
  if (!weights.valid() || !graph.shape(weights).has_rank()) return -1;
  const Shape& shape = graph.shape(weights);
  const int rank = shape.rank();
  if (rank < 2) return -1;
  if (node.op == kConv) {
    const std::string layout = node.attributes.String("weights_layout", "OIHW");
    if (layout == "OIHW") return 0;
    if (layout == "HWIO") return rank - 1;
    return shape.dim(rank - 1) == Dim::Of(1) ? rank - 2 : -1;
  }
  if (node.op == kConvTranspose) {
    if (node.attributes.Int("group", 1) != 1) return -1;
    return node.attributes.String("weights_layout", "IOHW") == "IOHW" ? 1 : rank - 2;
  }
  return node.attributes.Bool("transpose_b", false) ? rank - 2 : rank - 1;
}

}  // namespace halftone
