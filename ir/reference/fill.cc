// SPDX-License-Identifier: Apache-2.0
// Ops that create numbers: one_hot, trilu, matrix_band_part, eye_like, range, fill, size, rank, invert_permutation.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

absl::StatusOr<int64_t> OneInt(const Tensor& tensor, std::string_view name) {
  const std::vector<int64_t> values = tensor.ToInts();
  if (values.size() != 1) return Error(name, " holds ", values.size(), " numbers, need one");
  return values[0];
}

// x with those elements (row, column) of its last two dimensions zeroed for which `keep` returns false.
template <typename Keep>
Outputs KeepOfMatrices(const Tensor& x, Keep keep) {
  if (x.rank() < 2) return Error("x is ", x.shape().ToString(), ", need rank 2 at least");
  const int64_t rows = x.dims()[x.rank() - 2], columns = x.dims()[x.rank() - 1];
  std::vector<int64_t> offsets(x.num_elements());
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i);
    offsets[i] = keep(at / columns % rows, at % columns) ? at : -1;
  }
  return std::vector<Tensor>{TakeElements(x, x.dims(), offsets)};
}

}  // namespace

// Negative indices count from the end unless wrap_negative is false. Indices out of range give a row of `off`.
Outputs OneHot(const Call& call) {
  const Tensor& indices = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int64_t depth, OneInt(call.in(1), "depth"));
  if (depth < 0) return Error("depth is ", depth);
  if (call.in(2).num_elements() != 2) {
    return Error("values is ", call.in(2).shape().ToString(), ", need two numbers: off and on");
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", -1), indices.rank() + 1));
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const bool wraps = call.attributes().Bool("wrap_negative", true);
  const std::vector<int64_t> numbers = indices.ToInts();
  const int64_t inner = Count(Dims(dims.begin() + axis + 1, dims.end()));
  std::vector<int64_t> offsets(Count(dims), 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t index = wraps && numbers[i] < 0 ? numbers[i] + depth : numbers[i];
    if (index < 0 || index >= depth) continue;
    const int64_t outer = static_cast<int64_t>(i) / inner, rest = static_cast<int64_t>(i) % inner;
    offsets[(outer * depth + index) * inner + rest] = 1;
  }
  return std::vector<Tensor>{TakeElements(call.in(2), std::move(dims), offsets)};
}

Outputs Trilu(const Call& call) {
  int64_t k = 0;
  if (call.has(1)) {
    HALFTONE_ASSIGN_OR_RETURN(k, OneInt(call.in(1), "k"));
  }
  k = std::clamp<int64_t>(k, INT32_MIN, INT32_MAX);
  const bool upper = call.attributes().Bool("upper", true);
  return KeepOfMatrices(call.in(0),
                        [=](int64_t row, int64_t column) { return upper ? column - row >= k : column - row <= k; });
}

Outputs MatrixBandPart(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t lower, OneInt(call.in(1), "lower"));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t upper, OneInt(call.in(2), "upper"));
  return KeepOfMatrices(call.in(0), [=](int64_t row, int64_t column) {
    return (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper);
  });
}

Outputs EyeLike(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() != 2) return Error("x is ", x.shape().ToString(), ", need rank 2");
  const int64_t k = std::clamp<int64_t>(call.attributes().Int("k", 0), INT32_MIN, INT32_MAX);
  std::vector<int64_t> y(x.num_elements(), 0);
  const int64_t columns = x.dims()[1];
  for (int64_t row = 0; row < x.dims()[0]; ++row) {
    if (row + k >= 0 && row + k < columns) y[row * columns + row + k] = 1;
  }
  return std::vector<Tensor>{FromInts(call.type(), x.dims(), y)};
}

Outputs Range(const Call& call) {
  for (int i = 0; i < 3; ++i) {
    if (call.in(i).num_elements() != 1)
      return Error("input ", i, " is ", call.in(i).shape().ToString(), ", need one number");
  }
  if (IsFloatingPoint(call.in(0).type())) {
    const double start = call.in(0).ToDoubles()[0], limit = call.in(1).ToDoubles()[0],
                 delta = call.in(2).ToDoubles()[0];
    if (delta == 0 || !std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta)) {
      return Error("from ", start, " to ", limit, " by ", delta, " is no range");
    }
    const double count = std::max(0.0, std::ceil((limit - start) / delta));
    if (count > 2147483648.0)
      return absl::ResourceExhaustedError(Concat("a range of ", count, " numbers is too large"));
    std::vector<double> y(static_cast<size_t>(count));
    for (size_t i = 0; i < y.size(); ++i) y[i] = start + static_cast<double>(i) * delta;
    const int64_t size = static_cast<int64_t>(y.size());
    return std::vector<Tensor>{FromDoubles(call.type(), {size}, y)};
  }
  const int64_t start = call.in(0).ToInts()[0], limit = call.in(1).ToInts()[0], delta = call.in(2).ToInts()[0];
  if (delta == 0) return Error("from ", start, " to ", limit, " by 0 is no range");
  // Unsigned: the distance of two 64-bit numbers may not fit a signed one.
  const bool empty = delta > 0 ? start >= limit : start <= limit;
  const uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                      : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t count = empty ? 0 : (distance - 1) / step + 1;
  if (count > (uint64_t{1} << 31)) {
    return absl::ResourceExhaustedError(Concat("a range of ", count, " numbers is too large"));
  }
  std::vector<int64_t> y(count);
  for (size_t i = 0; i < y.size(); ++i) y[i] = start + static_cast<int64_t>(i) * delta;
  return std::vector<Tensor>{FromInts(call.type(), {static_cast<int64_t>(count)}, y)};
}

Outputs LinSpace(const Call& call) {
  for (int i = 0; i < 3; ++i) {
    if (call.in(i).num_elements() != 1)
      return Error("input ", i, " is ", call.in(i).shape().ToString(), ", need one number");
  }
  const double start = call.in(0).ToDoubles()[0], stop = call.in(1).ToDoubles()[0];
  const int64_t count = call.in(2).ToInts()[0];
  if (count < 1) return Error("count is ", count, ", need at least 1");
  HALFTONE_RETURN_IF_ERROR(CheckDims({count}));
  std::vector<double> y(static_cast<size_t>(count), start);
  for (int64_t i = 1; i < count; ++i)
    y[i] = start + (stop - start) * static_cast<double>(i) / static_cast<double>(count - 1);
  if (count > 1) y.back() = stop;
  return std::vector<Tensor>{FromDoubles(call.type(), {count}, y)};
}

Outputs Fill(const Call& call) {
  const Dims dims = call.in(0).ToInts();
  if (call.in(0).rank() > 1) return Error("shape is ", call.in(0).shape().ToString(), ", need rank 1");
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  if (!call.has(1)) return std::vector<Tensor>{Tensor(call.type(), dims)};
  if (call.in(1).num_elements() != 1) {
    return Error("value is ", call.in(1).shape().ToString(), ", need one element");
  }
  return std::vector<Tensor>{TakeElements(call.in(1), dims, std::vector<int64_t>(Count(dims), 0))};
}

Outputs SizeOf(const Call& call) { return std::vector<Tensor>{FromInts(call.type(), {}, {call.in(0).num_elements()})}; }

Outputs RankOf(const Call& call) { return std::vector<Tensor>{FromInts(call.type(), {}, {call.in(0).rank()})}; }

Outputs InvertPermutation(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() != 1) return Error("x is ", x.shape().ToString(), ", need rank 1");
  const std::vector<int64_t> perm = x.ToInts();
  const int64_t size = x.num_elements();
  std::vector<int64_t> y(size, -1);
  for (int64_t i = 0; i < size; ++i) {
    if (perm[i] < 0 || perm[i] >= size || y[perm[i]] >= 0) {
      return Error("element ", i, " is ", perm[i], ": each of 0 to ", size - 1, " must be there once");
    }
    y[perm[i]] = i;
  }
  return std::vector<Tensor>{FromInts(call.type(), x.dims(), y)};
}

}  // namespace halftone::reference
