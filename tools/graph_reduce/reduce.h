// The smallest graph that still fails, by trying smaller ones: for reproducers of passes (graph_reduce) and the fuzzer.
#ifndef HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_
#define HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_

#include <functional>
#include <map>
#include <string>

#include "ir/graph.h"

namespace halftone {

// A smaller graph. Ids are those of the first.
struct Reduction {
  Graph graph;
  std::map<ValueId, ValueId> cut;  // inputs that the first graph has not, and its values that they stand for
};

using StillFails = std::function<bool(const Reduction&)>;

struct ReduceOptions {
  int max_tries = 5000;
  // Constants become ones and dimensions smaller: then values that were cut have not the shape that they had.
  bool shrink = true;
  // One line a success: "23 nodes, 2 inputs, 1 outputs: cut 12 nodes".
  std::function<void(const std::string&)> progress = nullptr;
};

// Drops outputs, puts inputs in the place of computed values (first of many at once, then of one), takes nodes out that
// hand on a value of the same shape, then optional inputs and attributes, then shrinks; again and again until nothing
// smaller fails. Every graph that `still_fails` sees is verified and has its shapes inferred. REQUIRES: `graph` fails
Reduction Reduce(const Graph& graph, const StillFails& still_fails, const ReduceOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_
