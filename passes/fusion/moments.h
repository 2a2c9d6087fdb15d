// SPDX-License-Identifier: Apache-2.0
// The parts of a normalization that is written as separate ops: mean, variance, and its square root.
#ifndef HALFTONE_PASSES_FUSION_MOMENTS_H_
#define HALFTONE_PASSES_FUSION_MOMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/fusion/normalization.h"

namespace halftone {

// sqrt(variance + epsilon), or its reciprocal times scale.
struct Deviation {
  ValueId variance = kNoValue;
  double epsilon = 0;
  ValueId scale = kNoValue;
  std::vector<NodeId> nodes;
};
// value = sqrt(variance + epsilon)
std::optional<Deviation> ReadRoot(const Graph& g, ValueId value);
// value = 1 / sqrt(variance + epsilon), as rsqrt, reciprocal, division or power; or that times a scale
std::optional<Deviation> ReadScaledInverse(const Graph& g, ValueId value);

struct Moments {
  std::vector<int64_t> axes;  // ascending, >= 0
  std::vector<NodeId> nodes;
};
// Checks that `mean` is the mean of x and `variance` its variance over the same constant axes, with kept dimensions.
// NOT_FOUND: they are not means. FAILED_PRECONDITION: they are means, but not of this kind.
absl::StatusOr<Moments> ReadMoments(const Graph& g, ValueId x, ValueId mean, ValueId variance);

// Keras' layer norm: reshape(batch_norm(reshape(x, [1, rows, row, 1]), 1, 0) {is_training}) ends in `reshape`.
std::optional<Normalization> ReadReshapedBatchNorm(const Graph& g, NodeId reshape);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_MOMENTS_H_
