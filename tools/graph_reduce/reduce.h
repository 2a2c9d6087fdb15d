// SPDX-License-Identifier: Apache-2.0
// Reduces a failing graph to a minimal one by trying smaller graphs. Used by graph_reduce and by the fuzzer.
#ifndef HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_
#define HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_

#include <functional>
#include <map>
#include <string>

#include "ir/graph.h"

namespace halftone {

// A reduced graph. Its ids are those of the original graph.
struct Reduction {
  Graph graph;
  std::map<ValueId, ValueId> cut;  // new inputs, and the values of the original graph that they replace
};

using StillFails = std::function<bool(const Reduction&)>;

struct ReduceOptions {
  int max_tries = 5000;
  // Also replaces constants by ones and makes dimensions smaller. Values in `cut` then have other shapes than before.
  bool shrink = true;
  // Called with one line per successful step: "23 nodes, 2 inputs, 1 outputs: cut 12 nodes".
  std::function<void(const std::string&)> progress = nullptr;
};

// Repeats these steps until no smaller graph fails: drops outputs; replaces computed values by inputs (first many at
// once, then single ones); bypasses nodes whose input and output have the same type and shape; drops optional inputs
// and attributes; shrinks dimensions and constants. Every graph that `still_fails` gets is verified and has inferred
// shapes. REQUIRES: `graph` fails.
Reduction Reduce(const Graph& graph, const StillFails& still_fails, const ReduceOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_TOOLS_GRAPH_REDUCE_REDUCE_H_
