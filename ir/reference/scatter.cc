// SPDX-License-Identifier: Apache-2.0
// Writing by index: scatter_elements, scatter_nd, scatter_nd_new. Negative indices count from the end; out of range is
// an error; if one element is written twice, the last value wins, or both are reduced.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/indices_internal.h"

namespace halftone::reference {
namespace {

template <typename T>
absl::Status ReduceInto(std::vector<T>& y, const std::vector<T>& updates, const std::vector<int64_t>& offsets,
                        const std::string& reduction) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    T& target = y[offsets[i]];
    const T update = updates[i];
    if (reduction == "add") {
      target += update;
    } else if (reduction == "mul") {
      target *= update;
    } else if (reduction == "max") {
      target = std::max(target, update);
    } else if (reduction == "min") {
      target = std::min(target, update);
    } else {
      return Error("reduction is '", reduction, "', need none, add, mul, max or min");
    }
  }
  return absl::OkStatus();
}

// x with updates[i] written to, or reduced into, element offsets[i].
Outputs Scatter(const Tensor& x, const Tensor& updates, const std::vector<int64_t>& offsets,
                const std::string& reduction) {
  if (updates.type() != x.type()) {
    return Error("updates are ", DataTypeName(updates.type()), ", x is ", DataTypeName(x.type()));
  }
  if (reduction == "none") {
    const size_t size = ElementSize(x.type());
    Tensor y(x.type(), x.dims());
    if (y.byte_size() > 0) std::memcpy(y.mutable_raw(), x.raw(), y.byte_size());
    for (size_t i = 0; i < offsets.size(); ++i) {
      std::memcpy(y.mutable_raw() + offsets[i] * size, updates.raw() + i * size, size);
    }
    return std::vector<Tensor>{std::move(y)};
  }
  if (IsFloatingPoint(x.type())) {
    std::vector<double> y = x.ToDoubles();
    HALFTONE_RETURN_IF_ERROR(ReduceInto(y, updates.ToDoubles(), offsets, reduction));
    return std::vector<Tensor>{FromDoubles(x.type(), x.dims(), y)};
  }
  if (!IsInteger(x.type()) && x.type() != DataType::kBool) {
    return absl::UnimplementedError(Concat("reduction ", reduction, " of ", DataTypeName(x.type())));
  }
  const std::vector<int64_t> x_ints = x.ToInts(), u_ints = updates.ToInts();
  if (x.type() == DataType::kUInt64 || reduction == "add" || reduction == "mul") {  // may wrap around
    std::vector<uint64_t> y(x_ints.begin(), x_ints.end());
    HALFTONE_RETURN_IF_ERROR(ReduceInto(y, std::vector<uint64_t>(u_ints.begin(), u_ints.end()), offsets, reduction));
    return std::vector<Tensor>{FromInts(x.type(), x.dims(), {y.begin(), y.end()})};
  }
  std::vector<int64_t> y = x_ints;
  HALFTONE_RETURN_IF_ERROR(ReduceInto(y, u_ints, offsets, reduction));
  return std::vector<Tensor>{FromInts(x.type(), x.dims(), y)};
}

// The elements of x that are updated: each tuple of `indices` selects a slice.
absl::StatusOr<std::vector<int64_t>> SliceOffsets(const Dims& x, const Tensor& indices, const Tensor& updates) {
  if (indices.rank() < 1) return Error("indices is a scalar, need rank 1 at least");
  const int64_t length = indices.dims().back();
  if (length > static_cast<int64_t>(x.size())) {
    return Error("indices has tuples of ", length, ", x ", Shape::Of(x).ToString(), " has ", x.size(), " dimensions");
  }
  Dims expected(indices.dims().begin(), indices.dims().end() - 1);
  expected.insert(expected.end(), x.begin() + length, x.end());
  if (updates.dims() != expected) {
    return Error("updates is ", updates.shape().ToString(), ", need ", Shape::Of(expected).ToString());
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> slices, TupleOffsets(indices, x, 1));
  const int64_t size = Count(Dims(x.begin() + length, x.end()));
  std::vector<int64_t> offsets;
  for (const int64_t slice : slices) {
    for (int64_t i = 0; i < size; ++i) offsets.push_back(slice + i);
  }
  return offsets;
}

}  // namespace

Outputs ScatterElements(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& indices = call.in(1);
  const Tensor& updates = call.in(2);
  if (updates.dims() != indices.dims()) {
    return Error("updates is ", updates.shape().ToString(), ", indices ", indices.shape().ToString(),
                 ": need the same");
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                            ElementOffsets(x.dims(), indices, call.attributes().Int("axis", 0)));
  return Scatter(x, updates, offsets, call.attributes().String("reduction", "none"));
}

Outputs ScatterNd(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                            SliceOffsets(call.in(0).dims(), call.in(1), call.in(2)));
  return Scatter(call.in(0), call.in(2), offsets, call.attributes().String("reduction", "none"));
}

// Writes into zeros; values for the same element are added.
Outputs ScatterNdNew(const Call& call) {
  const Tensor& updates = call.in(1);
  const Dims dims = call.in(2).ToInts();
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, SliceOffsets(dims, call.in(0), updates));
  return Scatter(Tensor(updates.type(), dims), updates, offsets, "add");
}

}  // namespace halftone::reference
