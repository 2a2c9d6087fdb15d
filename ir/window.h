// SPDX-License-Identifier: Apache-2.0
// The geometry of a sliding window (convolution, pooling), and which dimension of a layout is what.
#ifndef HALFTONE_IR_WINDOW_H_
#define HALFTONE_IR_WINDOW_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/shape.h"

namespace halftone {

// A window over the spatial dimensions; every vector has one entry a spatial dimension.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;  // auto_pad resolved
  std::vector<int64_t> pads_end;    // as written: with ceil_mode the last window may reach further
  std::vector<int64_t> output;      // number of windows
};

// From the attributes "strides", "dilations", "pads", "auto_pad" and "ceil_mode", an input of the spatial sizes `input`
// and a window of `kernel`. With ceil_mode no window starts in the padding at the end. Errors: INVALID_ARGUMENT,
// without the node's name.
absl::StatusOr<Window> ResolveWindow(const Attributes& attributes, std::span<const int64_t> input,
                                     std::span<const int64_t> kernel);

// The same where some sizes are unknown: output dimensions; unknown ones where they depend on an unknown size. A
// dimension that the window leaves as it is keeps its symbol.
absl::StatusOr<std::vector<Dim>> WindowOutputDims(const Attributes& attributes, std::span<const Dim> input,
                                                  std::span<const Dim> kernel);

// Whether the attribute "layout" says NHWC.
bool IsChannelsLast(const Attributes& attributes);
// The dimension that holds the channels of a tensor of this rank (>= 2), by the attribute "layout".
int ChannelAxis(const Attributes& attributes, int rank);
// The first of the rank - 2 spatial dimensions.
inline int FirstSpatialAxis(const Attributes& attributes) { return IsChannelsLast(attributes) ? 1 : 2; }

}  // namespace halftone

#endif  // HALFTONE_IR_WINDOW_H_
