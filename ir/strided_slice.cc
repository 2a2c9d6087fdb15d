// SPDX-License-Identifier: Apache-2.0
#include "ir/strided_slice.h"

#include <algorithm>

#include "base/strings.h"

namespace halftone {

absl::StatusOr<std::vector<StridedSliceEntry>> StridedSliceEntries(const Attributes& attributes, int count, int rank) {
  if (count > 63) return absl::InvalidArgumentError(Concat("begin holds ", count, " numbers, need at most 63"));
  const auto bit = [&](std::string_view mask, int i) { return (attributes.Int(mask, 0) >> i & 1) != 0; };
  int taken = 0, ellipsis = -1;  // dimensions of x that begin names
  for (int i = 0; i < count; ++i) {
    if (bit("ellipsis_mask", i)) {
      if (ellipsis >= 0) return absl::InvalidArgumentError("ellipsis_mask has more than one bit");
      ellipsis = i;
    } else if (!bit("new_axis_mask", i)) {
      ++taken;
    }
  }
  if (taken > rank) {
    return absl::InvalidArgumentError(Concat("begin names ", taken, " dimensions, x has ", rank));
  }
  std::vector<StridedSliceEntry> entries;
  int dim = 0;
  const auto take_whole = [&] {
    for (int i = taken; i < rank; ++i) entries.push_back({.dim = dim++});
  };
  for (int i = 0; i < count; ++i) {
    if (i == ellipsis) {
      take_whole();
    } else if (bit("new_axis_mask", i)) {
      entries.push_back({});
    } else {
      entries.push_back({.dim = dim++,
                         .index = i,
                         .shrink = bit("shrink_axis_mask", i),
                         .begin_masked = bit("begin_mask", i),
                         .end_masked = bit("end_mask", i)});
    }
  }
  if (ellipsis < 0) take_whole();
  return entries;
}

absl::StatusOr<SliceRange> RangeOf(const StridedSliceEntry& entry, int64_t dim, int64_t begin, int64_t end,
                                   int64_t stride) {
  if (entry.shrink) {
    const int64_t index = begin < 0 ? begin + dim : begin;
    if (index < 0 || index >= dim || stride <= 0) {
      return absl::InvalidArgumentError(Concat("index ", begin, " with stride ", stride, " is out of range for ", dim,
                                               " elements of dimension ", entry.dim));
    }
    return SliceRange{index, 1, 1};
  }
  if (stride == 0) return absl::InvalidArgumentError(Concat("a stride of 0 in dimension ", entry.dim));
  stride = std::clamp<int64_t>(stride, -dim - 1, dim + 1);  // longer ones reach the same elements
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + dim : at, low, std::max(low, high)); };
  const int64_t from = entry.begin_masked ? (stride > 0 ? low : high) : clamp(begin);
  const int64_t to = entry.end_masked ? (stride > 0 ? high : low) : clamp(end);
  const int64_t distance = stride > 0 ? to - from : from - to;
  return SliceRange{from, stride, distance <= 0 ? 0 : (distance - 1) / std::abs(stride) + 1};
}

}  // namespace halftone
