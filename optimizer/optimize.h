// SPDX-License-Identifier: Apache-2.0
// Second step of a job: the graph transforms that the policy names, then the optimize pipeline, once for all variants
// that can share its result.
#ifndef HALFTONE_OPTIMIZER_OPTIMIZE_H_
#define HALFTONE_OPTIMIZER_OPTIMIZE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "optimizer/options.h"
#include "optimizer/rewrites.h"

namespace halftone {

// A graph and what passes did to it since it was imported.
struct RewrittenModel {
  Graph graph;
  RewriteSummary rewrites;  // nodes_before is of the model as imported
  std::vector<std::string> warnings;
};

// The model that every variant is made of.
struct OptimizedModel {
  RewrittenModel imported;  // after the graph transforms of options.passes; every node is its own origin
  RewrittenModel fused;     // `imported` after the optimize pipeline, all in fp32; origins are nodes of `imported`
};

// Runs options.passes. Errors: INVALID_ARGUMENT for a pass that does not exist, or that has nothing to do in such a
// model.
absl::StatusOr<RewrittenModel> TransformModel(Graph imported, const Target& target, const OptimizeOptions& options);

// A copy of the model after the optimize pipeline; `plan`: nodes of different planned precision are not fused. What
// the passes did is added to its rewrites.
absl::StatusOr<RewrittenModel> FuseModel(const RewrittenModel& model, const Target& target,
                                         const OptimizeOptions& options, const PrecisionPlan* plan = nullptr);

// Both.
absl::StatusOr<OptimizedModel> OptimizeModel(Graph imported, const Target& target, const OptimizeOptions& options);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_OPTIMIZE_H_
