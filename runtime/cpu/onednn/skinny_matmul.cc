// SPDX-License-Identifier: Apache-2.0
// matmul and gemm of rows with large constant weights: simd::SkinnyMatMulFunction, where it beats oneDNN. f32 and bf16, bf16
// with a result in f32, and f32 that may be rounded to bf16 ("math_mode").
//
// The packed layout is oneDNN's own for f32 and bf16, so that both share one copy.
#include "runtime/cpu/simd/skinny_matmul.h"

#include <algorithm>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/skinny_matmul_step.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

class SkinnyMatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const DataType given_type = context.InputType(0), result = context.OutputType();
    const bool rounds = attributes.String("math_mode", "") == "bf16" && given_type == DataType::kFloat32 &&
                        simd::SkinnyMatMulFor(DataType::kBFloat16, result) != nullptr;
    const DataType type = rounds ? DataType::kBFloat16 : given_type;
    const simd::SkinnyMatMulFunction function = simd::SkinnyMatMulFor(type, result);
    const Tensor* weights = context.Constant(kWeights);
    if (function == nullptr) return absl::UnimplementedError("a result of another type");
    if (weights == nullptr || weights->rank() != 2) return absl::UnimplementedError("weights are no constant matrix");
    if (weights->type() != type && !rounds) return absl::UnimplementedError("types differ");
    if (attributes.Bool("transpose_a", false)) return absl::UnimplementedError("columns for rows");
    HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(attributes));
    if (!simd::HasSkinnyMatMulActivation(epilogue.activation)) return absl::UnimplementedError("no such activation");

    const bool transposed = attributes.Bool("transpose_b", false);
    const Dims x = context.InputDims(0), given = weights->dims();
    const Dims matrix = transposed ? Dims{given[1], given[0]} : given;
    if (x.empty() || x.back() != matrix[0]) return absl::UnimplementedError("no rows of the weights' depth");
    simd::SkinnyMatMulTask task{.x_stride = matrix[0], .rows = 1, .depth = matrix[0], .columns = matrix[1]};
    for (size_t i = 0; i + 1 < x.size(); ++i) task.rows *= x[i];
    HALFTONE_RETURN_IF_ERROR(IsWorthIt(task, type));
    task.scale = epilogue.scale;
    task.activate = simd::SkinnyMatMulActivation(epilogue.activation);
    task.activation_first = epilogue.activation_first;

    HALFTONE_ASSIGN_OR_RETURN(std::vector<float> bias, BiasOf(context, task.columns));
    const Dims strides = transposed ? Dims{1, given[1]} : PlainStrides(given);
    const Desc from(matrix, *DnnlType(weights->type()), strides, /*allow_empty=*/true);

    Prepared prepared{.inputs = {{0, Placement{type}}}, .outputs = {Placement{result}}, .kernel = "skinny matmul"};
    prepared.weights_type = type;
    int residual = -1;
    if (context.node().op == OpKind::kMatMul && context.HasInput(kResidual)) {
      const Dims dims = context.InputDims(kResidual);
      const bool whole = dims == context.OutputDims();
      const bool one_row = !dims.empty() && dims.back() == task.columns &&
                           std::count(dims.begin(), dims.end() - 1, 1) + 1 == static_cast<int64_t>(dims.size());
      if (!whole && !one_row)
        return absl::UnimplementedError("a residual that is broadcast along columns or some rows");
      task.residual_stride = whole ? task.columns : 0;
      prepared.inputs.push_back({kResidual, Placement{result}});
      residual = 1;
      if (whole) prepared.may_overwrite = residual;
    }
    HALFTONE_ASSIGN_OR_RETURN(prepared.step,
                              MakeSkinnyMatMulStep(task, function, type, *weights, from, {std::move(bias), residual}));
    return prepared;
  }

 private:
  // Empty: none. UNIMPLEMENTED where it is no constant vector that is added as it is.
  static absl::StatusOr<std::vector<float>> BiasOf(const NodeContext& context, int64_t columns) {
    const Attributes& attributes = context.node().attributes;
    if (context.node().op == OpKind::kGemm &&
        (attributes.Float("alpha", 1) != 1 || (context.HasInput(kBias) && attributes.Float("beta", 1) != 1)))
      return absl::UnimplementedError("gemm with alpha or beta");
    if (!context.HasInput(kBias)) return std::vector<float>();
    const Tensor* bias = context.Constant(kBias);
    if (bias == nullptr || !IsFloat(bias->type()) || bias->num_elements() != columns || bias->dims().back() != columns)
      return absl::UnimplementedError("the bias is no constant vector");
    return bias->ToFloats();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeSkinnyMatMulKernel() { return std::make_unique<SkinnyMatMulKernel>(); }

}  // namespace halftone::onednn
