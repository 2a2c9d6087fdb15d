// SPDX-License-Identifier: Apache-2.0
// Nodes with floats of several types (MayDiffer in ir/ops.h): helpers for the rules around casts.
#ifndef HALFTONE_PASSES_PRECISION_MIXED_TYPES_H_
#define HALFTONE_PASSES_PRECISION_MIXED_TYPES_H_

#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

bool IsSmallFloat(DataType type);  // f32, bf16, f16

// Conv, matmul, gemm, conv_transpose: the ops with a "math_mode".
OpSet MathModeOps();

// The input of the cast between two of these types that produced `value`; kNoValue if `value` is not such a cast.
ValueId CastFrom(const Graph& g, ValueId value);

// Whether the target has a kernel with these types for the node.
bool RunsAs(const Target& target, const Graph& g, NodeId node, const Signature& types);

// Find and Apply of rules of the form cast(op(x, ..)) => op(x, ..) with a result of the cast's type, for ops of `ops`
// without further results.
FindResult FindResultCast(const Graph& g, NodeId cast, const Target& target, OpSet ops);
absl::Status ApplyResultCast(const Match& m, GraphEditor& edit);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_MIXED_TYPES_H_
