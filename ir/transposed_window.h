// SPDX-License-Identifier: Apache-2.0
// The geometry of a transposed convolution: where its taps write, and how large its result is.
#ifndef HALFTONE_IR_TRANSPOSED_WINDOW_H_
#define HALFTONE_IR_TRANSPOSED_WINDOW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/shape.h"

namespace halftone {

// Input position i and tap t write to position i * stride + t * dilation - pad_begin, if it is in [0, output).
struct TransposedWindow {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;  // negative where the result is longer than what the taps reach
  std::vector<int64_t> output;
};

// From the attributes "strides", "dilations", "pads", "auto_pad", "output_padding" and "output_shape". `output`: sizes
// that an input gives (TensorFlow), else empty: then the attribute and else the formula decide. Everything has one
// entry a spatial dimension. Errors: INVALID_ARGUMENT, without the node's name.
absl::StatusOr<TransposedWindow> ResolveTransposedWindow(const Attributes& attributes, std::span<const int64_t> input,
                                                         std::span<const int64_t> kernel,
                                                         std::span<const int64_t> output = {});

// The same where some sizes are unknown. `output`: empty, or what is known of the sizes that an input gives.
absl::StatusOr<std::vector<Dim>> TransposedOutputDims(const Attributes& attributes, std::span<const Dim> input,
                                                      std::span<const Dim> kernel, std::span<const Dim> output = {});

}  // namespace halftone

#endif  // HALFTONE_IR_TRANSPOSED_WINDOW_H_
