// SPDX-License-Identifier: Apache-2.0
// Parts of the verifier that have files of their own.
#ifndef HALFTONE_IR_VERIFIER_INTERNAL_H_
#define HALFTONE_IR_VERIFIER_INTERNAL_H_

#include <string_view>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone::verifier {

// An attribute that a row of the op table names holds what its name stands for. Errors have no node's name.
absl::Status CheckAttribute(std::string_view name, const AttributeValue& value);

// A node of control flow: its nested graphs are there, of the graph's format, with as many inputs and outputs as the
// node gives and takes, and of equal types where both are known. Errors have no node's name.
// REQUIRES: HasNestedGraphs(graph.op(id))
absl::Status CheckNestedGraphs(const Graph& graph, NodeId id);

}  // namespace halftone::verifier

#endif  // HALFTONE_IR_VERIFIER_INTERNAL_H_
