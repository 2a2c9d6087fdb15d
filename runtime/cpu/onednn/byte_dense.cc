// matmul and gemm of rows of bytes with large constant weights: simd::DenseFunction, where it beats oneDNN
// (dense_step.h). The packed layout of the weights is not oneDNN's, which adds sums behind them.
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/onednn/dense_step.h"
#include "runtime/cpu/onednn/int8_product.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matrix_product.h"
#include "runtime/cpu/simd/dense.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kResidual = 3;

class ByteDenseKernel final : public QuantizedKernel {
 private:
  absl::StatusOr<Prepared> PrepareQuantized(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> ByteDenseKernel::PrepareQuantized(const NodeContext& context) const {
  if (!HasNativeInt8()) return absl::UnimplementedError("for CPUs with VNNI");
  HALFTONE_ASSIGN_OR_RETURN(const Element x, InputElement(context, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Element dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
  const simd::Int8Finish finish = FinishOf(dst, epilogue);
  const simd::DenseFunction function = x.bytes ? simd::DenseFunctionFor(x.type, finish.type) : nullptr;
  if (function == nullptr) return absl::UnimplementedError("no such instructions, or other types");
  HALFTONE_ASSIGN_OR_RETURN(const Int8Weights weights, WeightsOf(context, kWeights));
  HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context, weights));

  const bool residual = HasResidual(context);
  const OperandStrides plain = {PlainStrides(context.InputDims(0)), PlainStrides(context.InputDims(kWeights))};
  HALFTONE_ASSIGN_OR_RETURN(const MatrixProduct matrix, DescribeProduct(context, plain, residual));
  const Dims& shape = matrix.problem.dst;
  if (shape.size() != 2) return absl::UnimplementedError("several matrices");
  if (matrix.src.strides[1] != 1) return absl::UnimplementedError("columns for rows");
  if (residual && epilogue.activation_first) return absl::UnimplementedError("a residual behind an activation");
  simd::DenseTask task{
      .x_stride = matrix.src.strides[0], .rows = shape[0], .depth = matrix.src.dims[1], .columns = shape[1]};
  HALFTONE_RETURN_IF_ERROR(IsWorthIt(task, DataType::kInt8));
  HALFTONE_ASSIGN_OR_RETURN(ColumnNumbers numbers, ColumnNumbersOf(context, x.scale, weights.scales, matrix));

  Prepared prepared{.inputs = {{0, Placement{x.type}}},
                    .outputs = {Placement{finish.type}},
                    .kernel = "dense loop",
                    .weights_type = DataType::kInt8};
  DenseExtras extras;
  HALFTONE_ASSIGN_OR_RETURN(extras.bytes,
                            simd::MakeDenseBytes({.type = x.type,
                                                  .zero_point = x.zero_point,
                                                  .depth = task.depth,
                                                  .columns = task.columns,
                                                  .depth_stride = matrix.weights.strides[0],
                                                  .column_stride = matrix.weights.strides[1],
                                                  .factors = std::move(numbers.factors),
                                                  .offsets = std::move(numbers.offsets),
                                                  .has_residual = residual,
                                                  .finish = finish},
                                                 context.only_asks() ? nullptr : weights.tensor.data<int8_t>().data()));
  if (residual) {
    HALFTONE_ASSIGN_OR_RETURN(const Element added, InputElement(context, kResidual));
    if (matrix.residual_dims[1] != task.columns) return absl::UnimplementedError("a residual broadcast along columns");
    task.residual_stride = matrix.residual_dims[0] == 1 ? 0 : task.columns;
    simd::DenseBytes& bytes = *extras.bytes;
    bytes.residual_type = added.bytes ? added.type : DataType::kFloat32;
    bytes.residual_scale = added.scale;
    bytes.residual_zero_point = added.zero_point;
    prepared.inputs.push_back({kResidual, Placement{bytes.residual_type}});
    extras.residual = 1;
  }
  if (context.only_asks()) return prepared;
  HALFTONE_ASSIGN_OR_RETURN(prepared.step, MakeDenseStep(task, function, DataType::kInt8, weights.tensor,
                                                         matrix.weights.desc(DataType::kInt8), std::move(extras)));
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeByteDenseKernel() { return std::make_unique<ByteDenseKernel>(); }

}  // namespace halftone::onednn
