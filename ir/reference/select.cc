// SPDX-License-Identifier: Apache-2.0
// Ops whose output shape depends on the data: non_zero, unique, compress.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {

// Positions of elements that are not zero, one row per dimension; with {rows}, one row per element.
Outputs NonZero(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<double> elements = x.ToDoubles();
  std::vector<int64_t> found;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != 0) found.push_back(static_cast<int64_t>(i));  // NaN is not zero
  }
  const bool rows = call.attributes().Bool("rows", false);
  const int64_t rank = x.rank(), count = static_cast<int64_t>(found.size());
  const Dims strides = RowMajorStrides(x.dims());
  HALFTONE_RETURN_IF_ERROR(CheckDims({rank, count}));
  std::vector<int64_t> y(rank * count);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < rank; ++d) {
      y[rows ? i * rank + d : d * count + i] = found[i] / strides[d] % x.dims()[d];
    }
  }
  return std::vector<Tensor>{FromInts(call.type(), rows ? Dims{count, rank} : Dims{rank, count}, y)};
}

namespace {

// -1, 0 or 1; NaN equals NaN and comes last.
template <typename T>
int Compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

struct Groups {
  std::vector<int64_t> first;    // the first slice of each group, in the requested order
  std::vector<int64_t> inverse;  // the group of each slice
  std::vector<int64_t> counts;
};

// Groups of equal slices of x, which is [outer, size, inner], along its middle dimension.
template <typename T>
Groups GroupSlices(const std::vector<T>& x, int64_t outer, int64_t size, int64_t inner, bool sorted) {
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t row = o * size * inner + i;
        if (const int order = Compare(x[row + a * inner], x[row + b * inner]); order != 0) return order;
      }
    }
    return 0;
  };
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  Groups result;
  result.inverse.resize(size);
  for (int64_t i = 0; i < size; ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      result.first.push_back(order[i]);
      result.counts.push_back(0);
    }
    ++result.counts.back();
    result.inverse[order[i]] = static_cast<int64_t>(result.first.size()) - 1;
  }
  if (sorted) return result;
  // In the order of their first occurrence.
  const int64_t groups = static_cast<int64_t>(result.first.size());
  std::vector<int64_t> by_first(groups), rank(groups);
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(), [&](int64_t a, int64_t b) { return result.first[a] < result.first[b]; });
  Groups renamed;
  for (int64_t i = 0; i < groups; ++i) {
    rank[by_first[i]] = i;
    renamed.first.push_back(result.first[by_first[i]]);
    renamed.counts.push_back(result.counts[by_first[i]]);
  }
  for (const int64_t group : result.inverse) renamed.inverse.push_back(rank[group]);
  return renamed;
}

// The slices `kept` of x along an axis; without one x is flattened first.
absl::StatusOr<Tensor> TakeSlices(const Tensor& x, std::optional<int> axis, const std::vector<int64_t>& kept) {
  Dims dims = axis.has_value() ? x.dims() : Dims{x.num_elements()};
  const int along = axis.value_or(0);
  const int64_t outer = Count(Dims(dims.begin(), dims.begin() + along));
  const int64_t inner = Count(Dims(dims.begin() + along + 1, dims.end()));
  const int64_t size = dims[along];
  dims[along] = static_cast<int64_t>(kept.size());
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  std::vector<int64_t> offsets;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t slice : kept) {
      for (int64_t i = 0; i < inner; ++i) offsets.push_back((o * size + slice) * inner + i);
    }
  }
  return TakeElements(x, std::move(dims), offsets);
}

absl::StatusOr<std::optional<int>> OptionalAxis(const Call& call) {
  if (!call.attributes().has("axis")) return std::optional<int>();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", 0), call.in(0).rank()));
  return std::optional<int>(axis);
}

}  // namespace

Outputs Unique(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::optional<int> axis, OptionalAxis(call));
  const bool sorted = call.attributes().Bool("sorted", true);
  const Dims dims = axis.has_value() ? x.dims() : Dims{x.num_elements()};
  const int along = axis.value_or(0);
  const int64_t outer = Count(Dims(dims.begin(), dims.begin() + along));
  const int64_t inner = Count(Dims(dims.begin() + along + 1, dims.end()));
  Groups groups;
  if (IsFloatingPoint(x.type())) {
    groups = GroupSlices(x.ToDoubles(), outer, dims[along], inner, sorted);
  } else if (x.type() == DataType::kUInt64) {
    const std::vector<int64_t> integers = x.ToInts();
    groups = GroupSlices(std::vector<uint64_t>(integers.begin(), integers.end()), outer, dims[along], inner, sorted);
  } else {
    groups = GroupSlices(x.ToInts(), outer, dims[along], inner, sorted);
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor y, TakeSlices(x, axis, groups.first));
  std::vector<Tensor> outputs{std::move(y)};
  int output = 1;
  for (const std::vector<int64_t>* list : {&groups.first, &groups.inverse, &groups.counts}) {
    outputs.push_back(call.wants(output) ? FromInts(call.types[output], {static_cast<int64_t>(list->size())}, *list)
                                         : Tensor());
    ++output;
  }
  return outputs;
}

Outputs Compress(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::optional<int> axis, OptionalAxis(call));
  if (call.in(1).rank() != 1) return Error("condition is ", call.in(1).shape().ToString(), ", need rank 1");
  const std::vector<int64_t> condition = call.in(1).ToInts();
  const int64_t size = axis.has_value() ? x.dims()[*axis] : x.num_elements();
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {  // may be shorter: the other slices are omitted
    if (condition[i] == 0) continue;
    if (static_cast<int64_t>(i) >= size) return Error("condition keeps element ", i, " of ", size);
    kept.push_back(static_cast<int64_t>(i));
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor y, TakeSlices(x, axis, kept));
  return std::vector<Tensor>{std::move(y)};
}

}  // namespace halftone::reference
