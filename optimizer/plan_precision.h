// SPDX-License-Identifier: Apache-2.0
// A step of a job: which planner plans which graph for a variant. The one place that knows all of them.
#ifndef HALFTONE_OPTIMIZER_PLAN_PRECISION_H_
#define HALFTONE_OPTIMIZER_PLAN_PRECISION_H_

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "optimizer/optimize.h"
#include "optimizer/options.h"
#include "passes/precision/planned_precision.h"

namespace halftone {

// Whether the planner looks at the graph after fusion (ITEX, Paddle) or as it was imported (TensorFlow).
bool PlansFusedGraph(const OptimizeOptions& options);

// A plan and the graph that it is for.
struct PlannedModel {
  RewrittenModel model;  // as imported, or fused; every node is its own origin
  PlannedPrecision precision;
};

// The planner of `options`, then the policy's rules, for a variant of `type` (kBFloat16 or kFloat16). Of model.fused
// only where PlansFusedGraph(options).
// Errors: INVALID_ARGUMENT for options that make no sense, with the name of the option.
absl::StatusOr<PlannedModel> PlanModel(const OptimizedModel& model, const Target& target,
                                       const OptimizeOptions& options, DataType type);

// What is wrong with the options of planners and rules, before there is a model. INVALID_ARGUMENT.
absl::Status CheckPlannerOptions(const OptimizeOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PLAN_PRECISION_H_
