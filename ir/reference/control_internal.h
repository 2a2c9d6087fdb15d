// SPDX-License-Identifier: Apache-2.0
// Control flow in the reference evaluator: nested graphs that run repeatedly, and their limits.
#ifndef HALFTONE_IR_REFERENCE_CONTROL_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_CONTROL_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/reference/reference.h"
#include "ir/tensor.h"

namespace halftone::reference {

// The part of the limits that one run has used.
struct Budget {
  const RunLimits& limits;
  int64_t body_runs = 0;
};

// A graph and its execution order. The graph must outlive it.
class PreparedGraph {
 public:
  explicit PreparedGraph(const Graph& graph) : graph_(graph), order_(graph.TopologicalOrder()) {}
  const Graph& graph() const { return graph_; }
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& inputs, Budget& budget) const;

 private:
  const Graph& graph_;
  const std::vector<NodeId> order_;
};

// Evaluates a node of control flow: one tensor per output of the node. Errors do not name the node.
// REQUIRES: HasNestedGraphs(node.op)
absl::StatusOr<std::vector<Tensor>> ControlFlow(const Node& node, const std::vector<Tensor>& inputs, Budget& budget);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_CONTROL_INTERNAL_H_
