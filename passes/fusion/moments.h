// The parts of a normalization that is written out: mean, variance, the root of it.
#ifndef HALFTONE_PASSES_FUSION_MOMENTS_H_
#define HALFTONE_PASSES_FUSION_MOMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "passes/fusion/normalization.h"

namespace halftone {

// sqrt(variance + epsilon), or one over it times scale.
struct Deviation {
  ValueId variance = kNoValue;
  double epsilon = 0;
  ValueId scale = kNoValue;
  std::vector<NodeId> nodes;
};
// value = sqrt(variance + epsilon)
std::optional<Deviation> ReadRoot(const Graph& g, ValueId value);
// value = 1 / sqrt(variance + epsilon), as rsqrt, reciprocal, quotient or power; or that times a scale
std::optional<Deviation> ReadScaledInverse(const Graph& g, ValueId value);

struct Moments {
  std::vector<int64_t> axes;  // ascending, >= 0
  std::vector<NodeId> nodes;
};
// Makes sure that `mean` is x's mean and `variance` its variance over the same constant axes, which stay as 1.
// NOT_FOUND: they are no means. FAILED_PRECONDITION: they are, but not these.
absl::StatusOr<Moments> ReadMoments(const Graph& g, ValueId x, ValueId mean, ValueId variance);

// Keras' layer norm: reshape(batch_norm(reshape(x, [1, rows, row, 1]), 1, 0) {is_training}) ends in `reshape`.
std::optional<Normalization> ReadReshapedBatchNorm(const Graph& g, NodeId reshape);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_MOMENTS_H_
