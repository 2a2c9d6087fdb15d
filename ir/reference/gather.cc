// SPDX-License-Identifier: Apache-2.0
// Reading by index: gather, gather_elements, gather_nd. Negative indices count from the end; out of range is an error.

#include <cstring>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/indices_internal.h"

namespace halftone::reference {

absl::StatusOr<int64_t> Index(int64_t written, int64_t size) {
  if (written < -size || written >= size) {
    return Error("index ", written, " is out of range: need ", -size, " to ", size - 1, " for ", size, " elements");
  }
  return written < 0 ? written + size : written;
}

absl::StatusOr<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& dims, int64_t batches) {
  const int64_t length = indices.dims().back();
  const Dims strides = RowMajorStrides(dims);
  const std::vector<int64_t> numbers = indices.ToInts();
  const int64_t tuples = Count(Dims(indices.dims().begin(), indices.dims().end() - 1));
  const int64_t per_batch = batches == 0 ? 0 : tuples / batches;
  const int64_t batch_size = Count(dims);
  std::vector<int64_t> offsets;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = per_batch == 0 ? 0 : t / per_batch * batch_size;
    for (int64_t i = 0; i < length; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const int64_t index, Index(numbers[t * length + i], dims[i]));
      offset += index * strides[i];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

Outputs Gather(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& indices = call.in(1);
  if (x.rank() == 0) return Error("x is a scalar: nothing to gather from");
  if (call.has(2) && call.in(2).num_elements() != 1) return Error("axis must be one number");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.has(2) ? call.in(2).ToInts()[0] : 0, x.rank()));
  int64_t batch_dims = call.attributes().Int("batch_dims", 0);
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims > axis) {
    return Error("batch_dims is ", call.attributes().Int("batch_dims", 0), ", need 0 to ",
                 std::min(axis, indices.rank()));
  }
  const auto begin = x.dims().begin();
  const Dims batch(begin, begin + batch_dims);
  if (batch != Dims(indices.dims().begin(), indices.dims().begin() + batch_dims)) {
    return Error("x ", x.shape().ToString(), " and indices ", indices.shape().ToString(), " differ in their first ",
                 batch_dims, " dimensions");
  }
  const int64_t size = x.dims()[axis];
  std::vector<int64_t> rows = indices.ToInts();
  for (int64_t& row : rows) {
    HALFTONE_ASSIGN_OR_RETURN(row, Index(row, size));
  }
  Dims dims(begin, begin + axis);
  dims.insert(dims.end(), indices.dims().begin() + batch_dims, indices.dims().end());
  dims.insert(dims.end(), begin + axis + 1, x.dims().end());
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t batches = Count(batch);
  const int64_t outer = Count(Dims(begin + batch_dims, begin + axis));
  const size_t inner = Count(Dims(begin + axis + 1, x.dims().end())) * ElementSize(x.type());
  const int64_t per_batch = batches == 0 ? 0 : static_cast<int64_t>(rows.size()) / batches;
  Tensor y(x.type(), std::move(dims));
  std::byte* out = y.mutable_raw();
  for (int64_t b = 0; b < batches && inner > 0; ++b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < per_batch; ++i) {
        std::memcpy(out, x.raw() + ((b * outer + o) * size + rows[b * per_batch + i]) * inner, inner);
        out += inner;
      }
    }
  }
  return std::vector<Tensor>{std::move(y)};
}

Outputs GatherElements(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& indices = call.in(1);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                            ElementOffsets(x.dims(), indices, call.attributes().Int("axis", 0)));
  return std::vector<Tensor>{TakeElements(x, indices.dims(), offsets)};
}

absl::StatusOr<std::vector<int64_t>> ElementOffsets(const Dims& dims, const Tensor& indices, int64_t written_axis) {
  const int rank = static_cast<int>(dims.size());
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written_axis, rank));
  if (indices.rank() != rank) return Error("indices has rank ", indices.rank(), ", x ", rank, ": need the same");
  for (int i = 0; i < rank; ++i) {
    if (i != axis && indices.dims()[i] > dims[i]) {
      return Error("indices ", indices.shape().ToString(), " is longer than x ", Shape::Of(dims).ToString(),
                   " along axis ", i);
    }
  }
  Dims strides = RowMajorStrides(dims);
  const int64_t along = strides[axis];
  strides[axis] = 0;
  std::vector<int64_t> offsets = Offsets(indices.dims(), strides);
  const std::vector<int64_t> numbers = indices.ToInts();
  for (size_t i = 0; i < offsets.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t index, Index(numbers[i], dims[axis]));
    offsets[i] += index * along;
  }
  return offsets;
}

Outputs GatherNd(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& indices = call.in(1);
  const int64_t batch_dims = call.attributes().Int("batch_dims", 0);
  if (indices.rank() < 1) return Error("indices is a scalar, need rank 1 at least");
  if (batch_dims < 0 || batch_dims >= indices.rank() || batch_dims > x.rank()) {
    return Error("batch_dims is ", batch_dims, ", need 0 to ", std::min(indices.rank() - 1, x.rank()));
  }
  const int64_t length = indices.dims().back();
  if (length > x.rank() - batch_dims) {
    return Error("indices has tuples of ", length, ", x ", x.shape().ToString(), " has ", x.rank() - batch_dims,
                 " dimensions for them");
  }
  const auto begin = x.dims().begin();
  const Dims batch(begin, begin + batch_dims);
  if (batch != Dims(indices.dims().begin(), indices.dims().begin() + batch_dims)) {
    return Error("x ", x.shape().ToString(), " and indices ", indices.shape().ToString(), " differ in their first ",
                 batch_dims, " dimensions");
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                            TupleOffsets(indices, Dims(begin + batch_dims, x.dims().end()), Count(batch)));
  const Dims slice(begin + batch_dims + length, x.dims().end());
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), slice.begin(), slice.end());
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const size_t size = ElementSize(x.type()), bytes = Count(slice) * size;
  Tensor y(x.type(), std::move(dims));
  for (size_t i = 0; i < offsets.size() && bytes > 0; ++i) {
    std::memcpy(y.mutable_raw() + i * bytes, x.raw() + offsets[i] * size, bytes);
  }
  return std::vector<Tensor>{std::move(y)};
}

}  // namespace halftone::reference
