// SPDX-License-Identifier: Apache-2.0
// Counts the contractions that stay f32 in every precision: planners decide only about nodes of the outermost graph,
// and ApplyPrecision does not enter nested graphs (bodies of if, loop, scan, while and call). If the layers of a model
// are inside nested graphs, its bf16 variant equals the fp32 one.
#ifndef HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_
#define HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_

#include <cstdint>
#include <string>

#include "ir/graph.h"

namespace halftone {

// Convolutions, matmuls and recurrent layers with f32 data, which bf16, f16 and int8 can speed up.
struct NestedContractions {
  int64_t nested = 0;  // in nested graphs; a graph that several nodes share counts once
  int64_t all = 0;     // in nested graphs and in the outermost graph
  std::string first;   // label of the first nested one; "" if there is none
};
NestedContractions CountNestedContractions(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_
