// SPDX-License-Identifier: Apache-2.0
// Batch norm at inference as one multiplication and one addition per channel.
#ifndef HALFTONE_PASSES_FUSION_BATCH_NORM_H_
#define HALFTONE_PASSES_FUSION_BATCH_NORM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// y = x * scale + offset
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> offset;
};

// scale = gamma / sqrt(variance + epsilon), offset = beta - mean * scale, in f64. FAILED_PRECONDITION gives the reason
// where this is not possible: training mode, statistics that are not constant, a different number of channels, or a
// mean or variance output with consumers.
absl::StatusOr<ChannelAffine> AffineOfBatchNorm(const Graph& g, NodeId batch_norm, int64_t channels);

// Whether an output other than the first has consumers.
bool StatisticsAreRead(const Graph& g, NodeId batch_norm);

// Replaces `last` with contraction * scale + offset: w' = w * scale, b' = b * scale + offset, each rounded once to f32.
// REQUIRES: weights and bias (if any) are f32 constants, no residual, no activation
void FoldAffine(GraphEditor& edit, NodeId contraction, NodeId last, const ChannelAffine& affine);

// "" if a scale and an offset can be folded into weights and bias of `contraction`, else the reason.
std::string CannotFold(const Graph& g, NodeId contraction);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_BATCH_NORM_H_
