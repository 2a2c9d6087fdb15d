// SPDX-License-Identifier: Apache-2.0
// The constant right operand of matmul_integer and matmul_integer_to_float. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_INTEGER_WEIGHTS_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_INTEGER_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"
#include "runtime/plan/kernel.h"

namespace halftone::onednn {

inline bool IsInt8(DataType type) { return type == DataType::kUInt8 || type == DataType::kInt8; }

struct IntegerWeights {
  Tensor tensor;                     // s8 [k, n]; those of u8 are 128 less, and so are their zero points
  std::vector<int32_t> zero_points;  // one per column

  int64_t rows() const { return tensor.dims()[0]; }
  int64_t columns() const { return tensor.dims()[1]; }
  bool symmetric() const;  // every zero point is 0
};

// Input 1, with zero points of input `zero_point`, where there is one. UNIMPLEMENTED: it is no constant int8 matrix,
// or the zero points are computed, or neither one nor one per column.
absl::StatusOr<IntegerWeights> ReadIntegerWeights(const NodeContext& context, int zero_point);

// [.., k] as a matrix of k columns: how many rows. UNIMPLEMENTED where that is no int8 matrix to multiply with
// `weights`, or there is nothing to multiply.
absl::StatusOr<int64_t> RowsOfIntegers(const NodeContext& context, const IntegerWeights& weights);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_MATMUL_INTEGER_WEIGHTS_H_
