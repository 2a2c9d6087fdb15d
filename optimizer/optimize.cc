// SPDX-License-Identifier: Apache-2.0
#include "optimizer/optimize.h"

#include <numeric>
#include <utility>

#include "base/status.h"
#include "formats/dialects.h"
#include "ir/editor.h"
#include "optimizer/pass_context.h"
#include "optimizer/work_counts.h"
#include "passes/pipelines.h"

namespace halftone {

absl::StatusOr<RewrittenModel> TransformModel(Graph imported, const Target& target, const OptimizeOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, WrittenFormat(imported)));
  RewrittenModel model;
  model.rewrites.nodes_before = CountComputing(imported);
  model.graph = std::move(imported);
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.file = &FileDialectOf(model.graph, options.dialect);
  for (const std::string& transform : options.passes) {
    HALFTONE_ASSIGN_OR_RETURN(const Pipeline pipeline, MakeTransformPipeline(transform));
    const auto before = static_cast<std::ptrdiff_t>(context.runs.size());
    HALFTONE_RETURN_IF_ERROR(pipeline.Run(model.graph, context));
    const int64_t edits = std::accumulate(context.runs.begin() + before, context.runs.end(), int64_t{0},
                                          [](int64_t sum, const PassRun& run) { return sum + run.edits; });
    model.rewrites.fusions.push_back({transform, edits, "named by the policy"});
  }
  GraphEditor(model.graph).ResetOrigins();  // planners plan this graph
  TakeResults(context, model.rewrites, model.warnings);
  return model;
}

absl::StatusOr<RewrittenModel> FuseModel(const RewrittenModel& model, const Target& target,
                                         const OptimizeOptions& options, const PrecisionPlan* plan) {
  RewrittenModel fused = model;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.plan = plan;
  CountOptimization();
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(fused.graph, context));
  TakeResults(context, fused.rewrites, fused.warnings);
  return fused;
}

absl::StatusOr<OptimizedModel> OptimizeModel(Graph imported, const Target& target, const OptimizeOptions& options) {
  OptimizedModel model;
  HALFTONE_ASSIGN_OR_RETURN(model.imported, TransformModel(std::move(imported), target, options));
  HALFTONE_ASSIGN_OR_RETURN(model.fused, FuseModel(model.imported, target, options));
  return model;
}

}  // namespace halftone
