// SPDX-License-Identifier: Apache-2.0
// What Intel's extension for TensorFlow makes, and its kernels on CPUs run.
//
// HardSwish is a word that it knows, but it hands oneDNN a slope and an offset of 0 for it: never written.

#include "formats/tensorflow/contractions.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/extra.h"
#include "ir/binary_chain.h"

namespace halftone {
namespace {

using namespace dialects;
using enum Activation;
using enum Contraction;

constexpr Activation kActivations[] = {kRelu,    kRelu6, kElu,      kLeakyRelu, kTanh,
                                       kSigmoid, kGelu,  kGeluTanh, kSwish,     kMish};

// Pads in numbers: Conv2D and the fused ops in two dimensions have an attribute for them.
constexpr ContractionRow kContractions[] = {
    {kConv2D, "_ITEXFusedConv2D", "b"},
    {kConv2D, "_ITEXFusedConv2D", "ba", kActivations},
    {kConv2D, "_ITEXFusedConv2D", "br"},
    {kConv2D, "_ITEXFusedConv2D", "bra", kActivations},
    {kConv2D, "_ITEXFusedConv2D", "bar", kActivations},
    {kDepthwise, "_ITEXFusedDepthwiseConv2dNative", "b"},
    {kDepthwise, "_ITEXFusedDepthwiseConv2dNative", "ba", kActivations},
    {kConv3D, "_ITEXFusedConv3D", "b"},
    {kConv3D, "_ITEXFusedConv3D", "ba", kActivations},
    {kConv3D, "_ITEXFusedConv3D", "br"},
    {kConv3D, "_ITEXFusedConv3D", "bra", kActivations},
    {kConv3D, "_ITEXFusedConv3D", "bar", kActivations},
    {kMatMul, "_ITEXFusedMatMul", "b"},
    {kMatMul, "_ITEXFusedMatMul", "ba", kActivations},
    {kMatMul, "_ITEXFusedMatMul", "br"},
    {kMatMul, "_ITEXFusedMatMul", "bra", kActivations},
    {kMatMul, "_ITEXFusedMatMul", "bar", kActivations},
    {kBatchMatMul, "_ITEXFusedBatchMatMulV2", "s"},
    {kBatchMatMul, "_ITEXFusedBatchMatMulV2", "r"},
    {kBatchMatMul, "_ITEXFusedBatchMatMulV2", "sr"},
};
// With pads in numbers, where the op without a pad has no attribute for them.
constexpr ContractionRow kPadded[] = {
    {kDepthwise, "_ITEXPadWithDepthwiseConv2dNative", ""},
    {kConv3D, "_ITEXPadWithConv3D", ""},
    {kConv3D, "_ITEXPadWithFusedConv3D", "b"},
    {kConv3D, "_ITEXPadWithFusedConv3D", "ba", kActivations},
};

// bf16 operands of a product in f32, as they come out of casts.
bool CastsFromBFloat16(const Graph& g, ValueId value) {
  if (!value.valid() || !g.producer(value).valid() || g.op(value) != OpKind::kCast) return false;
  return g.type(value) == DataType::kFloat32 && HasType(g, g.input(g.producer(value), 0), {DataType::kBFloat16});
}

// A product of bf16, or of f32 that is rounded to bf16, with a result, bias and residual of f32.
bool Accumulates(const Graph& g, NodeId node) {
  if (ContractionOf(g, node) != kMatMul || g.type(g.output(node)) != DataType::kFloat32) return false;
  const DataType operand = g.node(node).attributes.has("math_mode") ? DataType::kFloat32 : DataType::kBFloat16;
  const std::vector<ValueId>& inputs = g.node(node).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].valid() && g.type(inputs[i]) != (i < 2 ? operand : DataType::kFloat32)) return false;
  }
  const ValueId residual = g.input(node, 3);
  return !residual.valid() || SameShape(g, residual, g.output(node));
}

std::string_view ContractionOp(const Graph& g, NodeId node) {
  if (Accumulates(g, node)) {
    if (FindRow(kContractions, g, node) != nullptr) return "_ITEXFusedAccMatMul";
    return PartsOf(g, node).empty() ? "_ITEXAccMatMul" : "";
  }
  if (g.node(node).attributes.has("math_mode")) return "";
  if (!AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16})) return "";
  const ContractionRow* row = FindRow(kContractions, g, node);
  if (g.op(node) == OpKind::kConv && HasPads(g, node)) {
    if (const ContractionRow* padded = FindRow(kPadded, g, node)) row = padded;
    if (row != nullptr && row->op == "_ITEXFusedConv3D") return "";
  }
  const bool product = ContractionOf(g, node) == kMatMul;
  const ValueId residual = g.input(node, 3);
  if (product && residual.valid() && !SameShape(g, residual, g.output(node))) return "";
  if (product && CastsFromBFloat16(g, g.input(node, 0)) && CastsFromBFloat16(g, g.input(node, 1))) {
    if (row != nullptr) return "_ITEXFusedAccMatMul";
    return PartsOf(g, node).empty() ? "_ITEXAccMatMul" : "";
  }
  if (row == nullptr) return "";
  if (row->contraction == kBatchMatMul &&
      (RankOf(g, g.output(node)) != 4 || (residual.valid() && RankOf(g, residual) != 4))) {
    return "";
  }
  return row->op;
}

bool IsFloat(const Graph& g, NodeId node) {
  return AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16});
}

bool IsReluOrLeaky(const Graph& g, NodeId node) {
  const Activation activation = PlainActivation(g, node);
  return activation == kRelu || activation == kLeakyRelu;
}

// Scale and offset of f32, whatever x is.
bool HasFloatScale(const Graph& g, NodeId node) {
  return HasType(g, g.input(node, 0), {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) &&
         HasType(g, g.input(node, 1), {DataType::kFloat32}) && HasType(g, g.input(node, 2), {DataType::kFloat32});
}

bool IsBatchNormEx(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  return attributes.String("activation", "") == "relu" && !attributes.Bool("is_training", false) &&
         HasFloatScale(g, node) && OnlyFirstIsRead(g, node);
}

std::string_view LayerNormOp(const Graph& g, NodeId node) {
  if (g.node(node).attributes.Int("axis", -1) != -1 || !OnlyFirstIsRead(g, node)) return "";
  if (HasFloatScale(g, node)) return "ITEXLayerNorm";
  return g.input(node, 2).valid() && IsFloat(g, node) ? "_ITEXMklLayerNorm" : "";
}

std::string_view InstanceNormOp(const Graph& g, NodeId node) {
  const std::optional<int> rank = RankOf(g, g.input(node, 0));
  if (!HasFloatScale(g, node) || !(rank == 4 || rank == 5)) return "";
  if (!g.node(node).attributes.has("activation")) return "_ITEXInstanceNorm";
  return IsReluOrLeaky(g, node) ? "_ITEXFusedInstanceNorm" : "";
}

// softmax(x + addend) over the last of at least two dimensions.
bool IsAddV2WithSoftmax(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  const std::optional<int> rank = RankOf(g, g.input(node, 0));
  const int64_t axis = attributes.Int("axis", -1);
  return g.input(node, 1).valid() && attributes.Float("scale", 1) == 1 && !attributes.Bool("flatten", false) &&
         rank.has_value() && rank >= 2 && (axis == -1 || axis == *rank - 1) && IsFloat(g, node);
}

// Two or three steps of add, sub and mul over inputs of one shape. The first step cannot be reversed; it need not: its
// operands can be exchanged.
bool IsFusedBinary(const Graph& g, NodeId node) {
  const absl::StatusOr<std::vector<ChainStep>> steps = StepsOfChain(g.node(node));
  if (!steps.ok() || steps->size() < 2 || steps->size() > 3 || g.node(node).attributes.has("activation")) return false;
  for (const ChainStep& step : *steps) {
    if (step.op != OpKind::kAdd && step.op != OpKind::kSub && step.op != OpKind::kMul) return false;
  }
  for (const ValueId x : g.node(node).inputs) {
    if (!SameShape(g, x, g.output(node)) || g.shape(x).rank() == 0) return false;
  }
  return IsFloat(g, node);
}

// q, k, v of four dimensions with heads of one size, the usual scale.
bool IsAttention(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  if (attributes.has("scale") || attributes.Bool("k_transposed", false)) return false;
  for (int i = 0; i < 3; ++i) {
    if (RankOf(g, g.input(node, i)) != 4) return false;
  }
  const Dim head = g.shape(g.input(node, 0)).dim(3);
  return head.known() && head == g.shape(g.input(node, 2)).dim(3) &&
         AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16});
}

std::string_view Op(const Graph& g, NodeId node) {
  const auto where = [](bool holds, std::string_view op) { return holds ? op : std::string_view(); };
  switch (g.op(node)) {
    case OpKind::kConv:
    case OpKind::kMatMul:
      return ContractionOp(g, node);
    case OpKind::kBatchNorm:
      return where(IsBatchNormEx(g, node), "_ITEXFusedBatchNormEx");
    case OpKind::kLayerNorm:
      return LayerNormOp(g, node);
    case OpKind::kInstanceNorm:
      return InstanceNormOp(g, node);
    case OpKind::kSoftmax:
      return where(IsAddV2WithSoftmax(g, node), "_ITEXFusedAddV2WithSoftmax");
    case OpKind::kSwish:
      return where(IsFloat(g, node), "_ITEXSwish");
    case OpKind::kMish:
      return where(IsFloat(g, node), "_ITEXMish");
    case OpKind::kGelu:
      return where(IsFloat(g, node), "ITEXGelu");
    case OpKind::kBinaryChain:
      return where(IsFusedBinary(g, node), "_ITEXFusedBinary");
    case OpKind::kScaledDotProductAttention:
      return where(IsAttention(g, node), "ScaledDotProductAttentionInference");
    case OpKind::kEqual:
      return where(IsFloat(g, node), "_ITEXEqualWithCast");
    case OpKind::kNotEqual:
      return where(IsFloat(g, node), "_ITEXNotEqualWithCast");
    case OpKind::kLess:
      return where(IsFloat(g, node), "_ITEXLessWithCast");
    case OpKind::kLessEqual:
      return where(IsFloat(g, node), "_ITEXLessEqualWithCast");
    case OpKind::kGreater:
      return where(IsFloat(g, node), "_ITEXGreaterWithCast");
    case OpKind::kGreaterEqual:
      return where(IsFloat(g, node), "_ITEXGreaterEqualWithCast");
    default:
      return "";
  }
}

constexpr std::string_view kOps[] = {
    "_ITEXFusedConv2D",
    "_ITEXFusedConv3D",
    "_ITEXFusedDepthwiseConv2dNative",
    "_ITEXFusedMatMul",
    "_ITEXFusedBatchMatMulV2",
    "_ITEXAccMatMul",
    "_ITEXFusedAccMatMul",
    "_ITEXPadWithConv2D",
    "_ITEXPadWithConv3D",
    "_ITEXPadWithDepthwiseConv2dNative",
    "_ITEXPadWithFusedConv2D",
    "_ITEXPadWithFusedConv3D",
    "_ITEXFusedBatchNormEx",
    "ITEXLayerNorm",
    "_ITEXMklLayerNorm",
    "_ITEXInstanceNorm",
    "_ITEXFusedInstanceNorm",
    "_ITEXFusedAddV2WithSoftmax",
    "_ITEXSwish",
    "_ITEXMish",
    "ITEXGelu",
    "_ITEXFusedBinary",
    "ScaledDotProductAttentionInference",
    "_ITEXEqualWithCast",
    "_ITEXNotEqualWithCast",
    "_ITEXLessWithCast",
    "_ITEXLessEqualWithCast",
    "_ITEXGreaterWithCast",
    "_ITEXGreaterEqualWithCast",
};

}  // namespace

const FileDialect& ItexDialect() {
  static constexpr FileDialect kDialect = {
      .name = "itex",
      .features = kGraphDefFeatures,
      .fused_op = Op,
      .fused_ops = kOps,
      .is_fused_op = IsFusedTensorFlowOp,
      .left_out = graphdef::kExtraAbsent,
  };
  return kDialect;
}

}  // namespace halftone
