// SPDX-License-Identifier: Apache-2.0
// Sampling of an image at a point (kGridSample): which elements one coordinate reads, and how much of each.
#ifndef HALFTONE_IR_GRID_TAPS_H_
#define HALFTONE_IR_GRID_TAPS_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/attributes.h"

namespace halftone {

struct GridOptions {
  enum class Mode { kLinear, kNearest, kCubic };
  enum class Padding { kZeros, kBorder, kReflection };
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};
// Of the attributes of kGridSample. Errors: INVALID_ARGUMENT, without the node's name.
absl::StatusOr<GridOptions> ReadGridOptions(const Attributes& attributes);

// Positions along one dimension of the image; those outside that read 0 are left out.
struct GridTaps {
  int count = 0;
  std::array<int64_t, 4> from{};
  std::array<double, 4> weights{};
};
// Of a coordinate in [-1, 1] on a dimension of `size` elements. The position is rounded to f32 unless `f64` says so.
GridTaps TapsOfCoordinate(const GridOptions& options, int64_t size, double coordinate, bool f64);

}  // namespace halftone

#endif  // HALFTONE_IR_GRID_TAPS_H_
