// SPDX-License-Identifier: Apache-2.0
// THE table of kernels: which op is computed by which kernel, on which types and CPUs, and why the kernel exists.
//
// For an op the rows from top to bottom are the order of preference. A kernel is asked about a node where the row has
// the type of the node's input 0, the CPU has the instructions, and the row is for such values (quantized or not);
// Kernel::Prepare decides about the rest (shapes, attributes, layouts), and the first that accepts runs the node. What
// no row takes is computed in f32 (f16 and bf16), then by the reference function. Chosen when the plan is made; a run
// executes steps only.
//
// docs/reference/kernels.md is printed from here (`bazel run //runtime/cpu:print_kernels`). How the matmul kernels differ:
// runtime/cpu/matmul.md.
#include "runtime/cpu/onednn/kernels.h"

#include "runtime/cpu/kernel_table.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone {
namespace {

using enum OpKind;
using Isa = KernelIsa;

// Element types of input 0.
constexpr TypeSet kF32 = {DataType::kFloat32};
constexpr TypeSet kBf16 = {DataType::kBFloat16};
constexpr TypeSet kF32Bf16 = kF32 | kBf16;
constexpr TypeSet kFloats = kF32Bf16 | TypeSet{DataType::kFloat16};
constexpr TypeSet kFloatsF64 = kFloats | TypeSet{DataType::kFloat64};
constexpr TypeSet kInt8 = {DataType::kInt8, DataType::kUInt8};
constexpr TypeSet kFloatsInt8 = kFloats | kInt8;
constexpr TypeSet kWide = {DataType::kInt32, DataType::kUInt32, DataType::kInt64, DataType::kUInt64,
                           DataType::kFloat64};
// Every type whose elements have a size; the kernel looks up its loop.
constexpr TypeSet kSized =
    kFloatsF64 | kInt8 | kWide |
    TypeSet{DataType::kInt16, DataType::kUInt16, DataType::kBool, DataType::kComplex64, DataType::kComplex128};
constexpr TypeSet kAll =
    kSized | TypeSet{DataType::kUnknown, DataType::kString, DataType::kResource, DataType::kVariant};

// Nodes by their values (runtime/plan/quantized_node.h).
constexpr NodeValuesSet kPlain = {NodeValues::kPlain, NodeValues::kMoved};
constexpr NodeValuesSet kQuantized = {NodeValues::kQuantized};
constexpr NodeValuesSet kQuantizedOrMoved = {NodeValues::kQuantized, NodeValues::kMoved};
constexpr NodeValuesSet kAllValues = kPlain | kQuantized;

constexpr OpSet kMatMuls = {kMatMul, kGemm};
// Elementwise functions of two that oneDNN has.
constexpr OpSet kBinaries = {kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kPow, kSquaredDifference};
constexpr OpSet kIntegerBinaries = {kFloorDiv,  kDivNoNan,   kAtan2, kMod, kBitShift, kBitwiseAnd,
                                    kBitwiseOr, kBitwiseXor, kAnd,   kOr,  kXor};
constexpr OpSet kComparisons = {kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual};
// Elementwise functions of one: those of oneDNN; of these, those for which there may be a faster loop; all others.
constexpr OpSet kActivations = {kRelu, kRelu6, kTanh, kSigmoid, kLeakyRelu, kHardSwish, kHardSigmoid, kSwish};
constexpr OpSet kUnaries = kActivations | OpSet{kAbs, kNeg, kExp, kSqrt, kSquare, kElu, kGelu, kMish};
constexpr OpSet kLoopUnaries = {kLog,    kRsqrt,    kReciprocal, kFloor, kErf,  kAcos,  kAcosh,
                                kAsin,   kAsinh,    kAtan,       kAtanh, kCos,  kCosh,  kSin,
                                kSinh,   kTan,      kCeil,       kRound, kSign, kLog1p, kExpm1,
                                kErfc,   kSoftsign, kBitwiseNot, kNot,   kSelu, kCelu,  kThresholdedRelu,
                                kShrink, kIsNaN,    kIsFinite,   kIsInf};
constexpr OpSet kReductions = {kReduceMin,       kReduceProd,      kReduceL1,  kReduceL2, kReduceLogSum,
                               kReduceLogSumExp, kReduceSumSquare, kReduceAll, kReduceAny};

// One row of three lines at most.
// clang-format off
constexpr CpuKernel kKernels[] = {
    // Convolutions
    {{kConv}, onednn::MakeInt8DepthwiseKernel, Isa::kAny,
     {"int8_depthwise", "onednn/int8_conv.cc", kInt8, kQuantized,
      "depthwise, 3 x 3 and 5 x 5: SIMD loops, twice as fast as oneDNN"}},
    {{kConv}, onednn::MakeInt8ConvKernel, Isa::kAny,
     {"int8_conv", "onednn/int8_conv.cc", kInt8, kQuantized,
      "dnnl::convolution; without VNNI only weights that cannot saturate sums of 16 bits"}},
    {{kConv}, onednn::MakeInt8ConvAvx2Kernel, Isa::kAvx2WithoutVnni,
     {"int8_conv_avx2", "onednn/int8_conv.cc", kInt8, kQuantized,
      "weights that might saturate: im2col and the exact int8 matmul of runtime/cpu/simd/int8_matmul_avx2.h"}},
    {{kConv}, onednn::MakePointwiseConvKernel, Isa::kAvx512,
     {"pointwise_conv", "onednn/pointwise_conv.cc", kF32, kPlain,
      "1 x 1 over few pixels, large constant weights: the skinny matmul"}},
    {{kConv}, onednn::MakePointwiseConvKernel, Isa::kAvx512Bf16,
     {"pointwise_conv", "onednn/pointwise_conv.cc", kBf16, kPlain, "the same in bf16"}},
    {{kConv}, onednn::MakeActivatedConvKernel, Isa::kAny,
     {"activated_conv", "onednn/conv.cc", kFloats, kPlain,
      "with an activation for which a SIMD loop after the convolution is faster than oneDNN's post-op"}},
    {{kConv}, onednn::MakeConvKernel, Isa::kAny,
     {"conv", "onednn/conv.cc", kFloats, kPlain,
      "dnnl::convolution with post-ops", {.bias = true, .residual = true, .activation = true}, /*bf16_math=*/true}},
    {{kConvTranspose}, onednn::MakeInt8DeconvKernel, Isa::kAny,
     {"int8_deconv", "onednn/deconv.cc", kInt8, kQuantized,
      "dnnl::deconvolution; without VNNI only weights that cannot saturate sums of 16 bits"}},
    {{kConvTranspose}, onednn::MakeDeconvKernel, Isa::kAny,
     {"deconv", "onednn/deconv.cc", kFloats, kPlain, "dnnl::deconvolution", {}, /*bf16_math=*/true}},
    {{kDeformConv}, simd::MakeDeformConvKernel, Isa::kAny,
     {"deform_conv", "simd/deform_conv.cc", kFloats, kPlain, "oneDNN has none"}},

    // Matmuls: runtime/cpu/matmul.md
    {kMatMuls, onednn::MakeInt8SkinnyMatMulKernel, Isa::kAvx512Vnni,
     {"int8_skinny_matmul", "onednn/int8_skinny_matmul.cc", kInt8, kQuantized,
      "few rows, large constant weights: fetches weights from memory while it multiplies"}},
    {kMatMuls, onednn::MakeInt8MatMulKernel, Isa::kAny,
     {"int8_matmul", "onednn/int8_matmul.cc", kInt8, kQuantized,
      "dnnl::matmul; without VNNI only constant weights that cannot saturate sums of 16 bits"}},
    {kMatMuls, onednn::MakeInt8MatMulAvx2Kernel, Isa::kAvx2WithoutVnni,
     {"int8_matmul_avx2", "onednn/int8_matmul_avx2.cc", kInt8, kQuantized,
      "two computed operands, or weights that might saturate: widened to 16 bits, exact"}},
    {kMatMuls, onednn::MakeSkinnyMatMulKernel, Isa::kAvx512,
     {"skinny_matmul", "onednn/skinny_matmul.cc", kF32, kPlain,
      "few rows, large constant weights: fetches weights from memory while it multiplies"}},
    {kMatMuls, onednn::MakeSkinnyMatMulKernel, Isa::kAvx512Bf16,
     {"skinny_matmul", "onednn/skinny_matmul.cc", kBf16, kPlain, "the same in bf16"}},
    {kMatMuls, onednn::MakeMatMulKernel, Isa::kAny,
     {"matmul", "onednn/matmul.cc", kFloats, kPlain,
      "dnnl::matmul with post-ops",
      {.bias = true, .residual = true, .activation = true, .scale = true}, /*bf16_math=*/true}},
    {kMatMuls, simd::MakeMatMulKernel, Isa::kAny,
     {"matmul_loop", "simd/matmul.cc", kWide, kPlain, "integers, which wrap around, and f64: oneDNN has none"}},
    {{kMatMulInteger}, onednn::MakeMatMulIntegerKernel, Isa::kVnni,
     {"matmul_integer", "onednn/matmul_integer.cc", kInt8, kPlain, "constant weights: dnnl::matmul, then zero points"}},
    {{kMatMulIntegerToFloat}, onednn::MakeMatMulIntegerToFloatKernel, Isa::kAny,
     {"matmul_integer_to_float", "onednn/matmul_integer_to_float.cc", kInt8, kPlain,
      "dynamic quantization, constant weights: dnnl::matmul of int8, or of f32 where int8 might saturate",
      {.activation = true}}},
    {{kEinsum}, onednn::MakeEinsumKernel, Isa::kAny,
     {"einsum", "onednn/einsum.cc", kFloatsF64, kPlain, "as transposes and dnnl::matmul"}},

    // Attention and recurrent layers
    {{kAttention}, onednn::MakeAttentionKernel, Isa::kAny,
     {"attention", "onednn/attention.cc", kFloatsF64, kPlain, "com.microsoft's: dnnl::matmul around a softmax"}},
    {{kScaledDotProductAttention}, onednn::MakeBlockedAttentionKernel, Isa::kAvx2,
     {"blocked_attention", "onednn/scaled_attention.cc", kFloats, kPlain,
      "the scores of some queries at a time, which stay in the cache; not for few queries and keys"}},
    {{kScaledDotProductAttention}, onednn::MakeWholeAttentionKernel, Isa::kAny,
     {"whole_attention", "onednn/scaled_attention.cc", kFloats, kPlain, "all scores at once: dnnl::matmul, softmax"}},
    {{kScaledDotProductAttention}, onednn::MakeAnyAttentionKernel, Isa::kAny,
     {"any_attention", "onednn/scaled_attention.cc", kFloats, kPlain,
      "blocked_attention for what the others refuse: broadcast leading dimensions, masks"}},
    {{kLstm, kGru, kRnn}, onednn::MakeInt8RecurrentKernel, Isa::kAny,
     {"int8_recurrent", "onednn/recurrent.cc", kInt8, kQuantized,
      "int8 input, weights and hidden state: dnnl::matmul"}},
    {{kLstm, kGru, kRnn}, onednn::MakeRecurrentKernel, Isa::kAny,
     {"recurrent", "onednn/recurrent.cc", kFloatsF64, kPlain,
      "every option of the ops; dnnl::matmul and SIMD gates are faster than dnnl::lstm_forward"}},

    // Elementwise functions of two and more
    {kBinaries | OpSet{kBinaryChain}, onednn::MakeInt8ChainKernel, Isa::kAny,
     {"int8_chain", "onednn/int8_elementwise.cc", kFloatsInt8, kQuantized, "in f32 registers, one pass over memory"}},
    {{kMul}, onednn::MakeScaleChannelsKernel, Isa::kAny,
     {"scale_channels", "onednn/scale_channels.cc", kF32Bf16, kPlain,
      "images by one factor per channel (squeeze and excite): oneDNN takes each element alone"}},
    {kBinaries | OpSet{kBiasAdd}, onednn::MakeBinaryKernel, Isa::kAny,
     {"binary", "onednn/binary.cc", kF32Bf16, kPlain, "dnnl::binary in the layout of the operands"}},
    {{kPRelu}, onednn::MakePReluKernel, Isa::kAny,
     {"prelu", "onednn/prelu.cc", kF32Bf16, kPlain, "dnnl::prelu in the layout of x"}},
    {kBinaries | kIntegerBinaries | OpSet{kPRelu}, simd::MakeBinaryKernel, Isa::kAny,
     {"binary_loop", "simd/binary.cc", kSized, kPlain, "other types and functions than oneDNN's"}},
    {kComparisons, simd::MakeCompareKernel, Isa::kAny,
     {"compare", "simd/compare.cc", kSized, kPlain, "oneDNN's write no bool"}},
    {{kBinaryChain}, onednn::MakeBinaryChainKernel, Isa::kAny,
     {"binary_chain", "onednn/binary_chain.cc", kFloats, kPlain, "in registers, one pass over memory"}},

    // Elementwise functions of one
    {kUnaries | kLoopUnaries | OpSet{kSoftplus, kClip, kIdentity}, onednn::MakeInt8TableKernel, Isa::kAny,
     {"int8_table", "onednn/int8_elementwise.cc", kInt8, kQuantized, "a table of the 256 results"}},
    {{kIdentity}, onednn::MakeInt8ChainKernel, Isa::kAny,
     {"int8_chain", "onednn/int8_elementwise.cc", kFloatsInt8, kQuantized, "float to int8"}},
    {kActivations | OpSet{kClip}, onednn::MakeFastActivationKernel, Isa::kAvx2,
     {"fast_activation", "onednn/unary.cc", kF32Bf16, kPlain,
      "where a SIMD loop beats dnnl::eltwise: depends on the CPU"}},
    {kUnaries | OpSet{kClip}, onednn::MakeUnaryKernel, Isa::kAny,
     {"unary", "onednn/unary.cc", kF32Bf16, kPlain, "dnnl::eltwise in the layout of x"}},
    {{kSoftplus}, simd::MakeSoftplusKernel, Isa::kAny,
     {"softplus", "simd/softplus.cc", kF32Bf16, kPlain, "with the activation after it", {.activation = true}}},
    {kUnaries | kLoopUnaries | OpSet{kSoftplus}, simd::MakeUnaryKernel, Isa::kAny,
     {"unary_loop", "simd/unary.cc", kSized, kPlain, "other types and functions than oneDNN's"}},
    {{kClip, kWhere, kAddN, kMaxN, kMinN, kMeanN}, simd::MakeManyKernel, Isa::kAny,
     {"many_loop", "simd/many.cc", kSized, kPlain, "oneDNN has none"}},

    // Quantization and casts
    {{kQuantizeLinear, kDequantizeLinear}, onednn::MakeInt8ConvertKernel, Isa::kAny,
     {"int8_convert", "onednn/int8_elementwise.cc", kFloatsInt8, kPlain, "one scale, in the layout of x"}},
    {{kQuantizeLinear, kDequantizeLinear, kDynamicQuantizeLinear, kFakeQuant}, simd::MakeQuantizeKernel, Isa::kAny,
     {"quantize", "simd/quantize.cc", kSized, kPlain, "every other form of scales and types"}},
    {{kCast, kCastLike}, onednn::MakeCastKernel, Isa::kAny,
     {"cast", "onednn/convert.cc", kFloats, kPlain, "between floats, in the layout of x"}},
    {{kCast, kCastLike}, simd::MakeCastKernel, Isa::kAny,
     {"cast_loop", "simd/cast.cc", kSized, kPlain, "between types that oneDNN does not convert"}},

    // Pools and reductions
    {{kMaxPool, kAveragePool, kGlobalAveragePool, kGlobalMaxPool, kReduceMean}, onednn::MakeInt8PoolKernel, Isa::kAny,
     {"int8_pool", "onednn/pool.cc", kInt8, kQuantizedOrMoved, "SIMD loops, channels last"}},
    {{kMaxPool, kAveragePool}, onednn::MakeImagePoolKernel, Isa::kAny,
     {"image_pool", "onednn/pool.cc", kBf16, kPlain, "windows at every pixel, channels last: half the time of oneDNN"}},
    {{kMaxPool, kAveragePool, kGlobalAveragePool, kGlobalMaxPool, kReduceMean}, onednn::MakePoolKernel, Isa::kAny,
     {"pool", "onednn/pool.cc", kFloats, kPlain, "dnnl::pooling; reduce_mean over the spatial dimensions"}},
    {{kMaxPool, kAveragePool, kLpPool, kGlobalLpPool, kMaxUnpool}, simd::MakePoolKernel, Isa::kAny,
     {"pool_loop", "simd/pools.cc", kSized, kPlain, "what oneDNN does not pool: indices, integers, lp, unpool"}},
    {{kReduceMean, kReduceSum, kReduceMax}, onednn::MakeReduceKernel, Isa::kAny,
     {"reduce", "onednn/reduce.cc", kF32Bf16, kPlain, "dnnl::reduction in the layout of x"}},
    {kReductions | OpSet{kReduceMean, kReduceSum, kReduceMax}, simd::MakeReduceKernel, Isa::kAny,
     {"reduce_loop", "simd/reduce.cc", kSized, kPlain, "other types and functions than oneDNN's"}},
    {{kL2Loss}, simd::MakeL2LossKernel, Isa::kAny,
     {"l2_loss", "simd/l2_loss.cc", kFloats, kPlain, "one pass over memory"}},
    {{kArgMax, kArgMin, kCumSum, kCumProd, kTopK}, simd::MakeAccumulateKernel, Isa::kAny,
     {"accumulate", "simd/accumulate.cc", kSized, kPlain, "oneDNN has none"}},

    // Normalizations
    {{kBatchNorm}, onednn::MakeAffineChannelsKernel, Isa::kAny,
     {"affine_channels", "onednn/affine_channels.cc", kF32, kPlain,
      "constant statistics, channels last: a third of dnnl::batch_normalization's time"}},
    {{kBatchNorm}, onednn::MakeBatchNormKernel, Isa::kAny,
     {"batch_norm", "onednn/normalize.cc", kFloats, kPlain,
      "dnnl::batch_normalization with given statistics",
      {.activation = true}, /*bf16_math=*/false, /*f32_parameters=*/true}},
    {{kBatchNorm, kMeanVarianceNorm}, simd::MakeChannelNormKernel, Isa::kAny,
     {"channel_norm", "simd/channel_norms.cc", kFloats, kPlain, "statistics of the batch"}},
    {{kLayerNorm}, onednn::MakeLayerNormKernel, Isa::kAny,
     {"layer_norm", "onednn/layer_norm.cc", kFloats, kPlain, "dnnl::layer_normalization over the last dimension"}},
    {{kInstanceNorm}, simd::MakeChannelsLastNormKernel, Isa::kAny,
     {"channels_last_norm", "simd/channels_last_norm.cc", kFloats, kPlain,
      "channels last; as norm, with the activation after it", {.activation = true}}},
    {{kLayerNorm, kInstanceNorm, kRmsNorm, kGroupNorm, kLpNorm}, simd::MakeNormKernel, Isa::kAny,
     {"norm", "simd/norms.cc", kFloats, kPlain, "channels first, statistics that are read; oneDNN has no others"}},
    {{kSkipLayerNorm}, simd::MakeSkipLayerNormKernel, Isa::kAny,
     {"skip_layer_norm", "simd/skip_layer_norm.cc", kFloatsF64, kPlain, "sum and normalization in one pass"}},
    {{kLrn}, onednn::MakeLrnKernel, Isa::kAny,
     {"lrn", "onednn/layer_norm.cc", kFloats, kPlain, "dnnl::lrn over an odd number of channels"}},
    {{kLrn}, simd::MakeLrnKernel, Isa::kAny,
     {"lrn_loop", "simd/lrn.cc", kFloats, kPlain, "what oneDNN has not"}},
    {{kSoftmax}, simd::MakeSoftmaxKernel, Isa::kAny,
     {"softmax_loop", "simd/softmax.cc", kFloats, kPlain,
      "over the last dimension, with scale and mask in one pass", {.residual = true, .scale = true}}},
    {{kSoftmax, kLogSoftmax}, onednn::MakeSoftmaxKernel, Isa::kAny,
     {"softmax", "onednn/normalize.cc", kFloats, kPlain, "dnnl::softmax"}},

    // Moves
    {{kConcat}, onednn::MakeConcatChannelsKernel, Isa::kAny,
     {"concat_channels", "onednn/concat_channels.cc", kSized, kPlain,
      "images, channels last: oneDNN copies pixel by pixel"}},
    {{kConcat}, onednn::MakeConcatKernel, Isa::kAny,
     {"concat", "onednn/concat.cc", kFloats, kPlain, "dnnl::concat in the layout of the operands"}},
    {{kIdentity, kDropout, kReshape, kFlatten, kSqueeze, kUnsqueeze, kTranspose}, onednn::MakeViewKernel, Isa::kAny,
     {"view", "onednn/view.cc", kAll, kPlain, "no copy: another description of the same memory"}},
    {{kConcat, kTranspose, kSlice, kPad, kDepthToSpace, kSpaceToDepth}, onednn::MakeCopyKernel, Isa::kAny,
     {"copy", "onednn/copy.cc", kSized, kPlain, "as reorders between parts of memory"}},
    {{kSlice, kSplit, kUnstack, kStack, kExpand, kTile, kReverse, kStridedSlice}, onednn::MakeCopyPartsKernel,
     Isa::kAny,
     {"copy_parts", "onednn/copy_parts.cc", kSized, kPlain, "copies with strides"}},
    {{kPad}, simd::MakePadKernel, Isa::kAny,
     {"pad", "simd/pad.cc", kSized, kPlain, "modes other than constant"}},
    {{kSpaceToBatch, kBatchToSpace}, onednn::MakeCopyBlocksKernel, Isa::kAny,
     {"copy_blocks", "onednn/copy_blocks.cc", kSized, kPlain, "copies with strides"}},
    {{kGather, kGatherNd, kGatherElements}, simd::MakeGatherKernel, Isa::kAny,
     {"gather", "simd/gather.cc", kSized, kPlain, "oneDNN has none"}},
    {{kScatterNd, kScatterElements, kScatterNdNew}, simd::MakeScatterKernel, Isa::kAny,
     {"scatter", "simd/scatter.cc", kSized, kPlain, "oneDNN has none"}},
    {{kFill, kRange, kOneHot, kTrilu, kMatrixBandPart}, simd::MakeFillKernel, Isa::kAny,
     {"fill", "simd/fill.cc", kSized, kPlain, "oneDNN has none"}},

    // Images and signals
    {{kResize}, onednn::MakeResizeKernel, Isa::kAny,
     {"resize", "onednn/resize.cc", kSized, kPlain, "dnnl::resampling, or SIMD loops for what it has not"}},
    {{kGridSample}, simd::MakeGridSampleKernel, Isa::kAny,
     {"grid_sample", "simd/grid_sample.cc", kFloats, kPlain, "oneDNN has none"}},
    {{kCol2Im}, simd::MakeCol2ImKernel, Isa::kAny,
     {"col2im", "simd/deform_conv.cc", kFloats, kPlain, "oneDNN has none"}},
    {{kRoiAlign}, simd::MakeRoiAlignKernel, Isa::kAny,
     {"roi_align", "simd/regions.cc", kFloats, kPlain, "oneDNN has none"}},
    {{kCropAndResize}, simd::MakeCropAndResizeKernel, Isa::kAny,
     {"crop_and_resize", "simd/regions.cc", kFloats, kPlain, "oneDNN has none"}},
    {{kDft}, onednn::MakeDftKernel, Isa::kAny,
     {"dft", "onednn/signal.cc", kFloats, kPlain, "as dnnl::matmul with a matrix of cosines"}},
    {{kStft}, onednn::MakeStftKernel, Isa::kAny,
     {"stft", "onednn/signal.cc", kFloats, kPlain, "as dnnl::matmul with a matrix of cosines"}},
};
// clang-format on

constexpr CpuKernel kReference = {
    {},
    onednn::MakeReferenceKernel,
    Isa::kAny,
    {"reference", "onednn/reference.cc", kAll, kAllValues, "the op's reference function (ir/reference): slow"}};

constexpr OpsWithoutKernel kUnlisted[] = {
    {{kShape, kSize, kRank, kFillLike, kEyeLike, kLinSpace, kInvertPermutation, kWindow, kMelWeightMatrix,
      kDequantizeRange},
     "reference function: a constant nearly always"},
    {{kNonZero, kUnique, kCompress, kNonMaxSuppression, kDynamicPartition, kDynamicStitch, kReverseSequence,
      kCenterCropPad},
     "reference function: the result's shape or order depends on the data; not on the hot path"},
    {{kHardmax, kConvInteger, kDet, kAffineGrid, kMaxRoiPool, kNegativeLogLikelihood, kSoftmaxCrossEntropy,
      kRandomUniform, kRandomNormal},
     "reference function: rare in models that are served"},
    {{kIf, kLoop, kScan, kWhile, kCall}, "control flow: steps of the plan (runtime/plan/control.h)"},
    {{kInput, kConstant, kNoOp, kOpaque}, "nothing to compute, or an op that is not known"},
    {{kTensorArray, kTensorArrayWrite, kTensorArrayRead, kTensorArrayGather, kTensorArrayScatter, kTensorArraySize,
      kTensorArrayConcat, kTensorArraySplit, kEnter, kExit, kMerge, kSwitch, kNextIteration, kLoopCond},
     "control flow of dataflow graphs: BuildLoops (passes/prepare) makes loops of it, or the graph cannot run"},
};

// Every op has a row or a reason why it has none, and not both.
consteval bool IsComplete() {
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<OpKind>(i);
    bool has_kernel = false, has_reason = false;
    for (const CpuKernel& kernel : kKernels) has_kernel |= kernel.ops.Has(op);
    for (const OpsWithoutKernel& unlisted : kUnlisted) has_reason |= unlisted.ops.Has(op);
    if (has_kernel == has_reason) return false;
  }
  return true;
}
static_assert(IsComplete(), "add the new op to a row of kKernels, or to kUnlisted with the reason");

}  // namespace

std::span<const CpuKernel> CpuKernels() { return kKernels; }
const CpuKernel& ReferenceRow() { return kReference; }
std::span<const OpsWithoutKernel> UnlistedOps() { return kUnlisted; }

}  // namespace halftone
