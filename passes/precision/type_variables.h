// SPDX-License-Identifier: Apache-2.0
// The type variable of a port for the planners and ApplyPrecision: the letter of the op table, with a few exceptions.
#ifndef HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_
#define HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_

#include "ir/graph.h"

namespace halftone {

inline constexpr char kData = 'T';        // the variable that a planner decides
inline constexpr char kCastResult = 'D';  // cast's result (TensorFlow: DstT); its input ('S') is never converted
inline constexpr char kFree = '*';        // not tied to another port

// The exceptions. cast: 'S' and 'D'. shape: its input counts as data. pow: both operands have one type. An opaque node:
// one variable for all ports, which suffices to propagate deny.
char InputVariable(const Graph& graph, NodeId node, int index);
char OutputVariable(const Graph& graph, NodeId node, int index);

// The variable of this node that planners decide on.
inline char PlannedVariable(OpKind op) { return op == OpKind::kCast ? kCastResult : kData; }

// Whether the node has values of its planned variable, and all of them are f32.
bool IsFloat32(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_
