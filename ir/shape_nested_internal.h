// SPDX-License-Identifier: Apache-2.0
// Inference through nested graphs.
#ifndef HALFTONE_IR_SHAPE_NESTED_INTERNAL_H_
#define HALFTONE_IR_SHAPE_NESTED_INTERNAL_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/shape_values.h"

namespace halftone {

// What one inference may still spend on nested graphs: bodies are inferred until their states settle, bodies in bodies
// as often for each of these rounds. Where it is used up, nothing is known of what control flow makes.
struct InferenceBudget {
  int64_t nested_nodes = 2'000'000;
  int depth = 0;  // graphs around
};

// What is known of a node of control flow.
struct NestedInference {
  std::vector<ValueSpec> outputs;
  // The nested graphs with types and shapes bound to the node's inputs. One that cannot be inferred (a branch for other
  // shapes) is not among them.
  std::vector<std::pair<std::string_view, Graph>> graphs;
  int64_t edits = 0;  // types that were unknown
};

// REQUIRES: HasNestedGraphs(graph.op(id)). Errors, without the node's name: see NestedFormOf, and what contradicts the
// node's own attributes.
absl::StatusOr<NestedInference> InferNested(const Graph& graph, NodeId id, ShapeValues& values,
                                            InferenceBudget& budget);

// Defined in shape_inference.cc: the whole graph. `values` may have been told what is known of inputs.
absl::Status InferGraph(GraphEditor& edit, ShapeValues& values, InferenceBudget& budget);

// Whether nothing can be inferred of this op: what the file says of its outputs is all there is.
bool IsInferredByNothing(OpKind op);

}  // namespace halftone

#endif  // HALFTONE_IR_SHAPE_NESTED_INTERNAL_H_
