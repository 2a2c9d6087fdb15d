// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/matmul_operands.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace halftone::onednn {
namespace {

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

// The operand, whose elements lie `strides` apart, as [.., rows, columns], transposed if wanted; a vector becomes one
// row or one column.
OperandView Operand(const Dims& dims, const Dims& strides, bool transpose, bool is_left) {
  if (dims.size() == 1) {
    if (is_left) return OperandView{{1, dims[0]}, {dims[0] * strides[0], strides[0]}};
    return OperandView{{dims[0], 1}, {strides[0], 1}};
  }
  OperandView view{dims, strides};
  if (transpose) {
    std::swap(view.dims[view.dims.size() - 1], view.dims[view.dims.size() - 2]);
    std::swap(view.strides[view.strides.size() - 1], view.strides[view.strides.size() - 2]);
  }
  return view;
}

void Widen(OperandView& view, size_t rank) {
  while (view.dims.size() < rank) {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), view.strides.empty() ? 1 : view.dims[1] * view.strides[0]);
  }
}

// [a, b, M, K] => [a * b * M, K], where the rows lie at equal distances.
bool FoldRows(OperandView& view) {
  const size_t last = view.dims.size() - 2;
  int64_t rows = view.dims[last];
  for (size_t i = last; i-- > 0;) {
    if (view.dims[i] != 1 && rows != 1 && view.strides[i] != rows * view.strides[last]) return false;
    rows *= view.dims[i];
  }
  const bool one_row = view.dims[last] == 1 && rows > 1;
  const int64_t stride = one_row ? view.dims.back() : view.strides[last];
  if (one_row && view.strides.back() != 1) return false;
  view = OperandView{{rows, view.dims.back()}, {stride, view.strides.back()}};
  return true;
}

// The residual's dimensions with those that a and b of rank 1 take from the result.
Dims ResidualDims(const NodeContext& context, const Dims& a, const Dims& b) {
  Dims dims = context.InputDims(kResidual);
  dims.insert(dims.begin(), context.OutputDims().size() - dims.size(), 1);
  if (b.size() == 1) dims.push_back(1);
  if (a.size() == 1) dims.insert(dims.end() - 1, 1);
  return dims;
}

// Dimensions of the residual with all but the last folded into one, as those of the result [a, b, M, N] are; nullopt
// where it is broadcast along some of them only.
std::optional<Dims> FoldResidual(const Dims& residual, const Dims& result) {
  int64_t rows = 1, all = 1;
  for (size_t i = 0; i + 1 < result.size(); ++i) {
    rows *= residual[i];
    all *= result[i];
  }
  if (rows != 1 && rows != all) return std::nullopt;
  return Dims{rows, residual.back()};
}

}  // namespace

bool HasResidual(const NodeContext& context) {
  return context.node().op == OpKind::kMatMul && context.HasInput(kResidual);
}

absl::StatusOr<MatMulOperands> DescribeMatMul(const NodeContext& context, const OperandStrides& strides,
                                              bool with_residual) {
  const Attributes& attributes = context.node().attributes;
  MatMulOperands operands;
  const Dims a = context.InputDims(0), b = context.InputDims(kWeights);
  if (a.empty() || b.empty()) return absl::UnimplementedError("a matmul of scalars");
  const bool transpose_a = attributes.Bool("transpose_a", false);
  operands.src = Operand(a, strides.src, transpose_a, /*is_left=*/true);
  operands.weights = Operand(b, strides.weights, attributes.Bool("transpose_b", false), /*is_left=*/false);
  if (with_residual) operands.residual_dims = ResidualDims(context, a, b);
  bool folds = b.size() <= 2 && a.size() > 2 && !transpose_a;
  if (folds && with_residual) {
    Dims result = context.OutputDims();
    if (b.size() == 1) result.push_back(1);
    const std::optional<Dims> folded = FoldResidual(operands.residual_dims, result);
    folds = folded.has_value();
    if (folds) operands.residual_dims = *folded;
  }
  if (folds && !FoldRows(operands.src)) return absl::UnimplementedError("the rows do not lie at equal distances");
  const size_t rank = std::max(operands.src.dims.size(), operands.weights.dims.size());
  Widen(operands.src, rank);
  Widen(operands.weights, rank);
  if (operands.src.dims.back() != operands.weights.dims[rank - 2]) {
    return absl::InvalidArgumentError("the inner dimensions of the operands differ");
  }
  MatMulProblem& problem = operands.problem;
  problem.src = operands.src.dims;
  problem.weights = operands.weights.dims;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (problem.src[i] != problem.weights[i] && problem.src[i] != 1 && problem.weights[i] != 1) {
      return absl::InvalidArgumentError("the leading dimensions of the operands differ");
    }
    problem.dst.push_back(std::max(problem.src[i], problem.weights[i]));
  }
  problem.dst.push_back(problem.src[rank - 2]);
  problem.dst.push_back(problem.weights[rank - 1]);

  if (context.node().op == OpKind::kGemm) {
    operands.scale = attributes.Float("alpha", 1);
    operands.addend_scale = attributes.Float("beta", 1);
    if (context.HasInput(kBias) && operands.addend_scale != 0) {
      Dims c = context.InputDims(kBias);
      while (c.size() < 2) c.insert(c.begin(), 1);
      // The bias is added before alpha multiplies.
      const bool vector = c[0] == 1 && c[1] == problem.dst[1];
      operands.bias_factor = operands.addend_scale / operands.scale;
      operands.has_bias = vector && std::isfinite(operands.bias_factor) &&
                          (operands.bias_factor == 1 || context.Constant(kBias) != nullptr);
      operands.has_addend = !operands.has_bias;
      operands.addend_dims = c;
      if (operands.has_addend && !std::isnormal(operands.scale / operands.addend_scale))
        return absl::UnimplementedError("gemm with an alpha of 0");
    }
  } else {
    operands.scale = attributes.Float("scale", 1);
    operands.has_bias = context.HasInput(kBias);
    operands.bias_factor = 1 / operands.scale;  // the bias is added before the factor multiplies
    if (operands.has_bias && b.size() == 1)
      return absl::UnimplementedError("a bias over the rows of a matmul with a vector");
  }
  return operands;
}

}  // namespace halftone::onednn
