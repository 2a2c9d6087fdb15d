// SPDX-License-Identifier: Apache-2.0
// What TensorFlow's remapper makes and its kernels on CPUs run (with oneDNN, as its builds for x86 have it).
//
// Not all that one version or another can: few versions have swish and mish after a convolution, so they stay
// nodes of their own, as does an activation after a matmul's residual, which no kernel takes.

#include "formats/tensorflow/contractions.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/extra.h"

namespace halftone {
namespace {

using namespace dialects;
using enum Activation;
using enum Contraction;

constexpr Activation kConvActivations[] = {kRelu, kRelu6, kElu, kLeakyRelu};
constexpr Activation kConvBiasActivations[] = {kRelu, kRelu6, kElu, kLeakyRelu, kHardSwish};
constexpr Activation kDepthwiseActivations[] = {kRelu, kRelu6, kElu, kHardSwish};
constexpr Activation kMatMulActivations[] = {kRelu, kRelu6, kElu, kLeakyRelu, kTanh, kSigmoid, kGelu, kGeluTanh};

constexpr ContractionRow kContractions[] = {
    {kConv2D, "_FusedConv2D", "b"},
    {kConv2D, "_FusedConv2D", "a", kConvActivations},
    {kConv2D, "_FusedConv2D", "ba", kConvBiasActivations},
    {kConv2D, "_FusedConv2D", "br"},
    {kConv2D, "_FusedConv2D", "bra", kConvActivations},
    {kDepthwise, "_FusedDepthwiseConv2dNative", "b"},
    {kDepthwise, "_FusedDepthwiseConv2dNative", "ba", kDepthwiseActivations},
    {kConv3D, "_FusedConv3D", ""},  // for its pads
    {kConv3D, "_FusedConv3D", "b"},
    {kConv3D, "_FusedConv3D", "ba", kConvActivations},
    {kConv3D, "_FusedConv3D", "br"},
    {kConv3D, "_FusedConv3D", "bra", kConvActivations},
    {kMatMul, "_FusedMatMul", "b"},
    {kMatMul, "_FusedMatMul", "ba", kMatMulActivations},
    {kMatMul, "_FusedMatMul", "br"},
    {kBatchMatMul, "_MklFusedBatchMatMulV2", "s"},
    {kBatchMatMul, "_MklFusedBatchMatMulV2", "r"},
    {kBatchMatMul, "_MklFusedBatchMatMulV2", "sr"},
};

std::string_view ContractionOp(const Graph& g, NodeId node) {
  const ContractionRow* row = FindRow(kContractions, g, node);
  if (row == nullptr || !AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16})) return "";
  const ValueId residual = g.input(node, 3);
  switch (row->contraction) {
    case kConv2D:
      break;
    case kDepthwise:  // no pads in numbers
      if (HasPads(g, node)) return "";
      break;
    case kConv3D:
      if (row->parts.empty() && !HasPads(g, node)) return "";
      break;
    case kMatMul:
      if (g.node(node).attributes.Bool("transpose_a", false)) return "";
      if (residual.valid() && !SameShape(g, residual, g.output(node))) return "";
      break;
    case kBatchMatMul:  // four dimensions, the residual's too
      if (RankOf(g, g.output(node)) != 4 || (residual.valid() && RankOf(g, residual) != 4)) return "";
      break;
  }
  return row->op;
}

bool IsBatchNormEx(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  return attributes.String("activation", "") == "relu" && !attributes.Bool("is_training", false) &&
         HasType(g, g.input(node, 0), {DataType::kFloat32, DataType::kBFloat16}) &&
         HasType(g, g.input(node, 1), {DataType::kFloat32}) && OnlyFirstIsRead(g, node);
}

// Over the last dimension, with an offset, in one type.
bool IsMklLayerNorm(const Graph& g, NodeId node) {
  return g.node(node).attributes.Int("axis", -1) == -1 && g.input(node, 2).valid() && OnlyFirstIsRead(g, node) &&
         AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16});
}

bool IsMklInstanceNorm(const Graph& g, NodeId node) {
  const std::optional<int> rank = RankOf(g, g.input(node, 0));
  const Activation activation = PlainActivation(g, node);
  const bool activated = g.node(node).attributes.has("activation");
  return (rank == 4 || rank == 5) && (!activated || activation == kRelu || activation == kLeakyRelu) &&
         AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16});
}

// A comparison whose result is 1 or 0 in the type of what is compared.
bool IsFloat(const Graph& g, NodeId node) { return AllHaveType(g, node, {DataType::kFloat32, DataType::kBFloat16}); }

std::string_view Op(const Graph& g, NodeId node) {
  if (g.node(node).attributes.has("math_mode")) return "";  // Intel's extension alone has ops for it
  switch (g.op(node)) {
    case OpKind::kConv:
    case OpKind::kMatMul:
      return ContractionOp(g, node);
    case OpKind::kBatchNorm:
      return IsBatchNormEx(g, node) ? "_FusedBatchNormEx" : "";
    case OpKind::kLayerNorm:
      return IsMklLayerNorm(g, node) ? "_MklLayerNorm" : "";
    case OpKind::kInstanceNorm:
      return IsMklInstanceNorm(g, node) ? "_MklFusedInstanceNorm" : "";
    case OpKind::kSwish:
      return IsFloat(g, node) && g.node(node).attributes.Float("alpha", 1) == 1 ? "_MklSwish" : "";
    case OpKind::kMish:
      return IsFloat(g, node) ? "_MklFusedMish" : "";
    case OpKind::kEqual:
      return IsFloat(g, node) ? "_EqualWithCast" : "";
    case OpKind::kNotEqual:
      return IsFloat(g, node) ? "_NotEqualWithCast" : "";
    case OpKind::kLess:
      return IsFloat(g, node) ? "_LessWithCast" : "";
    case OpKind::kLessEqual:
      return IsFloat(g, node) ? "_LessEqualWithCast" : "";
    case OpKind::kGreater:
      return IsFloat(g, node) ? "_GreaterWithCast" : "";
    case OpKind::kGreaterEqual:
      return IsFloat(g, node) ? "_GreaterEqualWithCast" : "";
    default:
      return "";
  }
}

constexpr std::string_view kOps[] = {
    "_FusedConv2D",      "_FusedDepthwiseConv2dNative",
    "_FusedConv3D",      "_FusedMatMul",
    "_FusedBatchNormEx", "_MklFusedBatchMatMulV2",
    "_MklLayerNorm",     "_MklFusedInstanceNorm",
    "_MklSwish",         "_MklFusedMish",
    "_EqualWithCast",    "_NotEqualWithCast",
    "_LessWithCast",     "_LessEqualWithCast",
    "_GreaterWithCast",  "_GreaterEqualWithCast",
};

}  // namespace

const FileDialect& TensorFlowDialect() {
  static constexpr FileDialect kDialect = {
      .name = "tensorflow",
      .features = kGraphDefFeatures,
      .fused_op = Op,
      .fused_ops = kOps,
      .is_fused_op = IsFusedTensorFlowOp,
      .left_out = graphdef::kExtraAbsent,
  };
  return kDialect;
}

}  // namespace halftone
