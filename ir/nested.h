// SPDX-License-Identifier: Apache-2.0
// Nested graphs of control flow: which attributes hold them, and how a node's inputs and outputs meet theirs.
//
// A nested graph is closed: what it reads are its inputs, and they are the node's. It has the format of the graph
// around it.
#ifndef HALFTONE_IR_NESTED_H_
#define HALFTONE_IR_NESTED_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

inline constexpr int kMaxNestingDepth = 64;
// Nodes of a graph with everything nested in it, a graph that several nodes share counted once for each.
inline constexpr int64_t kMaxNestedNodes = 4'000'000;
// How often one run of a graph may run bodies of loops, all together: what takes longer is taken for endless.
inline constexpr int64_t kMaxBodyRuns = 10'000'000;

bool HasNestedGraphs(OpKind op);
// Attributes of an op that hold nested graphs, in the order in which ops.h names them.
std::span<const std::string_view> NestedGraphNames(OpKind op);
// nullptr if the node has none of this name.
std::shared_ptr<const Graph> NestedGraph(const Node& node, std::string_view name);

// How the inputs and outputs of a node are shared out.
struct NestedForm {
  int offset = 0;       // input j of a nested graph is input j + offset of the node
  int own_inputs = 0;   // inputs of the body that the loop itself makes (iteration, condition); states follow
  int own_outputs = 0;  // outputs of the body that the loop itself reads (condition); states follow
  int states = 0;       // values that each run of the body takes from the one before: outputs 0, 1, ... of the node
  int sequences = 0;    // scan: inputs of which each run gets one slice
  int captured = 0;     // inputs that are the same in every run
  int scanned = 0;      // outputs that collect one value per run, after the states
};

// REQUIRES: HasNestedGraphs(node.op). Errors, without the node's name: a nested graph is missing, an input is absent,
// or the numbers of inputs or outputs do not fit.
absl::StatusOr<NestedForm> NestedFormOf(const Node& node);

// The graph and every graph nested in it, the outermost first; one that several nodes share is there once.
std::vector<const Graph*> WithNested(const Graph& graph);

// At most kMaxNestingDepth graphs in each other and kMaxNestedNodes nodes. Every walk through nested graphs may recurse
// over them once this has been asked (VerifyGraph does).
absl::Status CheckNesting(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_IR_NESTED_H_
