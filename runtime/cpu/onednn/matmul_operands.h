// SPDX-License-Identifier: Apache-2.0
// What matmul and gemm nodes compute, as matrices with strides, for all ranks and transposes of their operands. Private
// to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_OPERANDS_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_OPERANDS_H_

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/problem.h"

namespace halftone::onednn {

// How an operand lies, with dimensions of our choice over its plain bytes.
struct OperandView {
  Dims dims;
  Dims strides;
  Desc desc(DataType type) const { return Desc(dims, *DnnlType(type), strides, /*allow_empty=*/true); }
};

// What the node computes, in oneDNN's dimensions.
struct MatMulOperands {
  MatMulProblem problem;
  OperandView src, weights;
  bool has_bias = false;    // input 2 is a vector over the last dimension, added as it is
  bool has_addend = false;  // gemm's c in any other form: a binary post-op
  Dims addend_dims;
  Dims residual_dims;  // of problem.dst's rank; empty: no residual
  float scale = 1;
  float addend_scale = 1;
  float bias_factor = 1;  // by which a constant bias is multiplied
};

// Where the operands lie: plain, or as other nodes left them.
struct OperandStrides {
  Dims src, weights;
};

// Whether a matmul has one.
bool HasResidual(const NodeContext& context);

// UNIMPLEMENTED for scalars and for rows that cannot be folded; INVALID_ARGUMENT for dimensions that do not fit.
absl::StatusOr<MatMulOperands> DescribeMatMul(const NodeContext& context, const OperandStrides& strides,
                                              bool with_residual);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_OPERANDS_H_
