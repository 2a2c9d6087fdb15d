// SPDX-License-Identifier: Apache-2.0
// conv of 1 x 1 over few pixels with large constant weights: rows of channels times a matrix (skinny_matmul_step.h). Images lie
// with their channels last, as oneDNN's own kernels for such convolutions have them.
#include <algorithm>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/skinny_matmul_step.h"
#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kBias = 2, kResidual = 3;
// On a Zen 4, weights from memory: 1.05 to 1.07 times as fast at 49 pixels (bf16 1.01 to 1.06), 0.98 to 1.00 at 169, 196.
constexpr int64_t kMostPixels = 128;

// Each pixel of the result is made of the same pixel of the source.
bool IsPixelByPixel(const ConvProblem& problem) {
  const auto all = [](const Dims& dims, int64_t number) {
    return std::ranges::all_of(dims, [&](int64_t dim) { return dim == number; });
  };
  return problem.weights.size() == problem.src.size() && all({problem.weights.begin() + 2, problem.weights.end()}, 1) &&
         all(problem.strides, 1) && all(problem.pads_begin, 0) && all(problem.pads_end, 0);
}

class PointwiseConvKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const DataType type = context.InputType(0), result = context.OutputType();
    const simd::SkinnyMatMulFunction function = simd::SkinnyMatMulFor(type, result);
    const Tensor* weights = context.Constant(kWeights);
    if (function == nullptr) return absl::UnimplementedError("a result of another type");
    if (weights == nullptr || weights->type() != type)
      return absl::UnimplementedError("weights are no constant of x's type");
    HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(attributes));
    if (!simd::HasSkinnyMatMulActivation(epilogue.activation)) return absl::UnimplementedError("no such activation");
    HALFTONE_ASSIGN_OR_RETURN(const ConvProblem problem,
                              MakeConvProblem(attributes, context.InputDims(0), context.InputDims(kWeights)));
    if (!IsPixelByPixel(problem)) return absl::UnimplementedError("more than one pixel makes a result");
    simd::SkinnyMatMulTask task{.x_stride = problem.src[1], .depth = problem.src[1], .columns = problem.out_channels};
    task.rows = problem.src[0];
    for (size_t i = 2; i < problem.src.size(); ++i) task.rows *= problem.src[i];
    HALFTONE_RETURN_IF_ERROR(IsWorthIt(task, type));
    if (task.rows > kMostPixels) return absl::UnimplementedError("many pixels");
    task.activate = simd::SkinnyMatMulActivation(epilogue.activation);
    task.activation_first = epilogue.activation_first;

    const Dims in = context.InputDims(0), out = context.OutputDims();
    const Placement src = ChannelsLast(in, problem.channels_last, type);
    if (!SameLayout(DescOf(in, context.InputPlacement(0)), DescOf(in, src)))
      return absl::UnimplementedError("the channels do not lie next to each other");
    const Placement dst = ChannelsLast(out, problem.channels_last, result);
    std::vector<float> bias;
    if (context.HasInput(kBias)) {
      const Tensor* constant = context.Constant(kBias);
      if (constant == nullptr || !IsFloat(constant->type())) return absl::UnimplementedError("the bias is no constant");
      bias = constant->ToFloats();
    }
    Prepared prepared{.inputs = {{0, src}}, .outputs = {dst}, .kernel = "skinny matmul", .weights_type = type};
    int residual = -1;
    if (context.HasInput(kResidual)) {
      task.residual_stride = task.columns;
      prepared.inputs.push_back({kResidual, dst});
      prepared.may_overwrite = residual = 1;
    }
    const Desc from({task.depth, task.columns}, *DnnlType(type),
                    {problem.weights_strides[1], problem.weights_strides[0]}, /*allow_empty=*/true);
    HALFTONE_ASSIGN_OR_RETURN(prepared.step,
                              MakeSkinnyMatMulStep(task, function, type, *weights, from, {std::move(bias), residual}));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakePointwiseConvKernel() { return std::make_unique<PointwiseConvKernel>(); }

}  // namespace halftone::onednn
