// SPDX-License-Identifier: Apache-2.0
// matmul and gemm of a few int8 rows with large constant weights: simd::SkinnyMatMulFunction, where it is faster than
// oneDNN (skinny_matmul_step.h). The weights are packed in panels of their own: oneDNN's have sums of columns after
// them.
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_operands.h"
#include "runtime/cpu/onednn/skinny_matmul_step.h"
#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kResidual = 3;

class Int8SkinnyMatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> Int8SkinnyMatMulKernel::Prepare(const NodeContext& context) const {
  HALFTONE_ASSIGN_OR_RETURN(const Element x, InputElement(context, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Element dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
  const simd::Int8Finish finish = FinishOf(dst, epilogue);
  const simd::SkinnyMatMulFunction function = simd::SkinnyMatMulFor(x.type, finish.type);
  if (function == nullptr) return absl::UnimplementedError("a result of another type");
  HALFTONE_ASSIGN_OR_RETURN(const Int8Weights weights, WeightsOf(context, kWeights));
  HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context, weights));

  const bool residual = HasResidual(context);
  const OperandStrides plain = {PlainStrides(context.InputDims(0)), PlainStrides(context.InputDims(kWeights))};
  HALFTONE_ASSIGN_OR_RETURN(const MatMulOperands operands, DescribeMatMul(context, plain, residual));
  const Dims& shape = operands.problem.dst;
  if (shape.size() != 2) return absl::UnimplementedError("several matrices");
  if (operands.src.strides[1] != 1) return absl::UnimplementedError("columns for rows");
  if (residual && epilogue.activation_first) return absl::UnimplementedError("a residual after an activation");
  simd::SkinnyMatMulTask task{
      .x_stride = operands.src.strides[0], .rows = shape[0], .depth = operands.src.dims[1], .columns = shape[1]};
  HALFTONE_RETURN_IF_ERROR(IsWorthIt(task, DataType::kInt8));
  HALFTONE_ASSIGN_OR_RETURN(ColumnNumbers numbers, ColumnNumbersOf(context, x.scale, weights.scales, operands));

  Prepared prepared{.inputs = {{0, Placement{x.type}}},
                    .outputs = {Placement{finish.type}},
                    .kernel = "skinny matmul",
                    .weights_type = DataType::kInt8};
  SkinnyMatMulExtras extras;
  HALFTONE_ASSIGN_OR_RETURN(
      extras.requantization,
      simd::MakeInt8Requantization({.type = x.type,
                                    .zero_point = x.zero_point,
                                    .depth = task.depth,
                                    .columns = task.columns,
                                    .depth_stride = operands.weights.strides[0],
                                    .column_stride = operands.weights.strides[1],
                                    .factors = std::move(numbers.factors),
                                    .offsets = std::move(numbers.offsets),
                                    .has_residual = residual,
                                    .finish = finish},
                                   context.only_asks() ? nullptr : weights.tensor.data<int8_t>().data()));
  if (residual) {
    HALFTONE_ASSIGN_OR_RETURN(const Element added, InputElement(context, kResidual));
    if (operands.residual_dims[1] != task.columns)
      return absl::UnimplementedError("a residual broadcast along columns");
    task.residual_stride = operands.residual_dims[0] == 1 ? 0 : task.columns;
    simd::Int8Requantization& requantization = *extras.requantization;
    requantization.residual_type = added.quantized ? added.type : DataType::kFloat32;
    requantization.residual_scale = added.scale;
    requantization.residual_zero_point = added.zero_point;
    prepared.inputs.push_back({kResidual, Placement{requantization.residual_type}});
    extras.residual = 1;
  }
  if (context.only_asks()) return prepared;
  HALFTONE_ASSIGN_OR_RETURN(prepared.step,
                            MakeSkinnyMatMulStep(task, function, DataType::kInt8, weights.tensor,
                                                 operands.weights.desc(DataType::kInt8), std::move(extras)));
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeInt8SkinnyMatMulKernel() { return std::make_unique<Int8SkinnyMatMulKernel>(); }

}  // namespace halftone::onednn
