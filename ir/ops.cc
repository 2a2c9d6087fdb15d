// SPDX-License-Identifier: Apache-2.0
// The table of canonical ops. ops.h says what each means; one row each here.

#include "ir/ops.h"

#include <limits>

#include "ir/op_parts_internal.h"
#include "ir/shape_rules_internal.h"

namespace halftone {
namespace {

using namespace op_parts;
using namespace shape_rules;
using enum OpKind;
using G = OpGroup;

constexpr OpInfo kOps[] = {
    {kInput, "input", G::kSource, kNoPorts, kY, kNone, kExact, AsDeclared, "Placeholder"},
    {kConstant, "const", G::kSource, kNoPorts, kY, kValue, kExact, Constant, "Const"},
    {kOpaque, "opaque", G::kOpaque, kAny, kAnyOutput, kNone, kExact, AsDeclared, ""},
    {kIdentity, "identity", G::kMove, kX, kY, kNone, kExact, SameAsFirst, "Identity"},
    {kDropout, "dropout", G::kMove, kDropoutIn, kDropoutOut, kRatio, kExact, Dropout, "Identity"},
    {kConv, "conv", G::kContraction, kContractionIn, kY, kConvAttributes, kAccumulated, Conv, ""},
    {kMatMul, "matmul", G::kContraction, kContractionIn, kY, kMatMulAttributes, kAccumulated, MatMul, ""},
    {kGemm, "gemm", G::kContraction, kGemmIn, kY, kGemmAttributes, kAccumulated, Gemm, "MatMul"},
    {kBiasAdd, "bias_add", G::kBinary, kBiasIn, kY, kLayout, kRounded, BiasAdd, "BiasAdd"},
    {kAdd, "add", G::kBinary, kAB, kY, kNone, kRounded, Binary, "AddV2"},
    {kSub, "sub", G::kBinary, kAB, kY, kNone, kRounded, Binary, "Sub"},
    {kMul, "mul", G::kBinary, kAB, kY, kNone, kRounded, Binary, "Mul"},
    {kDiv, "div", G::kBinary, kAB, kY, kNone, kRounded, Binary, "RealDiv"},
    {kMaximum, "maximum", G::kBinary, kAB, kY, kNone, kExact, Binary, "Maximum"},
    {kMinimum, "minimum", G::kBinary, kAB, kY, kNone, kExact, Binary, "Minimum"},
    {kPow, "pow", G::kBinary, kPowIn, kY, kNone, kRounded, Binary, "Pow"},
    {kSquaredDifference, "squared_difference", G::kBinary, kAB, kY, kNone, kRounded, Binary, "SquaredDifference"},
    {kAbs, "abs", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Abs"},
    {kNeg, "neg", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Neg"},
    {kExp, "exp", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Exp"},
    {kLog, "log", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Log"},
    {kSqrt, "sqrt", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Sqrt"},
    {kRsqrt, "rsqrt", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Rsqrt"},
    {kReciprocal, "reciprocal", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Reciprocal"},
    {kSquare, "square", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Square"},
    {kFloor, "floor", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Floor"},
    {kErf, "erf", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Erf"},
    {kRelu, "relu", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Relu"},
    {kRelu6, "relu6", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Relu6"},
    {kTanh, "tanh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Tanh"},
    {kSigmoid, "sigmoid", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Sigmoid"},
    {kSoftplus, "softplus", G::kUnary, kX, kY, kActivationAttributes, kRounded, SameAsFirst, "Softplus"},
    {kElu, "elu", G::kUnary, kX, kY, kAlpha, kRounded, SameAsFirst, "Elu"},
    {kLeakyRelu, "leaky_relu", G::kUnary, kX, kY, kAlpha, kRounded, SameAsFirst, "LeakyRelu"},
    {kClip, "clip", G::kUnary, kClipIn, kY, kNone, kExact, SameAsFirst, "ClipByValue"},
    {kSoftmax, "softmax", G::kNormalize, kSoftmaxIn, kY, kScaledSoftmaxAttributes, kRounded, Softmax, "Softmax"},
    {kBatchNorm, "batch_norm", G::kNormalize, kBatchNormIn, kBatchNormOut, kBatchNormAttributes, kAccumulated,
     BatchNorm, "FusedBatchNormV3"},
    {kMaxPool, "max_pool", G::kPool, kX, kMaxPoolOut, kMaxPoolAttributes, kExact, Pool, ""},
    {kAveragePool, "average_pool", G::kPool, kX, kY, kAveragePoolAttributes, kRounded, Pool, ""},
    {kGlobalAveragePool, "global_average_pool", G::kPool, kX, kY, kLayout, kAccumulated, GlobalPool, "Mean"},
    {kReduceMean, "reduce_mean", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, "Mean"},
    {kReduceSum, "reduce_sum", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, "Sum"},
    {kReduceMax, "reduce_max", G::kReduce, kReduceIn, kY, kReduceAttributes, kExact, Reduce, "Max"},
    {kReshape, "reshape", G::kMove, kReshapeIn, kY, kAllowZero, kExact, Reshape, "Reshape"},
    {kFlatten, "flatten", G::kMove, kX, kY, kAxis, kExact, Flatten, "Reshape"},
    {kTranspose, "transpose", G::kMove, kTransposeIn, kY, kNone, kExact, Transpose, "Transpose"},
    {kSqueeze, "squeeze", G::kMove, kReduceIn, kY, kNone, kExact, Squeeze, "Squeeze"},
    {kUnsqueeze, "unsqueeze", G::kMove, kUnsqueezeIn, kY, kNone, kExact, Unsqueeze, "ExpandDims"},
    {kConcat, "concat", G::kMove, kConcatIn, kY, kNone, kExact, Concat, "ConcatV2"},
    {kPad, "pad", G::kMove, kPadIn, kY, kMode, kExact, Pad, ""},
    {kSlice, "slice", G::kMove, kSliceIn, kY, kNone, kExact, Slice, ""},
    {kGather, "gather", G::kMove, kGatherIn, kY, kBatchDims, kExact, Gather, "GatherV2"},
    {kShape, "shape", G::kShape, kAnyX, kIndexOut, kStartEnd, kExact, ShapeOf, "Shape"},
    {kCast, "cast", G::kMove, kAnyX, kOtherOut, kNone, kExact, SameAsFirst, "Cast"},
    {kResize, "resize", G::kMove, kResizeIn, kY, kResizeAttributes, kAccumulated, Resize, ""},
    {kDepthToSpace, "depth_to_space", G::kMove, kX, kY, kDepthToSpaceAttributes, kExact, DepthToSpace, "DepthToSpace"},
    {kAcos, "acos", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Acos"},
    {kAcosh, "acosh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Acosh"},
    {kAsin, "asin", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Asin"},
    {kAsinh, "asinh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Asinh"},
    {kAtan, "atan", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Atan"},
    {kAtanh, "atanh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Atanh"},
    {kCos, "cos", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Cos"},
    {kCosh, "cosh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Cosh"},
    {kSin, "sin", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Sin"},
    {kSinh, "sinh", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Sinh"},
    {kTan, "tan", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Tan"},
    {kCeil, "ceil", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Ceil"},
    {kRound, "round", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Round"},
    {kSign, "sign", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Sign"},
    {kLog1p, "log1p", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Log1p"},
    {kExpm1, "expm1", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Expm1"},
    {kErfc, "erfc", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Erfc"},
    {kSoftsign, "softsign", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, "Softsign"},
    {kMish, "mish", G::kUnary, kX, kY, kNone, kApproximated, SameAsFirst, ""},
    {kHardSwish, "hard_swish", G::kUnary, kX, kY, kNone, kRounded, SameAsFirst, ""},
    {kBitwiseNot, "bitwise_not", G::kUnary, kX, kY, kNone, kExact, SameAsFirst, "Invert"},
    {kNot, "not", G::kCompare, kBoolX, kBoolY, kNone, kExact, SameAsFirst, "LogicalNot"},
    {kHardSigmoid, "hard_sigmoid", G::kUnary, kX, kY, kAlphaBeta, kRounded, SameAsFirst, ""},
    {kGelu, "gelu", G::kUnary, kX, kY, kApproximate, kApproximated, SameAsFirst, "_MklGelu"},
    {kSelu, "selu", G::kUnary, kX, kY, kAlphaGamma, kRounded, SameAsFirst, "Selu"},
    {kCelu, "celu", G::kUnary, kX, kY, kAlpha, kRounded, SameAsFirst, ""},
    {kThresholdedRelu, "thresholded_relu", G::kUnary, kX, kY, kAlpha, kExact, SameAsFirst, ""},
    {kSwish, "swish", G::kUnary, kX, kY, kAlpha, kRounded, SameAsFirst, ""},
    {kShrink, "shrink", G::kUnary, kX, kY, kShrinkAttributes, kRounded, SameAsFirst, ""},
    {kIsNaN, "is_nan", G::kCompare, kX, kBoolOut, kNone, kExact, SameAsFirst, "IsNan"},
    {kIsFinite, "is_finite", G::kCompare, kX, kBoolOut, kNone, kExact, SameAsFirst, "IsFinite"},
    {kIsInf, "is_inf", G::kCompare, kX, kBoolOut, kIsInfAttributes, kExact, SameAsFirst, "IsInf"},
    {kFillLike, "fill_like", G::kMove, kX, kY, kNumber, kExact, SameAsFirst, "ZerosLike"},
    {kCastLike, "cast_like", G::kMove, kCastLikeIn, kLikeOut, kNone, kExact, SameAsFirst, "Cast"},
    {kPRelu, "prelu", G::kBinary, kPReluIn, kY, kNone, kRounded, PRelu, ""},
    {kFloorDiv, "floor_div", G::kBinary, kAB, kY, kNone, kExact, Binary, "FloorDiv"},
    {kDivNoNan, "div_no_nan", G::kBinary, kAB, kY, kNone, kRounded, Binary, "DivNoNan"},
    {kAtan2, "atan2", G::kBinary, kAB, kY, kNone, kRounded, Binary, "Atan2"},
    {kMod, "mod", G::kBinary, kAB, kY, kFmod, kRounded, Binary, "FloorMod"},
    {kBitShift, "bit_shift", G::kBinary, kAB, kY, kDirection, kExact, Binary, "LeftShift"},
    {kBitwiseAnd, "bitwise_and", G::kBinary, kAB, kY, kNone, kExact, Binary, "BitwiseAnd"},
    {kBitwiseOr, "bitwise_or", G::kBinary, kAB, kY, kNone, kExact, Binary, "BitwiseOr"},
    {kBitwiseXor, "bitwise_xor", G::kBinary, kAB, kY, kNone, kExact, Binary, "BitwiseXor"},
    {kEqual, "equal", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "Equal"},
    {kNotEqual, "not_equal", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "NotEqual"},
    {kLess, "less", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "Less"},
    {kLessEqual, "less_equal", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "LessEqual"},
    {kGreater, "greater", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "Greater"},
    {kGreaterEqual, "greater_equal", G::kCompare, kAB, kBoolOut, kNone, kExact, Binary, "GreaterEqual"},
    {kAnd, "and", G::kCompare, kBoolAB, kBoolY, kNone, kExact, Binary, "LogicalAnd"},
    {kOr, "or", G::kCompare, kBoolAB, kBoolY, kNone, kExact, Binary, "LogicalOr"},
    {kXor, "xor", G::kCompare, kBoolAB, kBoolY, kNone, kExact, Binary, "LogicalXor"},
    {kWhere, "where", G::kMove, kWhereIn, kY, kRows, kExact, BroadcastAll, "SelectV2"},
    {kAddN, "add_n", G::kBinary, kVariadicX, kY, kNone, kRounded, BroadcastAll, "AddN"},
    {kMaxN, "max_n", G::kBinary, kVariadicX, kY, kNone, kExact, BroadcastAll, "Maximum"},
    {kMinN, "min_n", G::kBinary, kVariadicX, kY, kNone, kExact, BroadcastAll, "Minimum"},
    {kMeanN, "mean_n", G::kBinary, kVariadicX, kY, kNone, kRounded, BroadcastAll, "AddN"},
    {kBinaryChain, "binary_chain", G::kBinary, kVariadicX, kY, kBinaryChainAttributes, kApproximated, BinaryChain,
     "_ITEXFusedBinary"},
    {kLogSoftmax, "log_softmax", G::kNormalize, kX, kY, kSoftmaxAttributes, kAccumulated, Softmax, "LogSoftmax"},
    {kHardmax, "hardmax", G::kNormalize, kX, kY, kSoftmaxAttributes, kExact, Softmax, ""},
    {kLayerNorm, "layer_norm", G::kNormalize, kLayerNormIn, kLayerNormOut, kLayerNormAttributes, kAccumulated,
     LayerNorm, "_MklLayerNorm"},
    {kRmsNorm, "rms_norm", G::kNormalize, kRmsNormIn, kRmsNormOut, kLayerNormAttributes, kAccumulated, LayerNorm, ""},
    {kSkipLayerNorm, "skip_layer_norm", G::kNormalize, kSkipLayerNormIn, kSkipLayerNormOut, kEpsilon, kAccumulated,
     SkipLayerNorm, ""},
    {kInstanceNorm, "instance_norm", G::kNormalize, kGroupNormIn, kY, kInstanceNormAttributes, kAccumulated,
     ChannelNorm, "_MklFusedInstanceNorm"},
    {kGroupNorm, "group_norm", G::kNormalize, kGroupNormIn, kY, kGroupNormAttributes, kAccumulated, ChannelNorm, ""},
    {kLpNorm, "lp_norm", G::kNormalize, kX, kY, kLpNormAttributes, kAccumulated, LpNorm, ""},
    {kLrn, "lrn", G::kNormalize, kX, kY, kLrnAttributes, kAccumulated, Lrn, "LRN"},
    {kMeanVarianceNorm, "mean_variance_norm", G::kNormalize, kX, kY, kAxesAttribute, kAccumulated, MeanVarianceNorm,
     ""},
    {kConvTranspose, "conv_transpose", G::kContraction, kConvTransposeIn, kY, kConvTransposeAttributes, kAccumulated,
     ConvTranspose, "Conv2DBackpropInput"},
    {kDeformConv, "deform_conv", G::kContraction, kDeformConvIn, kY, kDeformConvAttributes, kAccumulated, DeformConv,
     ""},
    {kConvInteger, "conv_integer", G::kContraction, kIntegerIn, kInt32Out, kConvIntegerAttributes, kExact, Conv, ""},
    {kMatMulInteger, "matmul_integer", G::kContraction, kIntegerIn, kInt32Out, kNone, kExact, MatMul, ""},
    {kMatMulIntegerToFloat, "matmul_integer_to_float", G::kContraction, kIntegerToFloatIn, kY, kActivationAttributes,
     kAccumulated, MatMul, ""},
    {kEinsum, "einsum", G::kContraction, kVariadicX, kY, kEquation, kAccumulated, Einsum, "Einsum"},
    {kDet, "det", G::kReduce, kX, kY, kNone, kAccumulated, Det, "MatrixDeterminant"},
    {kCol2Im, "col2im", G::kMove, kCol2ImIn, kY, kCol2ImAttributes, kAccumulated, Col2Im, ""},
    {kLpPool, "lp_pool", G::kPool, kX, kY, kLpPoolAttributes, kAccumulated, Pool, ""},
    {kGlobalMaxPool, "global_max_pool", G::kPool, kX, kY, kLayout, kExact, GlobalPool, "Max"},
    {kGlobalLpPool, "global_lp_pool", G::kPool, kX, kY, kLayoutP, kAccumulated, GlobalPool, ""},
    {kMaxUnpool, "max_unpool", G::kPool, kMaxUnpoolIn, kY, kMaxUnpoolAttributes, kExact, MaxUnpool, ""},
    {kReduceMin, "reduce_min", G::kReduce, kReduceIn, kY, kReduceAttributes, kExact, Reduce, "Min"},
    {kReduceProd, "reduce_prod", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, "Prod"},
    {kReduceL1, "reduce_l1", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, ""},
    {kReduceL2, "reduce_l2", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, "EuclideanNorm"},
    {kReduceLogSum, "reduce_log_sum", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, ""},
    {kReduceLogSumExp, "reduce_log_sum_exp", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, ""},
    {kReduceSumSquare, "reduce_sum_square", G::kReduce, kReduceIn, kY, kReduceAttributes, kAccumulated, Reduce, ""},
    {kL2Loss, "l2_loss", G::kReduce, kVariadicX, kY, kNone, kAccumulated, ScalarOut, "L2Loss"},
    {kReduceAll, "reduce_all", G::kReduce, kReduceBoolIn, kBoolY, kReduceAttributes, kExact, Reduce, "All"},
    {kReduceAny, "reduce_any", G::kReduce, kReduceBoolIn, kBoolY, kReduceAttributes, kExact, Reduce, "Any"},
    {kArgMax, "arg_max", G::kReduce, kAxisIn, kIndexOut, kArgAttributes, kExact, ArgMaxMin, "ArgMax"},
    {kArgMin, "arg_min", G::kReduce, kAxisIn, kIndexOut, kArgAttributes, kExact, ArgMaxMin, "ArgMin"},
    {kCumSum, "cum_sum", G::kReduce, kCumIn, kY, kCumAttributes, kAccumulated, AlongAxis, "Cumsum"},
    {kCumProd, "cum_prod", G::kReduce, kCumIn, kY, kCumAttributes, kAccumulated, AlongAxis, "Cumprod"},
    {kTopK, "top_k", G::kMove, kTopKIn, kTopKOut, kTopKAttributes, kExact, TopK, "TopKV2"},
    {kNonZero, "non_zero", G::kMove, kX, kIndexOut, kRows, kExact, NonZero, "Where"},
    {kUnique, "unique", G::kMove, kX, kUniqueOut, kUniqueAttributes, kExact, Unique, "Unique"},
    {kCompress, "compress", G::kMove, kCompressIn, kY, kAxis, kExact, Compress, ""},
    {kNonMaxSuppression, "non_max_suppression", G::kMove, kNmsIn, kIndexOut, kCenterPointBox, kExact, NonMaxSuppression,
     ""},
    {kExpand, "expand", G::kMove, kReshapeIn, kY, kNone, kExact, Expand, "BroadcastTo"},
    {kTile, "tile", G::kMove, kTileIn, kY, kNone, kExact, Tile, "Tile"},
    {kSplit, "split", G::kMove, kSplitIn, kVariadicY, kNone, kExact, Split, "SplitV"},
    {kStack, "stack", G::kMove, kVariadicX, kY, kAxis, kExact, Stack, "Pack"},
    {kUnstack, "unstack", G::kMove, kX, kVariadicY, kAxis, kExact, Unstack, "Unpack"},
    {kStridedSlice, "strided_slice", G::kMove, kStridedSliceIn, kY, kStridedSliceAttributes, kExact, StridedSlice,
     "StridedSlice"},
    {kGatherElements, "gather_elements", G::kMove, kIndexedIn, kY, kAxis, kExact, GatherElements, ""},
    {kGatherNd, "gather_nd", G::kMove, kIndexedIn, kY, kBatchDims, kExact, GatherNd, "GatherNd"},
    {kScatterElements, "scatter_elements", G::kMove, kScatterIn, kY, kScatterElementsAttributes, kRounded,
     ScatterElements, ""},
    {kScatterNd, "scatter_nd", G::kMove, kScatterIn, kY, kReduction, kRounded, ScatterNd, "TensorScatterUpdate"},
    {kScatterNdNew, "scatter_nd_new", G::kMove, kScatterNdNewIn, kY, kNone, kRounded, ScatterNdNew, "ScatterNd"},
    {kOneHot, "one_hot", G::kMove, kOneHotIn, kOneHotOut, kOneHotAttributes, kExact, OneHot, "OneHot"},
    {kTrilu, "trilu", G::kMove, kTriluIn, kY, kUpper, kExact, OfMatrices, ""},
    {kMatrixBandPart, "matrix_band_part", G::kMove, kBandIn, kY, kNone, kExact, OfMatrices, "MatrixBandPart"},
    {kEyeLike, "eye_like", G::kMove, kAnyX, kOtherOut, kKAttribute, kExact, OfMatrices, ""},
    {kRange, "range", G::kShape, kRangeIn, kY, kNone, kRounded, Range, "Range"},
    {kLinSpace, "lin_space", G::kShape, kLinSpaceIn, kY, kNone, kRounded, LinSpace, "LinSpace"},
    {kFill, "fill", G::kMove, kFillIn, kFillOut, kNone, kExact, Fill, "Fill"},
    {kSize, "size", G::kShape, kAnyX, kIndexOut, kNone, kExact, SizeOrRank, "Size"},
    {kRank, "rank", G::kShape, kAnyX, kIndexOut, kNone, kExact, SizeOrRank, "Rank"},
    {kReverse, "reverse", G::kMove, kReverseIn, kY, kNone, kExact, Reverse, "ReverseV2"},
    {kReverseSequence, "reverse_sequence", G::kMove, kLengthsIn, kY, kReverseSequenceAttributes, kExact,
     ReverseSequence, "ReverseSequence"},
    {kSpaceToDepth, "space_to_depth", G::kMove, kX, kY, kBlockLayout, kExact, SpaceToDepth, "SpaceToDepth"},
    {kSpaceToBatch, "space_to_batch", G::kMove, kSpaceToBatchIn, kY, kNone, kExact, SpaceBatch, "SpaceToBatchND"},
    {kBatchToSpace, "batch_to_space", G::kMove, kSpaceToBatchIn, kY, kNone, kExact, SpaceBatch, "BatchToSpaceND"},
    {kCenterCropPad, "center_crop_pad", G::kMove, kReshapeIn, kY, kAxesAttribute, kExact, CenterCropPad, ""},
    {kDynamicStitch, "dynamic_stitch", G::kMove, kAnyVariadic, kOtherOut, kNone, kExact, DynamicStitch,
     "DynamicStitch"},
    {kDynamicPartition, "dynamic_partition", G::kMove, kIndexedIn, kVariadicY, kNone, kExact, DynamicPartition,
     "DynamicPartition"},
    {kInvertPermutation, "invert_permutation", G::kShape, kX, kY, kNone, kExact, SameAsFirst, "InvertPermutation"},
    {kGridSample, "grid_sample", G::kMove, kGridSampleIn, kY, kGridSampleAttributes, kAccumulated, GridSample, ""},
    {kAffineGrid, "affine_grid", G::kMove, kReshapeIn, kY, kAlignCorners, kRounded, AffineGrid, ""},
    {kRoiAlign, "roi_align", G::kPool, kRoiAlignIn, kY, kRoiAlignAttributes, kAccumulated, RoiAlign, ""},
    {kMaxRoiPool, "max_roi_pool", G::kPool, kRoiPoolIn, kY, kMaxRoiPoolAttributes, kExact, MaxRoiPool, ""},
    {kCropAndResize, "crop_and_resize", G::kMove, kCropAndResizeIn, kFloatOut, kCropAndResizeAttributes, kAccumulated,
     CropAndResize, "CropAndResize"},
    {kLstm, "lstm", G::kRecurrent, kLstmIn, kLstmOut, kLstmAttributes, kAccumulated, Recurrent, "_MklLSTM"},
    {kGru, "gru", G::kRecurrent, kGruIn, kGruOut, kGruAttributes, kAccumulated, Recurrent, "_MklGRU"},
    {kRnn, "rnn", G::kRecurrent, kRnnIn, kGruOut, kRnnAttributes, kAccumulated, Recurrent, "_MklRNN"},
    {kAttention, "attention", G::kContraction, kAttentionIn, kAttentionOut, kAttentionAttributes, kAccumulated,
     Attention, ""},
    {kScaledDotProductAttention, "scaled_dot_product_attention", G::kContraction, kScaledAttentionIn, kY,
     kScaledAttentionAttributes, kAccumulated, ScaledDotProductAttention, "ScaledDotProductAttentionInference"},
    {kQuantizeLinear, "quantize_linear", G::kQuantize, kQuantizeIn, kQuantizeOut, kQuantizeAttributes, kExact, Quantize,
     "QuantizeV2"},
    {kDequantizeLinear, "dequantize_linear", G::kQuantize, kDequantizeIn, kDequantizeOut, kQuantizeAttributes, kRounded,
     Quantize, "Dequantize"},
    {kDynamicQuantizeLinear, "dynamic_quantize_linear", G::kQuantize, kX, kDynamicQuantizeOut, kNone, kRounded,
     DynamicQuantize, ""},
    {kFakeQuant, "fake_quant", G::kQuantize, kFakeQuantIn, kY, kFakeQuantAttributes, kRounded, SameAsFirst,
     "FakeQuantWithMinMaxVars"},
    {kDequantizeRange, "dequantize_range", G::kQuantize, kDequantizeRangeIn, kFloatOut, kDequantizeRangeAttributes,
     kRounded, SameAsFirst, "Dequantize"},
    {kNegativeLogLikelihood, "negative_log_likelihood", G::kReduce, kLossIn, kY, kLossAttributes, kAccumulated, Loss,
     ""},
    {kSoftmaxCrossEntropy, "softmax_cross_entropy", G::kReduce, kLossIn, kLossOut, kLossAttributes, kAccumulated, Loss,
     "SparseSoftmaxCrossEntropyWithLogits"},
    {kDft, "dft", G::kReduce, kDftIn, kY, kDftAttributes, kAccumulated, Dft, ""},
    {kStft, "stft", G::kReduce, kStftIn, kY, kOnesided, kAccumulated, Stft, ""},
    {kWindow, "window", G::kShape, kSizeIn, kFloatOut, kWindowAttributes, kRounded, WindowShape, ""},
    {kMelWeightMatrix, "mel_weight_matrix", G::kShape, kMelIn, kFloatOut, kNone, kRounded, MelWeightMatrix, ""},
    {kRandomUniform, "random_uniform", G::kSource, kShapeIn, kFloatOut, kRandomUniformAttributes, kExact, Random,
     "RandomUniform"},
    {kRandomNormal, "random_normal", G::kSource, kShapeIn, kFloatOut, kRandomNormalAttributes, kExact, Random,
     "RandomStandardNormal"},
    {kIf, "if", G::kStructural, kIfIn, kAnyOutput, kThenElse, kExact, AsDeclared, "If"},
    {kLoop, "loop", G::kStructural, kLoopIn, kAnyOutput, kBody, kExact, AsDeclared, ""},
    {kScan, "scan", G::kStructural, kAny, kAnyOutput, kScanAttributes, kExact, AsDeclared, ""},
    {kWhile, "while", G::kStructural, kAny, kAnyOutput, kConditionBody, kExact, AsDeclared, "While"},
    {kCall, "call", G::kStructural, kAny, kAnyOutput, kBody, kExact, AsDeclared, "PartitionedCall"},
    {kTensorArray, "tensor_array", G::kStructural, kSizeIn, kTensorArrayOut, kNone, kExact, AsDeclared,
     "TensorArrayV3"},
    {kTensorArrayWrite, "tensor_array_write", G::kStructural, kTensorArrayWriteIn, kFlowOut, kNone, kExact, AsDeclared,
     "TensorArrayWriteV3"},
    {kTensorArrayRead, "tensor_array_read", G::kStructural, kTensorArrayReadIn, kOtherOut, kNone, kExact, AsDeclared,
     "TensorArrayReadV3"},
    {kTensorArrayGather, "tensor_array_gather", G::kStructural, kTensorArrayReadIn, kOtherOut, kNone, kExact,
     AsDeclared, "TensorArrayGatherV3"},
    {kTensorArrayScatter, "tensor_array_scatter", G::kStructural, kTensorArrayWriteIn, kFlowOut, kNone, kExact,
     AsDeclared, "TensorArrayScatterV3"},
    {kTensorArraySize, "tensor_array_size", G::kStructural, kTensorArraySizeIn, kOtherOut, kNone, kExact, AsDeclared,
     "TensorArraySizeV3"},
    {kTensorArrayConcat, "tensor_array_concat", G::kStructural, kTensorArraySizeIn, kTensorArrayConcatOut, kNone,
     kExact, AsDeclared, "TensorArrayConcatV3"},
    {kTensorArraySplit, "tensor_array_split", G::kStructural, kTensorArraySplitIn, kFlowOut, kNone, kExact, AsDeclared,
     "TensorArraySplitV3"},
    {kEnter, "enter", G::kStructural, kX, kY, kNone, kExact, SameAsFirst, "Enter"},
    {kExit, "exit", G::kStructural, kX, kY, kNone, kExact, SameAsFirst, "Exit"},
    {kMerge, "merge", G::kStructural, kTied, kMergeOut, kNone, kExact, AsDeclared, "Merge"},
    {kSwitch, "switch", G::kStructural, kSwitchIn, kSwitchOut, kNone, kExact, AsDeclared, "Switch"},
    {kNextIteration, "next_iteration", G::kStructural, kX, kY, kNone, kExact, SameAsFirst, "NextIteration"},
    {kLoopCond, "loop_cond", G::kStructural, kAnyX, kOtherOut, kNone, kExact, AsDeclared, "LoopCond"},
    {kNoOp, "no_op", G::kStructural, kNoPorts, kNoPorts, kNone, kExact, Nothing, "NoOp"},
};

constexpr bool EveryOpHasOneRow() {
  if (std::size(kOps) != kNumOps) return false;
  for (int i = 0; i < kNumOps; ++i) {
    if (static_cast<int>(kOps[i].kind) != i || kOps[i].name.empty()) return false;
    if (kOps[i].tensorflow.data() == nullptr) return false;  // a row that ends early
  }
  return true;
}
static_assert(EveryOpHasOneRow(), "add the new op to kOps, in the order of OpKind, up to its last field");

struct ActivationRow {
  Activation activation;
  std::string_view name;
  ActivationParameters parameters = {};
};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr ActivationRow kActivations[] = {
    {Activation::kNone, ""},
    {Activation::kRelu, "relu"},
    {Activation::kRelu6, "relu6"},
    {Activation::kClip, "clip", {2, -kInfinity, kInfinity}},
    {Activation::kElu, "elu", {1, 1}},
    {Activation::kLeakyRelu, "leaky_relu", {1, 0.01f}},
    {Activation::kTanh, "tanh"},
    {Activation::kSigmoid, "sigmoid"},
    {Activation::kSwish, "swish", {1, 1}},
    {Activation::kHardSwish, "hard_swish"},
    {Activation::kHardSigmoid, "hard_sigmoid", {2, 0.2f, 0.5f}},
    {Activation::kGelu, "gelu"},
    {Activation::kGeluTanh, "gelu_tanh"},
    {Activation::kMish, "mish"},
};
constexpr bool EveryActivationHasOneRow() {
  if (std::size(kActivations) != kNumActivations) return false;
  for (int i = 0; i < kNumActivations; ++i) {
    if (static_cast<int>(kActivations[i].activation) != i) return false;
  }
  return true;
}
static_assert(EveryActivationHasOneRow(), "add the new activation to kActivations, in the order of Activation");

}  // namespace

const OpInfo& Info(OpKind kind) { return kOps[static_cast<int>(kind)]; }

std::optional<OpKind> OpFromName(std::string_view name) {
  for (const OpInfo& info : kOps) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

const Port* InputPort(OpKind kind, int index, int count) {
  const std::span<const Port> ports = Info(kind).inputs;
  const int num_ports = static_cast<int>(ports.size());
  for (int i = 0; i < num_ports; ++i) {
    if (!ports[i].variadic) {
      if (index == i) return &ports[i];
      continue;
    }
    const int after = num_ports - i - 1;  // ports after the variadic one take the last inputs
    if (index < count - after) return &ports[i];
    return index < count ? &ports[num_ports - (count - index)] : nullptr;
  }
  return nullptr;
}

const Port* OutputPort(OpKind kind, int index) {
  const std::span<const Port> ports = Info(kind).outputs;
  if (ports.empty() || index < 0) return nullptr;
  if (index < static_cast<int>(ports.size())) return &ports[index];
  return ports.back().variadic ? &ports.back() : nullptr;
}

bool MayDiffer(OpKind kind, const Port& port) {
  switch (kind) {
    case kConv:
    case kMatMul:
    case kGemm:
    case kConvTranspose:
      return port.type_variable == 'T';
    case kSoftmax:
    case kLogSoftmax:
    case kLayerNorm:
    case kAdd:
    case kSub:
    case kMul:
    case kDiv:
    case kMaximum:
    case kMinimum:
      return port.name == "y";
    default:
      return false;
  }
}

std::string_view ActivationName(Activation activation) { return kActivations[static_cast<int>(activation)].name; }

ActivationParameters ParametersOf(Activation activation) {
  return kActivations[static_cast<int>(activation)].parameters;
}

std::optional<Activation> ActivationFromName(std::string_view name) {
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

}  // namespace halftone
