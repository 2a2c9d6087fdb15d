// SPDX-License-Identifier: Apache-2.0
// Where pads read, for the reference function of pad and its kernel.
#ifndef HALFTONE_IR_PAD_INDEX_H_
#define HALFTONE_IR_PAD_INDEX_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace halftone {

// The element of a dimension of `size` that an index outside of [0, size) reads; -1: the fill value.
inline int64_t PadIndex(std::string_view mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return index;
  if (mode == "constant" || size == 0) return -1;
  if (mode == "edge") return std::clamp<int64_t>(index, 0, size - 1);
  if (mode == "wrap") return (index % size + size) % size;
  const int64_t period = mode == "reflect" ? std::max<int64_t>(2 * (size - 1), 1) : 2 * size;
  const int64_t place = (index % period + period) % period;
  if (place < size) return place;
  return mode == "reflect" ? period - place : period - 1 - place;
}

}  // namespace halftone

#endif  // HALFTONE_IR_PAD_INDEX_H_
