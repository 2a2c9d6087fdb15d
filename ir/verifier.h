// SPDX-License-Identifier: Apache-2.0
// What every graph must hold, before and after each pass.
#ifndef HALFTONE_IR_VERIFIER_H_
#define HALFTONE_IR_VERIFIER_H_

#include <span>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

// Ids in range and alive, uses consistent with inputs, number of inputs and outputs within the op's ports, attributes among
// those the op lists and of the right kind, types tied by one type variable equal (where known), names of values unique,
// outputs exist, a cycle only through NextIteration -> Merge, nested graphs too (how deep and how many: nested.h).
// Errors: INVALID_ARGUMENT that names the node or value and says what would be right.
absl::Status VerifyGraph(const Graph& graph);

// VerifyGraph, and that no op mixes types of floats (MayDiffer in ops.h): what a file may hold.
absl::Status VerifyFileGraph(const Graph& graph);

// What VerifyGraph asks of single nodes, of these only (those that were removed are skipped), and that the outputs exist:
// for graphs that are too large to be looked at again after each small edit.
absl::Status VerifyNodes(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace halftone

#endif  // HALFTONE_IR_VERIFIER_H_
