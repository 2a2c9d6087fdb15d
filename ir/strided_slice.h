// SPDX-License-Identifier: Apache-2.0
// What the masks of strided_slice mean, for its shape rule, its reference function and its kernels.
#ifndef HALFTONE_IR_STRIDED_SLICE_H_
#define HALFTONE_IR_STRIDED_SLICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"

namespace halftone {

// One dimension of x, or a new one.
struct StridedSliceEntry {
  int dim = -1;         // of x; -1: a new dimension of 1
  int index = -1;       // where begin, end and strides speak of it; -1: nowhere, it is taken whole
  bool shrink = false;  // one element is taken, and the dimension goes away
  bool begin_masked = false, end_masked = false;
};

// In the order of the output's dimensions (those that shrink included); each dimension of x occurs once. `count`:
// length of begin, end and strides. Error: more of them than x has dimensions, two ellipses, a mask beyond 64 bits.
absl::StatusOr<std::vector<StridedSliceEntry>> StridedSliceEntries(const Attributes& attributes, int count, int rank);

// Elements begin, begin + stride, ... : `size` of them.
struct SliceRange {
  int64_t begin = 0, stride = 1, size = 0;
};
// Of a dimension of `dim` elements. Error: a stride of 0, or a shrinking index out of range.
absl::StatusOr<SliceRange> RangeOf(const StridedSliceEntry& entry, int64_t dim, int64_t begin, int64_t end,
                                   int64_t stride);

}  // namespace halftone

#endif  // HALFTONE_IR_STRIDED_SLICE_H_
