// SPDX-License-Identifier: Apache-2.0
// One attempt at a matmul or gemm by dnnl::matmul: for these types and layouts. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_BUILDER_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_BUILDER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/matmul_operands.h"
#include "runtime/cpu/onednn/problem.h"

namespace halftone::onednn {

// Where the operands and the result lie; their types are those of OperandTypes.
struct MatMulPlacements {
  Placement src, weights, dst;
  std::optional<Dims> dst_strides;
};

// Residual, bias and addend as post-ops, the primitive, then the step with packed constants. UNIMPLEMENTED where oneDNN
// has no such primitive.
absl::StatusOr<Prepared> BuildMatMul(const NodeContext& context, const MatMulOperands& operands,
                                     const Epilogue& epilogue, const OperandTypes& types,
                                     const MatMulPlacements& placements);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_BUILDER_H_
