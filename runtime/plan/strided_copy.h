// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of elements between any two strided layouts: slices, pads, transposes of any type.
#ifndef HALFTONE_RUNTIME_PLAN_STRIDED_COPY_H_
#define HALFTONE_RUNTIME_PLAN_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone {

// A prepared copy. Strides are in elements and may be negative; they count from the given base addresses.
// Thread-compatible; Run is const.
class StridedCopy {
 public:
  // REQUIRES: the three lists have one length; element_bytes is 1, 2, 4, 8 or 16
  StridedCopy(std::span<const int64_t> dims, std::span<const int64_t> from_strides, std::span<const int64_t> to_strides,
              size_t element_bytes);

  void Run(const std::byte* from, std::byte* to) const;

 private:
  struct Axis {
    int64_t size;
    int64_t from;  // bytes
    int64_t to;
  };
  void CopyRow(const std::byte* from, std::byte* to) const;

  std::vector<Axis> axes_;  // outermost first, the innermost not among them; neighbours that are one run are merged
  Axis row_{1, 0, 0};
  size_t element_bytes_;
  bool empty_ = false;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_STRIDED_COPY_H_
