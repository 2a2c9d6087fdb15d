// SPDX-License-Identifier: Apache-2.0
// Indices in a model's tensors: checks them and converts them to positions of elements.
#ifndef HALFTONE_IR_REFERENCE_INDICES_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_INDICES_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/reference/arrays_internal.h"
#include "ir/tensor.h"

namespace halftone::reference {

// A negative index counts from the end; an error out of [-size, size).
absl::StatusOr<int64_t> Index(int64_t written, int64_t size);

// gather_elements and scatter_elements: for each index the position in an array of `dims` that differs from the index's
// own position only along the axis.
absl::StatusOr<std::vector<int64_t>> ElementOffsets(const Dims& dims, const Tensor& indices, int64_t axis);

// gather_nd and scatter_nd: for each tuple (the last dimension of `indices`) the position of the slice that it names,
// in `batches` consecutive arrays of `dims`. REQUIRES: tuples are no longer than dims
absl::StatusOr<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& dims, int64_t batches);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_INDICES_INTERNAL_H_
