// SPDX-License-Identifier: Apache-2.0
// matmul and gemm of int8 on CPUs with AVX2 and without VNNI, where oneDNN adds pairs of products in 16 bits: two
// computed operands, or weights that might saturate these sums. The loops are exact:
// runtime/cpu/simd/int8_matmul_avx2.h.
#include "runtime/cpu/simd/int8_matmul_avx2.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_operands.h"
#include "runtime/cpu/simd/cpu.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kResidual = 3;

// The right operand: constant weights, or a computed int8 value.
struct RightOperand {
  simd::Int8Operand operand;
  std::vector<float> scales;       // one, or one per column
  std::optional<Tensor> constant;  // else it is computed
};

absl::StatusOr<RightOperand> RightOperandOf(const NodeContext& context) {
  RightOperand right;
  if (context.Constant(kWeights) == nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(const Element element, InputElement(context, kWeights));
    if (!element.quantized) return absl::UnimplementedError("the right operand is not int8");
    right.operand = {.type = element.type, .zero_point = element.zero_point};
    right.scales = {element.scale};
    return right;
  }
  HALFTONE_ASSIGN_OR_RETURN(Int8Weights weights, WeightsOf(context, kWeights));
  HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context, weights));
  right.operand.type = DataType::kInt8;
  right.scales = std::move(weights.scales);
  right.constant = std::move(weights.tensor);
  return right;
}

// Of the result's matrix `index` where that of the operand begins: its leading dimensions may be broadcast.
int64_t PlaceOf(const Dims& dims, const Dims& strides, const Dims& leading, int64_t index) {
  int64_t place = 0;
  for (size_t i = leading.size(); i-- > 0; index /= leading[i]) {
    if (dims[i] != 1) place += index % leading[i] * strides[i];
  }
  return place;
}

// What is computed for the result's matrices: their operands begin at `task.matrices` and `task.b_places`.
void AddMatrices(const MatMulOperands& operands, const Dims& residual_strides, simd::Int8MatMulTask& task) {
  const Dims& shape = operands.problem.dst;
  const Dims leading(shape.begin(), shape.end() - 2);
  int64_t count = 1;
  for (const int64_t dim : leading) count *= dim;
  std::map<int64_t, int64_t> known;  // where right operands begin
  for (int64_t i = 0; i < count; ++i) {
    const int64_t b = PlaceOf(operands.weights.dims, operands.weights.strides, leading, i);
    const auto [it, is_new] = known.emplace(b, static_cast<int64_t>(task.b_places.size()));
    if (is_new) task.b_places.push_back(b);
    task.matrices.push_back(
        {.a = PlaceOf(operands.src.dims, operands.src.strides, leading, i),
         .addend = task.has_addend ? PlaceOf(operands.residual_dims, residual_strides, leading, i) : 0,
         .b = it->second});
  }
}

absl::StatusOr<simd::Int8MatMulTask> TaskOf(const NodeContext& context, const RightOperand& right) {
  HALFTONE_ASSIGN_OR_RETURN(const Element left, InputElement(context, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Element dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
  const bool residual = HasResidual(context);
  const OperandStrides plain = {PlainStrides(context.InputDims(0)), PlainStrides(context.InputDims(kWeights))};
  HALFTONE_ASSIGN_OR_RETURN(const MatMulOperands operands, DescribeMatMul(context, plain, residual));
  if (residual && epilogue.activation_first) return absl::UnimplementedError("a residual after an activation");

  const Dims& shape = operands.problem.dst;
  const size_t rank = shape.size();
  simd::Int8MatMulTask task{.rows = shape[rank - 2],
                            .depth = operands.src.dims.back(),
                            .columns = shape.back(),
                            .b_places = {},
                            .finish = FinishOf(dst, epilogue)};
  task.a = {left.type, left.zero_point, operands.src.strides[rank - 2], operands.src.strides[rank - 1]};
  task.b = right.operand;
  task.b.stride = operands.weights.strides[rank - 1];
  task.b.step = operands.weights.strides[rank - 2];
  HALFTONE_ASSIGN_OR_RETURN(ColumnNumbers numbers, ColumnNumbersOf(context, left.scale, right.scales, operands));
  task.factors = std::move(numbers.factors);
  task.offsets = std::move(numbers.offsets);
  Dims residual_strides;
  if (residual) {
    HALFTONE_ASSIGN_OR_RETURN(const Element element, InputElement(context, kResidual));
    const DataType type = element.quantized ? element.type : DataType::kFloat32;
    const Dims& dims = operands.residual_dims;
    residual_strides = PlainStrides(dims);
    task.has_addend = true;
    task.addend = {type, element.scale, element.zero_point, dims[rank - 2] == 1 ? 0 : residual_strides[rank - 2],
                   dims[rank - 1] == 1 ? 0 : 1};
  }
  AddMatrices(operands, residual_strides, task);
  return task;
}

class Int8MatMulAvx2Kernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> Int8MatMulAvx2Kernel::Prepare(const NodeContext& context) const {
  HALFTONE_ASSIGN_OR_RETURN(const RightOperand right, RightOperandOf(context));
  HALFTONE_ASSIGN_OR_RETURN(simd::Int8MatMulTask task, TaskOf(context, right));
  const bool residual = task.has_addend;
  const bool constant = right.constant.has_value();
  const DataType addend_type = task.addend.type;
  Prepared prepared{.inputs = {{0, Placement{task.a.type}}},
                    .outputs = {Placement{task.finish.type}},
                    .kernel = {"int8 matmul avx2", /*slow=*/false, simd::kAvx2Bits},
                    .weights_type = right.operand.type};
  HALFTONE_ASSIGN_OR_RETURN(
      std::shared_ptr<const simd::Int8MatMul> matmul,
      simd::MakeInt8MatMul(std::move(task), constant && !context.only_asks() ? right.constant->raw() : nullptr));
  prepared.scratch_bytes = matmul->scratch_bytes(context.threads());
  if (!constant) prepared.inputs.push_back({kWeights, Placement{right.operand.type}});
  if (residual) prepared.inputs.push_back({kResidual, Placement{addend_type}});
  prepared.step = std::make_unique<simd::LoopStep>([matmul, constant, residual](const simd::Memory& memory) {
    matmul->Run(memory.inputs[0], constant ? nullptr : memory.inputs[1], residual ? memory.inputs.back() : nullptr,
                memory.outputs[0], memory.scratch);
    return absl::OkStatus();
  });
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeInt8MatMulAvx2Kernel() { return std::make_unique<Int8MatMulAvx2Kernel>(); }

}  // namespace halftone::onednn
