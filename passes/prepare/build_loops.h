// SPDX-License-Identifier: Apache-2.0
// Control flow and TensorArrays as frozen TensorFlow graphs write them, built into what can run.
#ifndef HALFTONE_PASSES_PREPARE_BUILD_LOOPS_H_
#define HALFTONE_PASSES_PREPARE_BUILD_LOOPS_H_

#include <string_view>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// For running only: the graph is not written to a file any more. What no output needs goes first. Then
//   TensorArray ops                    dense tensors [size, element...], which take the way of the "flow" values
//   Enter, Merge, Switch, NextIteration, Exit, LoopCond of one frame    one while node, inner frames first
//   Switch and Merge outside of loops                                   one if node a Merge
//   PlaceholderWithDefault             its default
// Nothing happens to a graph without them. Shapes of inputs should be bound: elements of arrays must have known shapes.
// Errors: UNIMPLEMENTED or INVALID_ARGUMENT name the node that is no part of such a pattern.
absl::Status BuildLoops(GraphEditor& edit);

// The same as a pass.
class BuildLoopsPass final : public Pass {
 public:
  std::string_view name() const override { return "build-loops"; }
  float tolerance() const override { return kBitExact; }
  bool enters_nested() const override { return false; }  // frames are of the outermost graph
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

namespace lowering {

// The steps of it.
absl::Status BuildArrays(GraphEditor& edit);
void PinConstantBranches(GraphEditor& edit);
// Those whose branches hold no loop that is still to be built; `must_all`: others are an error.
absl::Status BuildConditionals(GraphEditor& edit, bool must_all);

}  // namespace lowering
}  // namespace halftone

#endif  // HALFTONE_PASSES_PREPARE_BUILD_LOOPS_H_
