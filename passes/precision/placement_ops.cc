// SPDX-License-Identifier: Apache-2.0
// Source: Paddle's lists of ops for bfloat16 on CPUs with oneDNN. One row per op of Paddle; an op whose name differs
// between the versions has two rows. Newest: the pass of its PIR; 2.x: the pass of its older IR, in which a fused
// convolution is a conv2d with attributes, and `sum` adds its inputs.

#include "passes/precision/placement_ops.h"

#include <algorithm>
#include <iterator>

#include "ir/binary_chain.h"

namespace halftone {
namespace {

constexpr uint8_t kNew = 1 << static_cast<int>(PlacementLists::kPaddle);
constexpr uint8_t kOld = 1 << static_cast<int>(PlacementLists::kPaddle2);

constexpr std::string_view kHeavy = "most of the arithmetic; sums are kept in f32";
constexpr std::string_view kRecurrence = "most of the arithmetic; sums, gates and cell states are kept in f32";
constexpr std::string_view kArithmetic = "memory bound; rounds its result";
constexpr std::string_view kFunction = "memory bound; a smooth function, rounds its result";
constexpr std::string_view kStatistics = "statistics are computed in f32; rounds its result";
constexpr std::string_view kSums = "adds up many values, in f32";
constexpr std::string_view kMoves = "moves values and computes none";
constexpr std::string_view kSelects = "selects or clips values, which rounds nothing";

int RankOf(const Graph& g, ValueId value) {
  return value.valid() && g.shape(value).has_rank() ? g.shape(value).rank() : 0;
}

// Whether the weights are those of a 2-D convolution, or of a 1-D one, which Paddle computes as 2-D; not of a 3-D one.
bool IsPlane(const Graph& g, ValueId value) { return RankOf(g, value) == 3 || RankOf(g, value) == 4; }

template <OpKind kKind>
bool Is(const Graph& g, NodeId id) {
  return g.op(id) == kKind;
}

bool IsConv2d(const Graph& g, NodeId id) { return g.op(id) == OpKind::kConv && IsPlane(g, g.input(id, 1)); }
bool HasMore(const Graph& g, NodeId id) {  // fused parts in addition to its operands
  return g.input(id, 2).valid() || g.input(id, 3).valid() || g.node(id).attributes.has("activation") ||
         g.node(id).attributes.Float("scale", 1) != 1;
}
bool IsPlainConv2d(const Graph& g, NodeId id) { return IsConv2d(g, id) && !HasMore(g, id); }
bool IsFusedConv2d(const Graph& g, NodeId id) { return IsConv2d(g, id) && HasMore(g, id); }

bool IsTransposedConv2d(const Graph& g, NodeId id) {
  return g.op(id) == OpKind::kConvTranspose && IsPlane(g, g.input(id, 1));
}
bool IsTransposedConv2dBias(const Graph& g, NodeId id) { return IsTransposedConv2d(g, id) && g.input(id, 2).valid(); }

// A matmul with a matrix of weights and a bias.
bool IsFc(const Graph& g, NodeId id) {
  if (g.op(id) != OpKind::kMatMul && g.op(id) != OpKind::kGemm) return false;
  const ValueId weights = g.input(id, 1);
  return g.IsConstant(weights) && RankOf(g, weights) == 2 && g.input(id, 2).valid();
}
bool IsAnyMatMul(const Graph& g, NodeId id) {
  return (g.op(id) == OpKind::kMatMul || g.op(id) == OpKind::kGemm) && !IsFc(g, id);
}
bool IsPlainMatMul(const Graph& g, NodeId id) { return IsAnyMatMul(g, id) && !HasMore(g, id); }
bool IsFusedMatMul(const Graph& g, NodeId id) { return IsAnyMatMul(g, id) && HasMore(g, id); }

bool IsPool2d(const Graph& g, NodeId id) {
  switch (g.op(id)) {
    case OpKind::kMaxPool:
    case OpKind::kAveragePool:
    case OpKind::kGlobalAveragePool:
    case OpKind::kGlobalMaxPool:
      return IsPlane(g, g.input(id, 0));
    default:
      return false;
  }
}

bool IsBilinear(const Graph& g, NodeId id) {
  return g.op(id) == OpKind::kResize && g.node(id).attributes.String("mode", "nearest") == "linear" &&
         RankOf(g, g.input(id, 0)) == 4;
}

// Whether all steps of the chain are one of these two ops.
bool IsChainOf(const Graph& g, NodeId id, OpKind a, OpKind b) {
  if (g.op(id) != OpKind::kBinaryChain) return false;
  const auto steps = StepsOfChain(g.node(id));
  return steps.ok() &&
         std::all_of(steps->begin(), steps->end(), [&](const ChainStep& step) { return step.op == a || step.op == b; });
}
bool IsAdd(const Graph& g, NodeId id) {
  return g.op(id) == OpKind::kAdd || g.op(id) == OpKind::kBiasAdd || IsChainOf(g, id, OpKind::kAdd, OpKind::kAdd);
}

// Two steps with constant numbers, an add and a mul in any order: Paddle's `scale`.
bool IsScale(const Graph& g, NodeId id) {
  return IsChainOf(g, id, OpKind::kAdd, OpKind::kMul) && g.node(id).inputs.size() == 3 &&
         g.ConstantScalar(g.input(id, 1)).has_value() && g.ConstantScalar(g.input(id, 2)).has_value() &&
         !IsChainOf(g, id, OpKind::kAdd, OpKind::kAdd) && !IsChainOf(g, id, OpKind::kMul, OpKind::kMul);
}
bool IsMultiply(const Graph& g, NodeId id) {
  if (g.op(id) == OpKind::kMul) return true;
  return !IsAdd(g, id) && !IsScale(g, id) && IsChainOf(g, id, OpKind::kAdd, OpKind::kMul);
}

using enum OpKind;

constexpr PlacementRow kRows[] = {
    {"bilinear_interp", kNew, IsBilinear, kArithmetic},
    {"cast", kNew, Is<kCast>, kMoves},
    {"clip", kNew, Is<kClip>, kSelects},
    {"concat", kNew | kOld, Is<kConcat>, kMoves},
    {"conv2d", kNew, IsPlainConv2d, kHeavy, true},
    {"conv2d", kOld, IsConv2d, kHeavy, true},
    {"conv2d_transpose_bias", kNew, IsTransposedConv2dBias, kHeavy},
    {"conv2d_transpose", kNew | kOld, IsTransposedConv2d, kHeavy},
    {"add", kNew, IsAdd, kArithmetic},
    {"elementwise_add", kOld, IsAdd, kArithmetic},
    {"multiply", kNew, IsMultiply, kArithmetic},
    {"elementwise_mul", kOld, IsMultiply, kArithmetic},
    {"fc", kNew | kOld, IsFc, kHeavy, true},
    {"fusion_gru", kNew | kOld, Is<kGru>, kRecurrence},
    {"fusion_lstm", kOld, Is<kLstm>, kRecurrence},
    {"gelu", kNew | kOld, Is<kGelu>, kFunction},
    {"layer_norm", kNew | kOld, Is<kLayerNorm>, kStatistics},
    {"matmul", kNew, IsPlainMatMul, kHeavy, true},
    {"matmul", kOld, IsAnyMatMul, kHeavy, true},
    {"matmul_v2", kOld, IsAnyMatMul, kHeavy, true},
    {"pool2d", kNew | kOld, IsPool2d, kArithmetic},
    {"prelu", kNew | kOld, Is<kPRelu>, kArithmetic},
    {"relu", kNew | kOld, Is<kRelu>, kSelects},
    {"reshape", kNew, Is<kReshape>, kMoves},
    {"reshape2", kOld, Is<kReshape>, kMoves},
    {"scale", kNew, IsScale, kArithmetic},
    {"sigmoid", kNew, Is<kSigmoid>, kFunction},
    {"slice", kNew, Is<kSlice>, kMoves},
    {"softmax", kNew | kOld, Is<kSoftmax>, kFunction},
    {"squeeze", kNew, Is<kSqueeze>, kMoves},
    {"split", kNew | kOld, Is<kSplit>, kMoves},
    {"sum", kNew, Is<kReduceSum>, kSums},
    {"sum", kOld, Is<kAddN>, kArithmetic},
    {"transpose", kNew, Is<kTranspose>, kMoves},
    {"transpose2", kOld, Is<kTranspose>, kMoves},
    {"fused_conv2d", kNew, IsFusedConv2d, kHeavy, true},
    {"fused_matmul", kNew, IsFusedMatMul, kHeavy, true},
};

}  // namespace

std::string_view PlacementListsName(PlacementLists lists) {
  return lists == PlacementLists::kPaddle ? "paddle" : "paddle-2.x";
}

std::optional<PlacementLists> PlacementListsFromName(std::string_view name) {
  for (const PlacementLists lists : {PlacementLists::kPaddle, PlacementLists::kPaddle2}) {
    if (PlacementListsName(lists) == name) return lists;
  }
  return std::nullopt;
}

std::span<const PlacementRow> PlacementRows() { return kRows; }

std::vector<std::string> PlacementOpNames(PlacementLists lists) {
  std::vector<std::string> names;
  for (const PlacementRow& row : kRows) {
    if (row.IsOn(lists) && std::find(names.begin(), names.end(), row.op) == names.end()) names.emplace_back(row.op);
  }
  return names;
}

const PlacementRow* FindPlacementRow(const Graph& graph, NodeId node, PlacementLists lists,
                                     std::span<const std::string> only) {
  const auto wanted = [&](const PlacementRow& row) {
    return row.IsOn(lists) && (only.empty() || std::find(only.begin(), only.end(), row.op) != only.end()) &&
           row.means(graph, node);
  };
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), wanted);
  return row == std::end(kRows) ? nullptr : &*row;
}

bool IsScaleWithBiasAfter(const Graph& graph, NodeId node) {
  if (!IsScale(graph, node)) return false;
  const auto steps = StepsOfChain(graph.node(node));
  return steps.ok() && (*steps)[0].op == OpKind::kMul;
}

}  // namespace halftone
