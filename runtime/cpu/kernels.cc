// Which op is computed by which kernel: the table of contents of this folder.
#include "runtime/cpu/onednn/kernels.h"

#include <omp.h>
#include <unistd.h>

#include <array>
#include <initializer_list>

#include "ir/reference/reference.h"
#include "runtime/cpu/backend.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone {
namespace {

// One row an op: the first kernel that accepts the node runs it.
using KernelList = std::vector<const Kernel*>;

class KernelTable {
 public:
  explicit KernelTable(bool reference_only) {
    // Made once, never destroyed: plans may outlive main.
    const Kernel* reference = onednn::MakeReferenceKernel().release();
    if (!reference_only) FillFast();
    for (int i = 0; i < kNumOps; ++i) {
      if (reference::HasReference(static_cast<OpKind>(i))) lists_[i].push_back(reference);
    }
  }
  std::span<const Kernel* const> operator[](OpKind op) const { return lists_[static_cast<size_t>(op)]; }

 private:
  void FillFast() {
    const Kernel* conv = onednn::MakeConvKernel().release();
    const Kernel* activated_conv = onednn::MakeActivatedConvKernel().release();
    const Kernel* int8_depthwise = onednn::MakeInt8DepthwiseKernel().release();
    const Kernel* int8_conv = onednn::MakeInt8ConvKernel().release();
    const Kernel* int8_matmul = onednn::MakeInt8MatMulKernel().release();
    const Kernel* int8_deconv = onednn::MakeInt8DeconvKernel().release();
    const Kernel* int8_table = onednn::MakeInt8TableKernel().release();
    const Kernel* int8_chain = onednn::MakeInt8ChainKernel().release();
    const Kernel* int8_convert = onednn::MakeInt8ConvertKernel().release();
    const Kernel* int8_pool = onednn::MakeInt8PoolKernel().release();
    const Kernel* int8_conv_avx2 = onednn::MakeInt8ConvAvx2Kernel().release();
    const Kernel* int8_matmul_avx2 = onednn::MakeInt8MatMulAvx2Kernel().release();
    const Kernel* int8_skinny_matmul = onednn::MakeInt8SkinnyMatMulKernel().release();
    const Kernel* dense = onednn::MakeSkinnyMatMulKernel().release();
    const Kernel* pointwise_conv = onednn::MakePointwiseConvKernel().release();
    const Kernel* matmul = onednn::MakeMatMulKernel().release();
    const Kernel* fast_activation = onednn::MakeFastActivationKernel().release();
    const Kernel* unary = onednn::MakeUnaryKernel().release();
    const Kernel* affine_channels = onednn::MakeAffineChannelsKernel().release();
    const Kernel* scale_channels = onednn::MakeScaleChannelsKernel().release();
    const Kernel* binary = onednn::MakeBinaryKernel().release();
    const Kernel* binary_chain = onednn::MakeBinaryChainKernel().release();
    const Kernel* image_pool = onednn::MakeImagePoolKernel().release();
    const Kernel* pool = onednn::MakePoolKernel().release();
    const Kernel* reduce = onednn::MakeReduceKernel().release();
    const Kernel* batch_norm = onednn::MakeBatchNormKernel().release();
    const Kernel* softmax = onednn::MakeSoftmaxKernel().release();
    const Kernel* concat_channels = onednn::MakeConcatChannelsKernel().release();
    const Kernel* concat = onednn::MakeConcatKernel().release();
    const Kernel* view = onednn::MakeViewKernel().release();
    const Kernel* copy = onednn::MakeCopyKernel().release();
    const Kernel* copy_parts = onednn::MakeCopyPartsKernel().release();
    const Kernel* copy_blocks = onednn::MakeCopyBlocksKernel().release();
    const Kernel* gather = simd::MakeGatherKernel().release();
    const Kernel* scatter = simd::MakeScatterKernel().release();
    const Kernel* l2_loss = simd::MakeL2LossKernel().release();
    const Kernel* reduce_loop = simd::MakeReduceKernel().release();
    const Kernel* accumulate = simd::MakeAccumulateKernel().release();
    const Kernel* fill = simd::MakeFillKernel().release();
    const Kernel* pad = simd::MakePadKernel().release();
    const Kernel* cast = onednn::MakeCastKernel().release();
    const Kernel* resize = onednn::MakeResizeKernel().release();
    const Kernel* deconv = onednn::MakeDeconvKernel().release();
    const Kernel* layer_norm = onednn::MakeLayerNormKernel().release();
    const Kernel* lrn = onednn::MakeLrnKernel().release();
    const Kernel* unary_loop = simd::MakeUnaryKernel().release();
    const Kernel* softplus = simd::MakeSoftplusKernel().release();
    const Kernel* binary_loop = simd::MakeBinaryKernel().release();
    const Kernel* compare = simd::MakeCompareKernel().release();
    const Kernel* many_loop = simd::MakeManyKernel().release();
    const Kernel* cast_loop = simd::MakeCastKernel().release();
    const Kernel* quantize = simd::MakeQuantizeKernel().release();
    const Kernel* matmul_integer = onednn::MakeMatMulIntegerKernel().release();
    const Kernel* matmul_integer_to_float = onednn::MakeMatMulIntegerToFloatKernel().release();
    const Kernel* prelu = onednn::MakePReluKernel().release();
    const Kernel* host_lrn = simd::MakeLrnKernel().release();
    const Kernel* norm = simd::MakeNormKernel().release();
    const Kernel* channels_last_norm = simd::MakeChannelsLastNormKernel().release();
    const Kernel* channel_norm = simd::MakeChannelNormKernel().release();
    const Kernel* host_pool = simd::MakePoolKernel().release();
    const Kernel* grid_sample = simd::MakeGridSampleKernel().release();
    const Kernel* deform_conv = simd::MakeDeformConvKernel().release();
    const Kernel* col2im = simd::MakeCol2ImKernel().release();
    const Kernel* roi_align = simd::MakeRoiAlignKernel().release();
    const Kernel* crop_and_resize = simd::MakeCropAndResizeKernel().release();
    const Kernel* exact_matmul = simd::MakeMatMulKernel().release();
    const Kernel* skip_layer_norm = simd::MakeSkipLayerNormKernel().release();
    const Kernel* softmax_loop = simd::MakeSoftmaxKernel().release();
    const Kernel* attention = onednn::MakeAttentionKernel().release();
    const Kernel* blocked_attention = onednn::MakeBlockedAttentionKernel(/*always=*/false).release();
    const Kernel* any_attention = onednn::MakeBlockedAttentionKernel(/*always=*/true).release();
    const Kernel* whole_attention = onednn::MakeWholeAttentionKernel().release();
    const Kernel* dft = onednn::MakeDftKernel().release();
    const Kernel* stft = onednn::MakeStftKernel().release();
    const Kernel* einsum = onednn::MakeEinsumKernel().release();
    const Kernel* recurrent = onednn::MakeRecurrentKernel().release();
    const Kernel* int8_recurrent = onednn::MakeInt8RecurrentKernel().release();

    // Fastest first; the reference function comes last everywhere.
    Add({OpKind::kConv}, {int8_depthwise, int8_conv, int8_conv_avx2, pointwise_conv, activated_conv, conv});
    Add({OpKind::kMatMul, OpKind::kGemm},
        {int8_skinny_matmul, int8_matmul, int8_matmul_avx2, dense, matmul, exact_matmul});
    Add({OpKind::kMul}, {int8_chain, scale_channels, binary, binary_loop});
    Add({OpKind::kAdd, OpKind::kSub, OpKind::kDiv, OpKind::kMaximum, OpKind::kMinimum, OpKind::kPow,
         OpKind::kSquaredDifference},
        {int8_chain, binary, binary_loop});
    Add({OpKind::kFloorDiv, OpKind::kDivNoNan, OpKind::kAtan2, OpKind::kMod, OpKind::kBitShift, OpKind::kBitwiseAnd,
         OpKind::kBitwiseOr, OpKind::kBitwiseXor, OpKind::kAnd, OpKind::kOr, OpKind::kXor},
        {binary_loop});
    Add({OpKind::kEqual, OpKind::kNotEqual, OpKind::kLess, OpKind::kLessEqual, OpKind::kGreater, OpKind::kGreaterEqual},
        {compare});
    Add({OpKind::kPRelu}, {prelu, binary_loop});
    Add({OpKind::kWhere, OpKind::kAddN, OpKind::kMaxN, OpKind::kMinN, OpKind::kMeanN}, {many_loop});
    Add({OpKind::kBiasAdd}, {binary});
    Add({OpKind::kBinaryChain}, {int8_chain, binary_chain});
    Add({OpKind::kAbs, OpKind::kNeg, OpKind::kExp, OpKind::kSqrt, OpKind::kSquare, OpKind::kElu, OpKind::kGelu,
         OpKind::kMish},
        {int8_table, unary, unary_loop});
    Add({OpKind::kRelu, OpKind::kRelu6, OpKind::kTanh, OpKind::kSigmoid, OpKind::kLeakyRelu, OpKind::kHardSwish,
         OpKind::kHardSigmoid, OpKind::kSwish},
        {int8_table, fast_activation, unary, unary_loop});
    Add({OpKind::kSoftplus}, {int8_table, softplus, unary_loop});
    Add({OpKind::kClip}, {int8_table, fast_activation, unary, many_loop});
    Add({OpKind::kLog,    OpKind::kRsqrt, OpKind::kReciprocal, OpKind::kFloor,
         OpKind::kErf,    OpKind::kAcos,  OpKind::kAcosh,      OpKind::kAsin,
         OpKind::kAsinh,  OpKind::kAtan,  OpKind::kAtanh,      OpKind::kCos,
         OpKind::kCosh,   OpKind::kSin,   OpKind::kSinh,       OpKind::kTan,
         OpKind::kCeil,   OpKind::kRound, OpKind::kSign,       OpKind::kLog1p,
         OpKind::kExpm1,  OpKind::kErfc,  OpKind::kSoftsign,   OpKind::kBitwiseNot,
         OpKind::kNot,    OpKind::kSelu,  OpKind::kCelu,       OpKind::kThresholdedRelu,
         OpKind::kShrink, OpKind::kIsNaN, OpKind::kIsFinite,   OpKind::kIsInf},
        {int8_table, unary_loop});
    Add({OpKind::kQuantizeLinear, OpKind::kDequantizeLinear}, {int8_convert, quantize});
    Add({OpKind::kDynamicQuantizeLinear, OpKind::kFakeQuant}, {quantize});
    Add({OpKind::kMatMulInteger}, {matmul_integer});
    Add({OpKind::kMatMulIntegerToFloat}, {matmul_integer_to_float});
    Add({OpKind::kMaxPool, OpKind::kAveragePool}, {int8_pool, image_pool, pool, host_pool});
    Add({OpKind::kGlobalAveragePool, OpKind::kGlobalMaxPool}, {int8_pool, pool});
    Add({OpKind::kLpPool, OpKind::kGlobalLpPool, OpKind::kMaxUnpool}, {host_pool});
    Add({OpKind::kReduceMean}, {int8_pool, pool, reduce, reduce_loop});
    Add({OpKind::kReduceSum, OpKind::kReduceMax}, {reduce, reduce_loop});
    Add({OpKind::kReduceMin, OpKind::kReduceProd, OpKind::kReduceL1, OpKind::kReduceL2, OpKind::kReduceLogSum,
         OpKind::kReduceLogSumExp, OpKind::kReduceSumSquare, OpKind::kReduceAll, OpKind::kReduceAny},
        {reduce_loop});
    Add({OpKind::kL2Loss}, {l2_loss});
    Add({OpKind::kArgMax, OpKind::kArgMin, OpKind::kCumSum, OpKind::kCumProd, OpKind::kTopK}, {accumulate});
    Add({OpKind::kBatchNorm}, {affine_channels, batch_norm, channel_norm});
    Add({OpKind::kMeanVarianceNorm}, {channel_norm});
    Add({OpKind::kGridSample}, {grid_sample});
    Add({OpKind::kDeformConv}, {deform_conv});
    Add({OpKind::kCol2Im}, {col2im});
    Add({OpKind::kRoiAlign}, {roi_align});
    Add({OpKind::kCropAndResize}, {crop_and_resize});
    Add({OpKind::kSoftmax}, {softmax_loop, softmax});
    Add({OpKind::kLogSoftmax}, {softmax});
    Add({OpKind::kConvTranspose}, {int8_deconv, deconv});
    Add({OpKind::kLayerNorm}, {layer_norm, norm});
    Add({OpKind::kInstanceNorm}, {channels_last_norm, norm});
    Add({OpKind::kRmsNorm, OpKind::kGroupNorm, OpKind::kLpNorm}, {norm});
    Add({OpKind::kLrn}, {lrn, host_lrn});
    Add({OpKind::kConcat}, {concat_channels, concat, copy});
    Add({OpKind::kIdentity}, {int8_table, int8_chain, view});
    Add({OpKind::kDropout, OpKind::kReshape, OpKind::kFlatten, OpKind::kSqueeze, OpKind::kUnsqueeze}, {view});
    Add({OpKind::kTranspose}, {view, copy});
    Add({OpKind::kSlice}, {copy, copy_parts});
    Add({OpKind::kPad}, {copy, pad});
    Add({OpKind::kDepthToSpace, OpKind::kSpaceToDepth}, {copy});
    Add({OpKind::kSplit, OpKind::kUnstack, OpKind::kStack, OpKind::kExpand, OpKind::kTile, OpKind::kReverse,
         OpKind::kStridedSlice},
        {copy_parts});
    Add({OpKind::kSpaceToBatch, OpKind::kBatchToSpace}, {copy_blocks});
    Add({OpKind::kGather, OpKind::kGatherNd, OpKind::kGatherElements}, {gather});
    Add({OpKind::kScatterNd, OpKind::kScatterElements, OpKind::kScatterNdNew}, {scatter});
    Add({OpKind::kFill, OpKind::kRange, OpKind::kOneHot, OpKind::kTrilu, OpKind::kMatrixBandPart}, {fill});
    Add({OpKind::kCast, OpKind::kCastLike}, {cast, cast_loop});
    Add({OpKind::kResize}, {resize});
    Add({OpKind::kEinsum}, {einsum});
    Add({OpKind::kSkipLayerNorm}, {skip_layer_norm});
    Add({OpKind::kAttention}, {attention});
    Add({OpKind::kScaledDotProductAttention}, {blocked_attention, whole_attention, any_attention});
    Add({OpKind::kDft}, {dft});
    Add({OpKind::kStft}, {stft});
    Add({OpKind::kLstm, OpKind::kGru, OpKind::kRnn}, {int8_recurrent, recurrent});
    // Only the reference: shape (a constant nearly always).
  }
  void Add(std::initializer_list<OpKind> ops, const KernelList& kernels) {
    for (const OpKind op : ops) lists_[static_cast<size_t>(op)] = kernels;
  }

  std::array<KernelList, kNumOps> lists_;
};

class TableBackend final : public Backend {
 public:
  explicit TableBackend(bool reference_only) : kernels_(reference_only) {}

  std::span<const Kernel* const> Kernels(OpKind op) const override { return kernels_[op]; }

  absl::StatusOr<Prepared> Convert(std::span<const int64_t> dims, const Placement& from,
                                   const Placement& to) const override {
    return onednn::MakeConversion(dims, from, to);
  }

  bool Same(std::span<const int64_t> dims, const Placement& a, const Placement& b) const override {
    if (a.type != b.type) return false;
    if (a.plain() || b.plain()) return a.plain() && b.plain();
    return onednn::SameLayout(onednn::DescOf(dims, a), onednn::DescOf(dims, b));
  }

  size_t Bytes(std::span<const int64_t> dims, const Placement& placement) const override {
    if (!placement.plain()) return onednn::DescOf(dims, placement).get_size();
    size_t bytes = ElementSize(placement.type);
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    return bytes;
  }

  Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) const override {
    return onednn::WithType(dims, placement, type);
  }

  std::vector<std::optional<LayoutSeconds>> SecondsByLayout(std::span<const NodeContext* const> convs) const override {
    return onednn::ConvSecondsByLayout(convs);
  }

  double ReorderSeconds(size_t bytes) const override {
    constexpr double kBytesPerSecond = 5e9;  // read and written, by one thread that finds nothing in its caches
    return 2e-6 + static_cast<double>(bytes) / kBytesPerSecond;
  }

  size_t CacheBytes() const override {
    static const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? static_cast<size_t>(bytes) : size_t{32} << 20;
  }

  void UseThreads(int threads) const override {
    if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
  }

 private:
  const KernelTable kernels_;
};

}  // namespace

const Backend& CpuBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/false);
  return *backend;
}

const Backend& ReferenceBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/true);
  return *backend;
}

}  // namespace halftone
