// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/indices.h"

#include "base/status.h"
#include "base/strings.h"

namespace halftone::simd {
namespace {

std::vector<int64_t> RowMajor(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace

absl::StatusOr<int64_t> CheckedIndex(int64_t written, int64_t size, int64_t position) {
  if (written >= 0 && written < size) return written;
  if (written < 0 && written >= -size) return written + size;
  return absl::InvalidArgumentError(Concat("index ", written, " at position ", position, " is out of range: need ",
                                           -size, " to ", size - 1, " for ", size, " elements"));
}

int64_t Product(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

Tuples::Tuples(std::span<const int64_t> dims, std::span<const int64_t> index_dims, int64_t batches)
    : count(Product(index_dims.first(index_dims.size() - 1))), length(index_dims.back()) {
  per_batch = batches == 0 ? 1 : count / batches;
  batch_elements = Product(dims);
  const std::vector<int64_t> all = RowMajor(dims);
  sizes.assign(dims.begin(), dims.begin() + length);
  strides.assign(all.begin(), all.begin() + length);
}

absl::Status Tuples::Offsets(const std::byte* indices, DataType type, int64_t* offsets) const {
  for (int64_t t = 0; t < count; ++t) {
    int64_t offset = t / per_batch * batch_elements;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = t * length + i;
      HALFTONE_ASSIGN_OR_RETURN(const int64_t index, CheckedIndex(IndexAt(indices, type, at), sizes[i], at));
      offset += index * strides[i];
    }
    offsets[t] = offset;
  }
  return absl::OkStatus();
}

ElementIndices::ElementIndices(std::span<const int64_t> dims, std::span<const int64_t> indices, int axis)
    : index_dims(indices.begin(), indices.end()),
      strides(RowMajor(dims)),
      count(Product(indices)),
      axis_size(dims[axis]),
      axis_stride(strides[axis]) {
  strides[axis] = 0;
}

absl::Status ElementIndices::Offsets(const std::byte* indices, DataType type, int64_t* offsets) const {
  std::vector<int64_t> at(index_dims.size(), 0);
  int64_t base = 0;
  for (int64_t i = 0; i < count; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t index, CheckedIndex(IndexAt(indices, type, i), axis_size, i));
    offsets[i] = base + index * axis_stride;
    for (size_t d = at.size(); d-- > 0;) {  // counts up, the last dimension first
      base += strides[d];
      if (++at[d] < index_dims[d]) break;
      base -= strides[d] * index_dims[d];
      at[d] = 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone::simd
