// Which TensorFlow op a canonical node means.

#include "passes/precision/op_lists.h"

namespace halftone {
namespace {

// Rank of the node's first input; 0 if it is not known.
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

std::string_view TensorFlowOp(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  // TensorFlow turns the first version into the second, which has a type for the statistics, before it looks.
  if (node.spelling == "FusedBatchNorm") return "FusedBatchNormV2";
  if (g.format() != GraphFormat::kOnnx && !node.spelling.empty()) return node.spelling;
  const bool volume = InputRank(g, id) == 5;
  switch (node.op) {
    case OpKind::kInput:
      return "Placeholder";
    case OpKind::kConstant:
      return "Const";
    case OpKind::kOpaque:
      return "";
    case OpKind::kIdentity:
      return "Identity";
    case OpKind::kDropout:
      return "Identity";  // at inference
    case OpKind::kConv:
      return ConvOp(g, id);
    case OpKind::kMatMul:
      return InputRank(g, id) > 2 || InputRank(g, id, 1) > 2 ? "BatchMatMulV2" : "MatMul";
    case OpKind::kGemm:
      return "MatMul";
    case OpKind::kBiasAdd:
      return "BiasAdd";
    case OpKind::kAdd:
      return "AddV2";
    case OpKind::kSub:
      return "Sub";
    case OpKind::kMul:
      return "Mul";
    case OpKind::kDiv:
      return "RealDiv";
    case OpKind::kMaximum:
      return "Maximum";
    case OpKind::kMinimum:
      return "Minimum";
    case OpKind::kPow:
      return "Pow";
    case OpKind::kSquaredDifference:
      return "SquaredDifference";
    case OpKind::kAbs:
      return "Abs";
    case OpKind::kNeg:
      return "Neg";
    case OpKind::kExp:
      return "Exp";
    case OpKind::kLog:
      return "Log";
    case OpKind::kSqrt:
      return "Sqrt";
    case OpKind::kRsqrt:
      return "Rsqrt";
    case OpKind::kReciprocal:
      return "Reciprocal";
    case OpKind::kSquare:
      return "Square";
    case OpKind::kFloor:
      return "Floor";
    case OpKind::kErf:
      return "Erf";
    case OpKind::kRelu:
      return "Relu";
    case OpKind::kRelu6:
      return "Relu6";
    case OpKind::kTanh:
      return "Tanh";
    case OpKind::kSigmoid:
      return "Sigmoid";
    case OpKind::kSoftplus:
      return "Softplus";
    case OpKind::kElu:
      return "Elu";
    case OpKind::kLeakyRelu:
      return "LeakyRelu";
    case OpKind::kClip:
      return "ClipByValue";
    case OpKind::kSoftmax:
      return "Softmax";
    case OpKind::kBatchNorm:
      return "FusedBatchNormV3";
    case OpKind::kMaxPool:
      return volume ? "MaxPool3D" : "MaxPool";
    case OpKind::kAveragePool:
      return volume ? "AvgPool3D" : "AvgPool";
    case OpKind::kGlobalAveragePool:
      return "Mean";
    case OpKind::kReduceMean:
      return "Mean";
    case OpKind::kReduceSum:
      return "Sum";
    case OpKind::kReduceMax:
      return "Max";
    case OpKind::kReshape:
      return "Reshape";
    case OpKind::kFlatten:
      return "Reshape";
    case OpKind::kTranspose:
      return "Transpose";
    case OpKind::kSqueeze:
      return "Squeeze";
    case OpKind::kUnsqueeze:
      return "ExpandDims";
    case OpKind::kConcat:
      return "ConcatV2";
    case OpKind::kPad:
      return PadOp(g, id);
    case OpKind::kSlice:
      return g.input(id, 4).valid() ? "StridedSlice" : "Slice";
    case OpKind::kGather:
      return "GatherV2";
    case OpKind::kShape:
      return "Shape";
    case OpKind::kCast:
      return "Cast";
    case OpKind::kResize:
      return node.attributes.String("mode", "nearest") == "nearest" ? "ResizeNearestNeighbor" : "ResizeBilinear";
    case OpKind::kDepthToSpace:
      return "DepthToSpace";
    case OpKind::kEnter:
      return "Enter";
    case OpKind::kExit:
      return "Exit";
    case OpKind::kMerge:
      return "Merge";
    case OpKind::kSwitch:
      return "Switch";
    case OpKind::kNextIteration:
      return "NextIteration";
    case OpKind::kLoopCond:
      return "LoopCond";
    case OpKind::kNoOp:
      return "NoOp";
  }
  return "";
}

}  // namespace halftone
