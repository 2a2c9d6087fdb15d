// SPDX-License-Identifier: Apache-2.0
// matmul, gemm: dnnl::matmul with bias, residual and activation in the same primitive.
//
// Transposes are strides: a computed operand is read in the layout that the previous node wrote (the heads of an
// attention), and a result that is only read transposed is written transposed. Constant weights are packed once.
// Leading dimensions of src are folded into its rows where the weights have none and the residual is the same for all
// of them. A residual with a broadcast for which oneDNN only has reference loops is added by a SIMD loop. gemm(a, b, c)
// = alpha a b + beta c: c is the bias, or a binary post-op between two factors.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/contraction_support.h"
#include "runtime/cpu/onednn/finished_step.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_builder.h"
#include "runtime/cpu/onednn/matmul_operands.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/strides.h"
#include "runtime/cpu/simd/activation.h"
#include "runtime/cpu/simd/chain.h"

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kResidual = 3;

class MatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    return SupportsFusedContraction(graph, node, parts);
  }
  bool WritesType(const Graph& graph, NodeId node, DataType operand, DataType result) const override {
    return ContractionWritesType(graph, node, operand, result);
  }

 private:
  static absl::StatusOr<Prepared> AsItLies(const NodeContext& context, const Epilogue& epilogue,
                                           const OperandTypes& types, const OperandStrides& plain, bool with_residual);
  static absl::StatusOr<Prepared> Fastest(const NodeContext& context, const Epilogue& epilogue,
                                          const OperandTypes& types, bool with_residual);
  static absl::StatusOr<Prepared> WithOwnResidual(const NodeContext& context, Epilogue epilogue,
                                                  const OperandTypes& types);
  static absl::StatusOr<Prepared> WithOwnActivation(const NodeContext& context, Epilogue epilogue,
                                                    const OperandTypes& types);
};

// oneDNN 3.7's AMX kernels add a residual with a number for each row from the wrong batch where it is broadcast along
// some of the batch dimensions and not along others: [1, 3, M, 1] to [2, 3, M, N]. Shown by
// tests/kernels/post_ops_test.cc.
bool AddsFromWrongBatch(const NodeContext& context, const Implementation& kernel) {
  const Dims out = context.OutputDims();
  Dims residual = context.InputDims(kResidual);
  if (!UsesTiles(kernel) || out.size() < 4) return false;
  residual.insert(residual.begin(), out.size() - residual.size(), 1);
  if (residual.back() != 1) return false;
  bool some = false, others = false;
  for (size_t i = 0; i + 2 < out.size(); ++i) {
    if (out[i] != 1) (residual[i] == 1 ? some : others) = true;
  }
  return some && others;
}

// oneDNN's AVX2 kernel takes longer for a residual that it may not overwrite than a loop after it: 0.95 to 0.98 times
// as fast, with relu after the sum (`dev bench --fusions "matmul + bias + residual"`).
bool AddsSlowly(const NodeContext& context, const Implementation& kernel) {
  return UsesAvx2(kernel) && !context.DiesHere(kResidual);
}

// Whether a SIMD loop after the matmul is faster than the activation in oneDNN's kernel, which of tanh is so
// without AVX-512 (runtime/cpu/simd/activation.h), and nothing comes between the two. Swish is as fast there.
bool HasSlowActivation(const NodeContext& context, const Epilogue& epilogue) {
  if (epilogue.activation == Activation::kSwish) return false;
  if (simd::ActivationAfter(epilogue.activation, context.OutputType()) == nullptr) return false;
  if (!HasResidual(context)) return true;
  return epilogue.activation_first && context.InputDims(kResidual) == context.OutputDims() &&
         context.InputType(kResidual) == context.OutputType();
}

absl::StatusOr<Prepared> MatMulKernel::Prepare(const NodeContext& context) const {
  const OperandTypes types{
      .src = context.InputType(0), .weights = context.InputType(kWeights), .dst = context.OutputType()};
  if (!IsFloat(types.src) || !IsFloat(types.weights) || !IsFloat(types.dst)) {
    return absl::UnimplementedError("oneDNN multiplies matrices of floats only");
  }
  HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
  if (HasSlowActivation(context, epilogue)) return WithOwnActivation(context, epilogue, types);
  absl::StatusOr<Prepared> fused = Fastest(context, epilogue, types, HasResidual(context));
  if (!HasResidual(context)) return fused;
  const bool broadcast = context.InputDims(kResidual) != context.OutputDims();
  const bool wrong = broadcast && fused.ok() && AddsFromWrongBatch(context, fused->kernel);
  const bool slower = !broadcast && fused.ok() && AddsSlowly(context, fused->kernel);
  if (!slower && (!broadcast || (fused.ok() && !wrong && !fused->kernel.slow))) return fused;
  absl::StatusOr<Prepared> own = WithOwnResidual(context, epilogue, types);
  if (wrong) return own;
  return own.ok() && !own->kernel.slow ? std::move(own) : std::move(fused);
}

// Strides of `dims` over a result of these dimensions: 0 where it is broadcast.
std::vector<int64_t> BroadcastStrides(Dims dims, const Dims& out) {
  dims.insert(dims.begin(), out.size() - dims.size(), 1);
  Dims strides = PlainStrides(dims);
  for (size_t i = 0; i < dims.size(); ++i) strides[i] = dims[i] == 1 ? 0 : strides[i];
  return strides;
}

absl::StatusOr<Prepared> MatMulKernel::WithOwnResidual(const NodeContext& context, Epilogue epilogue,
                                                       const OperandTypes& types) {
  const Dims out = context.OutputDims();
  simd::ChainTask task{.steps = {{OpKind::kAdd}}, .dims = out};
  task.strides = {PlainStrides(out), BroadcastStrides(context.InputDims(kResidual), out)};
  if (!epilogue.activation_first) {
    task.activation = std::exchange(epilogue.activation, Activation::kNone);
    task.alpha = epilogue.alpha;
    task.beta = epilogue.beta;
  }
  HALFTONE_ASSIGN_OR_RETURN(Prepared prepared, Fastest(context, epilogue, types, /*with_residual=*/false));
  task.type = prepared.outputs[0].type;
  if (task.type == DataType::kFloat16) return absl::UnimplementedError("no loop for f16");
  prepared.inputs.push_back({kResidual, Placement{task.type}});
  const int residual = static_cast<int>(prepared.inputs.size()) - 1;
  prepared.step =
      std::make_unique<FinishedStep>(std::move(prepared.step), simd::MakeChainStep(std::move(task)), residual);
  prepared.kernel.name += " + add";
  return prepared;
}

// REQUIRES: HasSlowActivation
absl::StatusOr<Prepared> MatMulKernel::WithOwnActivation(const NodeContext& context, Epilogue epilogue,
                                                         const OperandTypes& types) {
  const Activation activation = std::exchange(epilogue.activation, Activation::kNone);
  HALFTONE_ASSIGN_OR_RETURN(Prepared prepared, Fastest(context, epilogue, types, /*with_residual=*/false));
  const simd::Activate activate = simd::ActivationAfter(activation, prepared.outputs[0].type);
  if (activate == nullptr) return absl::UnimplementedError("no such activation of ours");
  int residual = -1;
  if (HasResidual(context)) {
    prepared.inputs.push_back({kResidual, prepared.outputs[0]});
    residual = static_cast<int>(prepared.inputs.size()) - 1;
  }
  int64_t count = 1;
  for (const int64_t dim : context.OutputDims()) count *= dim;
  std::unique_ptr<Step> finish = simd::MakeActivateStep(activate, count, epilogue.alpha, epilogue.beta);
  prepared.step = std::make_unique<FinishedStep>(std::move(prepared.step), std::move(finish), residual);
  prepared.kernel.name += Concat(" + ", ActivationName(activation));
  return prepared;
}

// As the operands lie if that can be, else plain; else in other types, f32 last.
absl::StatusOr<Prepared> MatMulKernel::Fastest(const NodeContext& context, const Epilogue& epilogue,
                                               const OperandTypes& types, bool with_residual) {
  const Dims a = context.InputDims(0), b = context.InputDims(kWeights);
  const OperandStrides plain = {PlainStrides(a), PlainStrides(b)};
  std::optional<absl::StatusOr<Prepared>> slow;
  const std::vector<OperandTypes> attempts = TypesToTry(context, types);
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (i + 1 < attempts.size()) {
      absl::StatusOr<Prepared> strided = AsItLies(context, epilogue, attempts[i], plain, with_residual);
      if (strided.ok() && !strided->kernel.slow) return strided;
    }
    HALFTONE_ASSIGN_OR_RETURN(const MatMulOperands operands, DescribeMatMul(context, plain, with_residual));
    absl::StatusOr<Prepared> prepared = BuildMatMul(context, operands, epilogue, attempts[i], {});
    if (prepared.ok() && !prepared->kernel.slow) return prepared;
    if (!slow.has_value() || !slow->ok()) slow = std::move(prepared);
  }
  return *std::move(slow);
}

// With the strides that the producers of the operands left, or that the consumer of the result asks for; UNIMPLEMENTED
// where all is plain.
absl::StatusOr<Prepared> MatMulKernel::AsItLies(const NodeContext& context, const Epilogue& epilogue,
                                                const OperandTypes& types, const OperandStrides& plain,
                                                bool with_residual) {
  const std::optional<Dims> src = StridesAsItLies(context, 0), weights = StridesAsItLies(context, kWeights);
  MatMulPlacements layouts;
  OperandStrides strides = plain;
  if (src.has_value()) {
    strides.src = *src;
    layouts.src = WithType(context.InputDims(0), context.InputPlacement(0), types.src);
  }
  if (weights.has_value() && context.Constant(kWeights) == nullptr) {
    strides.weights = *weights;
    layouts.weights = WithType(context.InputDims(kWeights), context.InputPlacement(kWeights), types.weights);
  }
  HALFTONE_ASSIGN_OR_RETURN(const MatMulOperands operands, DescribeMatMul(context, strides, with_residual));
  const Dims& dst = operands.problem.dst;
  for (size_t i = 0; i + 2 < dst.size(); ++i) {  // oneDNN 3.7 reads wrong batches then
    if (operands.problem.src[i] != operands.problem.weights[i]) return absl::UnimplementedError("broadcast batches");
  }
  if (context.num_inputs() <= kResidual && !operands.has_addend && context.OutputDims() == dst) {
    layouts.dst_strides = StridesForTranspose(context, dst);
    if (layouts.dst_strides.has_value())
      layouts.dst = PlacementOf(OperandView{dst, *layouts.dst_strides}.desc(types.dst), types.dst);
  }
  if (layouts.src.plain() && layouts.weights.plain() && layouts.dst.plain())
    return absl::UnimplementedError("all is plain");
  return BuildMatMul(context, operands, epilogue, types, layouts);
}

}  // namespace

std::unique_ptr<Kernel> MakeMatMulKernel() { return std::make_unique<MatMulKernel>(); }

}  // namespace halftone::onednn
