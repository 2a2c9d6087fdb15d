// Batch norm at inference as a multiplication and an addition per channel.
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

// scale = gamma / sqrt(variance + epsilon), offset = beta - mean * scale, in f64. FAILED_PRECONDITION says in a few
// words why it cannot be had: training mode, statistics that are not constant, another number of channels, a mean or
// variance that is read.
absl::StatusOr<ChannelAffine> AffineOfBatchNorm(const Graph& g, NodeId batch_norm, int64_t channels);

// Whether anything but the first output is read.
bool StatisticsAreRead(const Graph& g, NodeId batch_norm);

// Puts contraction * scale + offset in the place of `last`: w' = w * scale, b' = b * scale + offset, each rounded once
// to f32. REQUIRES: weights and bias (if any) are f32 constants, no residual, no activation
void FoldAffine(GraphEditor& edit, NodeId contraction, NodeId last, const ChannelAffine& affine);

// "" if weights and bias of `contraction` can take an affine, else why not.
std::string CannotFold(const Graph& g, NodeId contraction);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_BATCH_NORM_H_
