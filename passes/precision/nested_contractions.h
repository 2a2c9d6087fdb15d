// What lowering the precision leaves out: planners decide about nodes of the outermost graph, and ApplyPrecision does
// not enter nested ones (bodies of if, loop, scan, while and call), so that all they compute stays f32. Where the
// layers of a model lie inside them, its bf16 variant is its fp32 one.
#ifndef HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_
#define HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_

#include <cstdint>
#include <string>

#include "ir/graph.h"

namespace halftone {

// Convolutions, matmuls and recurrent layers whose data is f32: what bf16, f16 and int8 make faster.
struct NestedContractions {
  int64_t nested = 0;  // those in nested graphs, a graph that several nodes share counted once
  int64_t all = 0;     // and those of the outermost graph
  std::string first;   // label of the first nested one; "" if there is none
};
NestedContractions CountNestedContractions(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_NESTED_CONTRACTIONS_H_
