// Which TensorFlow op a canonical node means.

#include <iterator>

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

// What the op means where its attributes do not matter; "" where TensorFlow has no such op, or several.
struct Row {
  OpKind kind;
  std::string_view tensorflow;
};
using enum OpKind;
constexpr Row kNames[] = {
    {kInput, "Placeholder"},
    {kConstant, "Const"},
    {kOpaque, ""},
    {kIdentity, "Identity"},
    {kDropout, "Identity"},
    {kConv, ""},    // see below
    {kMatMul, ""},  // see below
    {kGemm, "MatMul"},
    {kBiasAdd, "BiasAdd"},
    {kAdd, "AddV2"},
    {kSub, "Sub"},
    {kMul, "Mul"},
    {kDiv, "RealDiv"},
    {kMaximum, "Maximum"},
    {kMinimum, "Minimum"},
    {kPow, "Pow"},
    {kSquaredDifference, "SquaredDifference"},
    {kAbs, "Abs"},
    {kNeg, "Neg"},
    {kExp, "Exp"},
    {kLog, "Log"},
    {kSqrt, "Sqrt"},
    {kRsqrt, "Rsqrt"},
    {kReciprocal, "Reciprocal"},
    {kSquare, "Square"},
    {kFloor, "Floor"},
    {kErf, "Erf"},
    {kRelu, "Relu"},
    {kRelu6, "Relu6"},
    {kTanh, "Tanh"},
    {kSigmoid, "Sigmoid"},
    {kSoftplus, "Softplus"},
    {kElu, "Elu"},
    {kLeakyRelu, "LeakyRelu"},
    {kClip, "ClipByValue"},
    {kSoftmax, "Softmax"},
    {kBatchNorm, "FusedBatchNormV3"},
    {kMaxPool, ""},      // see below
    {kAveragePool, ""},  // see below
    {kGlobalAveragePool, "Mean"},
    {kReduceMean, "Mean"},
    {kReduceSum, "Sum"},
    {kReduceMax, "Max"},
    {kReshape, "Reshape"},
    {kFlatten, "Reshape"},
    {kTranspose, "Transpose"},
    {kSqueeze, "Squeeze"},
    {kUnsqueeze, "ExpandDims"},
    {kConcat, "ConcatV2"},
    {kPad, ""},    // see below
    {kSlice, ""},  // see below
    {kGather, "GatherV2"},
    {kShape, "Shape"},
    {kCast, "Cast"},
    {kResize, ""},  // see below
    {kDepthToSpace, "DepthToSpace"},
    {kAcos, "Acos"},
    {kAcosh, "Acosh"},
    {kAsin, "Asin"},
    {kAsinh, "Asinh"},
    {kAtan, "Atan"},
    {kAtanh, "Atanh"},
    {kCos, "Cos"},
    {kCosh, "Cosh"},
    {kSin, "Sin"},
    {kSinh, "Sinh"},
    {kTan, "Tan"},
    {kCeil, "Ceil"},
    {kRound, "Round"},
    {kSign, "Sign"},
    {kLog1p, "Log1p"},
    {kExpm1, "Expm1"},
    {kErfc, "Erfc"},
    {kSoftsign, "Softsign"},
    {kMish, ""},
    {kHardSwish, ""},
    {kBitwiseNot, "Invert"},
    {kNot, "LogicalNot"},
    {kHardSigmoid, ""},
    {kGelu, ""},
    {kSelu, "Selu"},
    {kCelu, ""},
    {kThresholdedRelu, ""},
    {kSwish, ""},
    {kShrink, ""},
    {kIsNaN, "IsNan"},
    {kIsFinite, "IsFinite"},
    {kIsInf, "IsInf"},
    {kFillLike, "ZerosLike"},
    {kCastLike, "Cast"},
    {kPRelu, ""},
    {kFloorDiv, "FloorDiv"},
    {kDivNoNan, "DivNoNan"},
    {kAtan2, "Atan2"},
    {kMod, "FloorMod"},
    {kBitShift, "LeftShift"},
    {kBitwiseAnd, "BitwiseAnd"},
    {kBitwiseOr, "BitwiseOr"},
    {kBitwiseXor, "BitwiseXor"},
    {kEqual, "Equal"},
    {kNotEqual, "NotEqual"},
    {kLess, "Less"},
    {kLessEqual, "LessEqual"},
    {kGreater, "Greater"},
    {kGreaterEqual, "GreaterEqual"},
    {kAnd, "LogicalAnd"},
    {kOr, "LogicalOr"},
    {kXor, "LogicalXor"},
    {kWhere, "SelectV2"},
    {kAddN, "AddN"},
    {kMaxN, "Maximum"},
    {kMinN, "Minimum"},
    {kMeanN, "AddN"},
    {kLogSoftmax, "LogSoftmax"},
    {kHardmax, ""},
    {kLayerNorm, "_MklLayerNorm"},
    {kRmsNorm, ""},
    {kSkipLayerNorm, ""},
    {kInstanceNorm, "_MklFusedInstanceNorm"},
    {kGroupNorm, ""},
    {kLpNorm, ""},
    {kLrn, "LRN"},
    {kMeanVarianceNorm, ""},
    {kConvTranspose, "Conv2DBackpropInput"},
    {kDeformConv, ""},
    {kConvInteger, ""},
    {kMatMulInteger, ""},
    {kEinsum, "Einsum"},
    {kDet, "MatrixDeterminant"},
    {kCol2Im, ""},
    {kLpPool, ""},
    {kGlobalMaxPool, "Max"},
    {kGlobalLpPool, ""},
    {kMaxUnpool, ""},
    {kReduceMin, "Min"},
    {kReduceProd, "Prod"},
    {kReduceL1, ""},
    {kReduceL2, "EuclideanNorm"},
    {kReduceLogSum, ""},
    {kReduceLogSumExp, ""},
    {kReduceSumSquare, ""},
    {kReduceAll, "All"},
    {kReduceAny, "Any"},
    {kArgMax, "ArgMax"},
    {kArgMin, "ArgMin"},
    {kCumSum, "Cumsum"},
    {kCumProd, "Cumprod"},
    {kTopK, "TopKV2"},
    {kNonZero, "Where"},
    {kUnique, "Unique"},
    {kCompress, ""},
    {kNonMaxSuppression, ""},
    {kExpand, "BroadcastTo"},
    {kTile, "Tile"},
    {kSplit, "SplitV"},
    {kStack, "Pack"},
    {kUnstack, "Unpack"},
    {kStridedSlice, "StridedSlice"},
    {kGatherElements, ""},
    {kGatherNd, "GatherNd"},
    {kScatterElements, ""},
    {kScatterNd, "TensorScatterUpdate"},
    {kScatterNdNew, "ScatterNd"},
    {kOneHot, "OneHot"},
    {kTrilu, ""},
    {kMatrixBandPart, "MatrixBandPart"},
    {kEyeLike, ""},
    {kRange, "Range"},
    {kFill, "Fill"},
    {kSize, "Size"},
    {kRank, "Rank"},
    {kReverse, "ReverseV2"},
    {kReverseSequence, "ReverseSequence"},
    {kSpaceToDepth, "SpaceToDepth"},
    {kSpaceToBatch, "SpaceToBatchND"},
    {kBatchToSpace, "BatchToSpaceND"},
    {kCenterCropPad, ""},
    {kDynamicStitch, "DynamicStitch"},
    {kDynamicPartition, "DynamicPartition"},
    {kInvertPermutation, "InvertPermutation"},
    {kGridSample, ""},
    {kAffineGrid, ""},
    {kRoiAlign, ""},
    {kMaxRoiPool, ""},
    {kCropAndResize, "CropAndResize"},
    {kLstm, "BlockLSTM"},
    {kGru, ""},
    {kRnn, ""},
    {kAttention, ""},
    {kQuantizeLinear, "QuantizeV2"},
    {kDequantizeLinear, "Dequantize"},
    {kDynamicQuantizeLinear, ""},
    {kFakeQuant, "FakeQuantWithMinMaxVars"},
    {kDequantizeRange, "Dequantize"},
    {kNegativeLogLikelihood, ""},
    {kSoftmaxCrossEntropy, "SparseSoftmaxCrossEntropyWithLogits"},
    {kDft, ""},
    {kStft, ""},
    {kWindow, ""},
    {kMelWeightMatrix, ""},
    {kRandomUniform, "RandomUniform"},
    {kRandomNormal, "RandomStandardNormal"},
    {kIf, "If"},
    {kLoop, ""},
    {kScan, ""},
    {kWhile, "While"},
    {kCall, "PartitionedCall"},
    {kTensorArray, "TensorArrayV3"},
    {kTensorArrayWrite, "TensorArrayWriteV3"},
    {kTensorArrayRead, "TensorArrayReadV3"},
    {kTensorArrayGather, "TensorArrayGatherV3"},
    {kTensorArrayScatter, "TensorArrayScatterV3"},
    {kTensorArraySize, "TensorArraySizeV3"},
    {kTensorArrayConcat, "TensorArrayConcatV3"},
    {kTensorArraySplit, "TensorArraySplitV3"},
    {kEnter, "Enter"},
    {kExit, "Exit"},
    {kMerge, "Merge"},
    {kSwitch, "Switch"},
    {kNextIteration, "NextIteration"},
    {kLoopCond, "LoopCond"},
    {kNoOp, "NoOp"},
};

constexpr bool EveryOpHasOneRow() {
  if (std::size(kNames) != kNumOps) return false;
  for (int i = 0; i < kNumOps; ++i) {
    if (static_cast<int>(kNames[i].kind) != i) return false;
  }
  return true;
}
static_assert(EveryOpHasOneRow(), "add the new op to kNames, in the order of OpKind");

}  // namespace

std::string_view TensorFlowOp(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  // TensorFlow turns the first version into the second, which has a type for the statistics, before it looks.
  if (node.spelling == "FusedBatchNorm") return "FusedBatchNormV2";
  if (g.format() != GraphFormat::kOnnx && !node.spelling.empty()) return node.spelling;
  const bool volume = InputRank(g, id) == 5;
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
      return kNames[static_cast<int>(node.op)].tensorflow;
  }
}

}  // namespace halftone
