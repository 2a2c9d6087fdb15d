// Which type variable a port belongs to, as planner and ApplyPrecision see it: the op table's letters, and a few ops
// more closely.
#ifndef HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_
#define HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_

#include "ir/graph.h"

namespace halftone {

inline constexpr char kData = 'T';        // the variable that may be marked
inline constexpr char kCastResult = 'D';  // cast's result (TensorFlow: DstT); its input ('S') is never marked
inline constexpr char kFree = '*';        // tied to nothing

// cast: 'S' and 'D'; shape: its input is data that nobody computes with; pow: both operands have one type; an opaque
// node: one variable for everything, which is enough to pass deny on.
char InputVariable(const Graph& graph, NodeId node, int index);
char OutputVariable(const Graph& graph, NodeId node, int index);

// The variable of this node that planners decide on.
inline char PlannedVariable(OpKind op) { return op == OpKind::kCast ? kCastResult : kData; }

// Whether the values of the node's marked variable are f32 (and there are any).
bool IsFloat32(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_TYPE_VARIABLES_H_
