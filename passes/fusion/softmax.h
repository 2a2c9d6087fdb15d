// SPDX-License-Identifier: Apache-2.0
// Helpers for the rules around a softmax.
#ifndef HALFTONE_PASSES_FUSION_SOFTMAX_H_
#define HALFTONE_PASSES_FUSION_SOFTMAX_H_

#include "ir/graph.h"

namespace halftone {

inline constexpr int kSoftmaxAddend = 1;

inline bool IsOverLastAxis(const Graph& g, NodeId softmax) {
  const Shape& shape = g.shape(g.input(softmax, 0));
  if (!shape.has_rank() || shape.rank() == 0) return false;
  const int64_t axis = g.node(softmax).attributes.Int("axis", -1);
  return axis == -1 || axis == shape.rank() - 1;
}

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_SOFTMAX_H_
