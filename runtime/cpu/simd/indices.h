// SPDX-License-Identifier: Apache-2.0
// Indices that lie in memory at run time: read, checked and made positions before anything is copied.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INDICES_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INDICES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/types.h"

namespace halftone::simd {

inline bool IsIndexType(DataType type) { return type == DataType::kInt32 || type == DataType::kInt64; }

// Index i of s32 or s64 memory.
inline int64_t IndexAt(const std::byte* indices, DataType type, int64_t i) {
  return type == DataType::kInt32 ? reinterpret_cast<const int32_t*>(indices)[i]
                                  : reinterpret_cast<const int64_t*>(indices)[i];
}

// Counted from the end if negative; an error out of [-size, size), which names the number and its position.
absl::StatusOr<int64_t> CheckedIndex(int64_t written, int64_t size, int64_t position);

// Product of dims[begin, end).
int64_t Product(std::span<const int64_t> dims);

// Where each tuple of gather_nd or scatter_nd points: batch * batch_elements + the sum of index * stride, in elements.
struct Tuples {
  int64_t count = 0, length = 0;  // tuples, numbers in one
  int64_t per_batch = 1;          // tuples in one batch
  int64_t batch_elements = 0;
  std::vector<int64_t> sizes, strides;  // of the indexed dimensions

  // dims: of the tensor that is indexed, after its batch dimensions. REQUIRES: length <= dims
  Tuples(std::span<const int64_t> dims, std::span<const int64_t> index_dims, int64_t batches);
  absl::Status Offsets(const std::byte* indices, DataType type, int64_t* offsets) const;
};

// Where each index of gather_elements or scatter_elements points in a tensor of `dims`, in elements.
struct ElementIndices {
  std::vector<int64_t> index_dims, strides;  // the stride along the axis is 0
  int64_t count = 0, axis_size = 0, axis_stride = 0;

  // REQUIRES: one rank >= 1; index_dims no longer than dims but along the axis
  ElementIndices(std::span<const int64_t> dims, std::span<const int64_t> indices, int axis);
  absl::Status Offsets(const std::byte* indices, DataType type, int64_t* offsets) const;
};

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INDICES_H_
