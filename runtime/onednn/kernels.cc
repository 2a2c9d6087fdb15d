// Which op is computed by which kernel: the table of contents of this folder.
#include "runtime/onednn/kernels.h"

#include <omp.h>

#include <array>
#include <initializer_list>

#include "ir/reference/reference.h"
#include "runtime/host/kernels.h"
#include "runtime/onednn/backend.h"
#include "runtime/onednn/support.h"

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
    const Kernel* matmul = onednn::MakeMatMulKernel().release();
    const Kernel* unary = onednn::MakeUnaryKernel().release();
    const Kernel* binary = onednn::MakeBinaryKernel().release();
    const Kernel* loop = onednn::MakeHostElementwiseKernel().release();
    const Kernel* pool = onednn::MakePoolKernel().release();
    const Kernel* reduce = onednn::MakeReduceKernel().release();
    const Kernel* batch_norm = onednn::MakeBatchNormKernel().release();
    const Kernel* softmax = onednn::MakeSoftmaxKernel().release();
    const Kernel* concat = onednn::MakeConcatKernel().release();
    const Kernel* view = onednn::MakeViewKernel().release();
    const Kernel* copy = onednn::MakeCopyKernel().release();
    const Kernel* cast = onednn::MakeCastKernel().release();
    const Kernel* resize = onednn::MakeResizeKernel().release();
    const Kernel* deconv = onednn::MakeDeconvKernel().release();
    const Kernel* layer_norm = onednn::MakeLayerNormKernel().release();
    const Kernel* lrn = onednn::MakeLrnKernel().release();
    const Kernel* norm = host::MakeNormKernel().release();
    const Kernel* channel_norm = host::MakeChannelNormKernel().release();
    const Kernel* host_pool = host::MakePoolKernel().release();
    const Kernel* grid_sample = host::MakeGridSampleKernel().release();
    const Kernel* deform_conv = host::MakeDeformConvKernel().release();
    const Kernel* col2im = host::MakeCol2ImKernel().release();
    const Kernel* roi_align = host::MakeRoiAlignKernel().release();
    const Kernel* crop_and_resize = host::MakeCropAndResizeKernel().release();
    const Kernel* exact_matmul = host::MakeMatMulKernel().release();
    const Kernel* skip_layer_norm = host::MakeSkipLayerNormKernel().release();
    const Kernel* attention = onednn::MakeAttentionKernel().release();
    const Kernel* dft = onednn::MakeDftKernel().release();
    const Kernel* stft = onednn::MakeStftKernel().release();
    const Kernel* einsum = onednn::MakeEinsumKernel().release();
    const Kernel* rnn = onednn::MakeRnnKernel().release();
    const Kernel* recurrent = onednn::MakeRecurrentKernel().release();

    // Fastest first; the reference function comes last everywhere.
    Add({OpKind::kConv}, {conv});
    Add({OpKind::kMatMul, OpKind::kGemm}, {matmul, exact_matmul});
    Add({OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kDiv, OpKind::kMaximum, OpKind::kMinimum, OpKind::kPow,
         OpKind::kSquaredDifference},
        {binary, loop});
    Add({OpKind::kBiasAdd}, {binary});
    Add({OpKind::kAbs, OpKind::kNeg, OpKind::kExp, OpKind::kSqrt, OpKind::kSquare, OpKind::kRelu, OpKind::kRelu6,
         OpKind::kTanh, OpKind::kSigmoid, OpKind::kSoftplus, OpKind::kElu, OpKind::kLeakyRelu, OpKind::kClip},
        {unary});
    Add({OpKind::kLog, OpKind::kRsqrt, OpKind::kReciprocal, OpKind::kFloor, OpKind::kErf}, {loop});
    Add({OpKind::kMaxPool, OpKind::kAveragePool}, {pool, host_pool});
    Add({OpKind::kGlobalAveragePool, OpKind::kGlobalMaxPool}, {pool});
    Add({OpKind::kLpPool, OpKind::kMaxUnpool}, {host_pool});
    Add({OpKind::kReduceMean}, {pool, reduce});
    Add({OpKind::kReduceSum, OpKind::kReduceMax}, {reduce});
    Add({OpKind::kBatchNorm}, {batch_norm, channel_norm});
    Add({OpKind::kMeanVarianceNorm}, {channel_norm});
    Add({OpKind::kGridSample}, {grid_sample});
    Add({OpKind::kDeformConv}, {deform_conv});
    Add({OpKind::kCol2Im}, {col2im});
    Add({OpKind::kRoiAlign}, {roi_align});
    Add({OpKind::kCropAndResize}, {crop_and_resize});
    Add({OpKind::kSoftmax, OpKind::kLogSoftmax}, {softmax});
    Add({OpKind::kConvTranspose}, {deconv});
    Add({OpKind::kLayerNorm}, {layer_norm, norm});
    Add({OpKind::kRmsNorm, OpKind::kInstanceNorm, OpKind::kGroupNorm, OpKind::kLpNorm}, {norm});
    Add({OpKind::kLrn}, {lrn});
    Add({OpKind::kConcat}, {concat, copy});
    Add({OpKind::kIdentity, OpKind::kDropout, OpKind::kReshape, OpKind::kFlatten, OpKind::kSqueeze, OpKind::kUnsqueeze},
        {view});
    Add({OpKind::kTranspose}, {view, copy});
    Add({OpKind::kSlice, OpKind::kPad, OpKind::kDepthToSpace, OpKind::kSpaceToDepth, OpKind::kGather}, {copy});
    Add({OpKind::kCast}, {cast});
    Add({OpKind::kResize}, {resize});
    Add({OpKind::kEinsum}, {einsum});
    Add({OpKind::kSkipLayerNorm}, {skip_layer_norm});
    Add({OpKind::kAttention}, {attention});
    Add({OpKind::kDft}, {dft});
    Add({OpKind::kStft}, {stft});
    Add({OpKind::kLstm, OpKind::kGru, OpKind::kRnn}, {rnn, recurrent});
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

  void UseThreads(int threads) const override {
    if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
  }

 private:
  const KernelTable kernels_;
};

}  // namespace

const Backend& OneDnnBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/false);
  return *backend;
}

const Backend& ReferenceBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/true);
  return *backend;
}

}  // namespace halftone
