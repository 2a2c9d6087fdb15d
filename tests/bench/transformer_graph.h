// SPDX-License-Identifier: Apache-2.0
// A graph of repeated transformer blocks as PyTorch's exporter writes them: layer norms, gelu and attention in single
// ops, biases as adds. What the passes are timed on.
#ifndef HALFTONE_TESTS_BENCH_TRANSFORMER_GRAPH_H_
#define HALFTONE_TESTS_BENCH_TRANSFORMER_GRAPH_H_

#include <cstdint>

#include "ir/graph.h"

namespace halftone {

struct TransformerOptions {
  int nodes = 100'000;  // that compute: blocks are added while there are fewer
  int64_t tokens = 8;
  int64_t hidden = 64;
  int64_t heads = 4;
  uint64_t seed = 1;  // of the weights, which all blocks share
};

// In ONNX's format; input x f32[1,tokens,hidden] and a mask s64[1,tokens], output y.
Graph MakeTransformerGraph(const TransformerOptions& options);

}  // namespace halftone

#endif  // HALFTONE_TESTS_BENCH_TRANSFORMER_GRAPH_H_
