// SPDX-License-Identifier: Apache-2.0
// Helpers of the reference functions: rounding to a type, strides and offsets, axes.
#ifndef HALFTONE_IR_REFERENCE_ARRAYS_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_ARRAYS_INTERNAL_H_

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone::reference {

using Dims = std::vector<int64_t>;

// OK if a tensor of these dims may be allocated; RESOURCE_EXHAUSTED above 2^31 elements, INVALID_ARGUMENT for negative
// dims.
absl::Status CheckDims(const Dims& dims);

// Rounds each number once to `type`: nearest even to floats, towards zero (saturating, NaN is 0) to integers.
Tensor FromDoubles(DataType type, Dims dims, const std::vector<double>& numbers);
// To any type; integers wrap around (two's complement).
Tensor FromInts(DataType type, Dims dims, const std::vector<int64_t>& numbers);

// The elements as T: float (exact for f32, bf16, f16 and small integers) or double or int64_t.
template <typename T>
std::vector<T> Elements(const Tensor& tensor);
template <>
inline std::vector<float> Elements<float>(const Tensor& tensor) {
  return tensor.ToFloats();
}
template <>
inline std::vector<double> Elements<double>(const Tensor& tensor) {
  return tensor.ToDoubles();
}
template <>
inline std::vector<int64_t> Elements<int64_t>(const Tensor& tensor) {
  return tensor.ToInts();
}

int64_t Count(std::span<const int64_t> dims);
Dims RowMajorStrides(const Dims& dims);

// For each element of an array of `dims`, in row-major order: start + the sum of index[i] * strides[i].
std::vector<int64_t> Offsets(const Dims& dims, const Dims& strides, int64_t start = 0);
// Strides that read an array of `from` as if it were broadcast to `to`. REQUIRES: numpy can broadcast it
Dims BroadcastStrides(const Dims& from, const Dims& to);
// The broadcast shape of both as in numpy; an error if they do not broadcast.
absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b);

// A tensor of `dims` whose element i is x's element offsets[i], or the one element of `fill` where the offset is
// negative.
Tensor TakeElements(const Tensor& x, Dims dims, const std::vector<int64_t>& offsets, const Tensor* fill = nullptr);

// Row-major elements of `dims` with dimensions in the order of `perm`.
template <typename T>
std::vector<T> Permute(const std::vector<T>& x, const Dims& dims, const std::vector<int>& perm) {
  const Dims strides = RowMajorStrides(dims);
  Dims new_dims, new_strides;
  for (const int axis : perm) {
    new_dims.push_back(dims[axis]);
    new_strides.push_back(strides[axis]);
  }
  const std::vector<int64_t> offsets = Offsets(new_dims, new_strides);
  std::vector<T> result(offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) result[i] = x[offsets[i]];
  return result;
}

// From batch, spatial..., channel to batch, channel, spatial... and back.
std::vector<int> ToChannelsFirst(int rank);
std::vector<int> ToChannelsLast(int rank);

// Permutes a vector of dims.
Dims PermuteDims(const Dims& dims, const std::vector<int>& perm);

// A negative axis counts from the end; an error out of [-rank, rank).
absl::StatusOr<int> Axis(int64_t axis, int rank);
// A flag per dimension that is set for each of `axes`; an error if an axis is out of range or given twice.
absl::StatusOr<std::vector<bool>> AxisMarks(const std::vector<int64_t>& axes, int rank);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_ARRAYS_INTERNAL_H_
