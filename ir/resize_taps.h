// SPDX-License-Identifier: Apache-2.0
// ONNX's Resize, one dimension after the other: which elements each output position reads, and how much of each.
#ifndef HALFTONE_IR_RESIZE_TAPS_H_
#define HALFTONE_IR_RESIZE_TAPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/tensor.h"

namespace halftone {

// One output position along one dimension.
struct ResizeTaps {
  std::vector<int64_t> from;
  std::vector<double> weights;
  bool outside = false;  // gets the extrapolation value
};

struct ResizedAxis {
  int axis = 0;
  int64_t in = 0;
  std::vector<ResizeTaps> taps;  // one an output position
};

struct ResizePlan {
  std::vector<int64_t> dims;      // of the result
  std::vector<ResizedAxis> axes;  // those that change; all of them make the same result in any order
  double extrapolation = 0;
};

// Of the attributes of kResize, x's dimensions and the inputs roi, scales and sizes (nullptr or empty: absent).
// Coordinates are computed in f32, as runtimes do: in f64 some would fall on the other side of a whole number.
// Errors: INVALID_ARGUMENT, without the node's name; RESOURCE_EXHAUSTED for results beyond 2^31 elements.
absl::StatusOr<ResizePlan> PlanResize(const Attributes& attributes, const std::vector<int64_t>& x, const Tensor* roi,
                                      const Tensor* scales, const Tensor* sizes);

}  // namespace halftone

#endif  // HALFTONE_IR_RESIZE_TAPS_H_
