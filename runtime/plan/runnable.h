// SPDX-License-Identifier: Apache-2.0
// Whether a node can run at all, and whether a tensor is too large to be made. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_RUNNABLE_H_
#define HALFTONE_RUNTIME_PLAN_RUNNABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/graph.h"
#include "runtime/plan/kernel.h"

namespace halftone {

// Nodes from which data flows to an output, and the inputs; in topological order.
std::vector<NodeId> NeededNodes(const Graph& graph);

// "op conv of f64", "op com.acme.Magic of f32, s64 to f32": the node's op, with its domain, and the types that are
// known.
std::string OpWithTypes(const Graph& graph, NodeId node);

// "'name' (op LSTM of f32, which no kernel knows)"; empty if a kernel may run it.
std::string WhyNodeCannotRun(const Graph& graph, NodeId node, const Backend& backend);

// UNIMPLEMENTED with the list, unless it is empty.
absl::Status CannotRun(const std::vector<std::string>& refusals);

// RESOURCE_EXHAUSTED, with the names of node and value, where a tensor of these dimensions has too many elements to be
// computed with, or more than `most_bytes`.
absl::Status CheckSize(const Graph& graph, ValueId value, std::span<const int64_t> dims, size_t most_bytes);

// "'y'", or "output 1 of 'node'" where the value has no name.
std::string ValueLabel(const Graph& graph, ValueId value);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_RUNNABLE_H_
