// SPDX-License-Identifier: Apache-2.0
// Control flow at run time: nested graphs, compiled once for each set of shapes that they meet. Private to
// runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_CONTROL_H_
#define HALFTONE_RUNTIME_PLAN_CONTROL_H_

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/plan/kernel.h"
#include "runtime/plan/nested_plans.h"
#include "runtime/plan/plan_request.h"

namespace halftone {

bool IsControlFlow(OpKind op);  // if, loop, scan, while, call

// One node of control flow. Not thread-safe.
class ControlFlow : public NestedPlans {
 public:
  // An input's tensor if it never changes, else nullptr.
  using ConstantOf = std::function<const Tensor*(int input)>;

  // Constants are bound into the nested graphs, so that weights are packed there. The node is copied.
  static absl::StatusOr<std::unique_ptr<ControlFlow>> Make(const Graph& graph, NodeId node, const ConstantOf& constant,
                                                           const PlanRequest& request);

  // One tensor an input of the node (an absent one has type kUnknown), one per output.
  // Errors: RESOURCE_EXHAUSTED: a loop does not end within request.options.loops.
  virtual absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) = 0;

  // Compiles what can be compiled for inputs of these dimensions; errors come back when it is run.
  virtual void Prepare(std::span<const Tensor> inputs) = 0;
};

// A node whose outputs have known shapes, as a step of a plan.
absl::StatusOr<Prepared> PrepareControl(const NodeContext& context, const PlanRequest& request);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_CONTROL_H_
