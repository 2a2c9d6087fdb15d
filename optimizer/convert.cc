// SPDX-License-Identifier: Apache-2.0
#include "optimizer/convert.h"

#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "optimizer/explain.h"
#include "optimizer/export_graph.h"
#include "optimizer/pass_context.h"
#include "optimizer/plan_precision.h"
#include "passes/pipelines.h"
#include "passes/precision/precision_obstacle.h"

namespace halftone {
namespace {

// What the type of a variant is called, and what a CPU lacks that has no instructions for it.
std::string MissingInstructions(DataType type) {
  if (type == DataType::kFloat16) return "this CPU has no float16 arithmetic (AVX512_FP16 or AMX_FP16)";
  return "this CPU has no bfloat16 instructions (AVX512_BF16 or AMX)";
}

// An fp32 model, ready to be written.
absl::StatusOr<ConvertedGraph> InFp32(const RewrittenModel& model, const Target& target,
                                      const OptimizeOptions& options) {
  ConvertedGraph result;
  result.graph = model.graph;
  result.rewrites = model.rewrites;
  result.warnings = model.warnings;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  result.casts.planned = CountFloatCasts(result.graph);
  HALFTONE_RETURN_IF_ERROR(ExportGraph(options, {"baseline.fp32", "fp32: the baseline"}, context, result));
  return result;
}

}  // namespace

absl::StatusOr<ConvertedGraph> MakeBaseline(const OptimizedModel& model, const Target& target,
                                            const OptimizeOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph result, InFp32(model.fused, target, options));
  result.summary = Concat(result.rewrites.nodes_before, " nodes became ", result.rewrites.nodes_after, " after fusion");
  return result;
}

absl::StatusOr<ConvertedGraph> KeepFp32(VariantKind kind, const OptimizedModel& model, const Target& target,
                                        const OptimizeOptions& options, const Reason& why) {
  HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph result, MakeBaseline(model, target, options));
  result.kind = kind;
  result.summary = Concat("kept fp32: ", why.text);
  for (NodeDecision& decision : result.decisions) decision.reason = {why.rule, result.summary};
  result.warnings.push_back(Concat(VariantName(kind), ": ", result.summary));
  return result;
}

absl::StatusOr<ConvertedGraph> KeepUnfused(VariantKind kind, const OptimizedModel& model, const Target& target,
                                           const OptimizeOptions& options, const Reason& why) {
  HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph result, InFp32(model.imported, target, options));
  result.kind = kind;
  result.summary = Concat("not fused: ", why.text);
  for (NodeDecision& decision : result.decisions) decision.reason = {why.rule, result.summary};
  result.warnings.push_back(Concat(VariantName(kind), ": ", result.summary));
  return result;
}

absl::StatusOr<ConvertedGraph> ConvertPrecision(VariantKind kind, const OptimizedModel& model, const Target& target,
                                                const OptimizeOptions& options) {
  const DataType type = TypeOf(kind);
  if (type == DataType::kFloat32) return MakeBaseline(model, target, options);
  if (type == DataType::kInt8) return absl::InternalError("int8 is made by MakeInt8");
  const bool native = target.IsNative(type);
  if (!native && !options.force && type == DataType::kBFloat16) {
    return KeepFp32(
        kind, model, target, options,
        {"target.not-native", Concat(MissingInstructions(type), "; with force it is converted all the same")});
  }
  HALFTONE_ASSIGN_OR_RETURN(PlannedModel planned, PlanModel(model, target, options, type));
  const PrecisionPlan& plan = planned.precision.plan;
  if (!PlansFusedGraph(options)) {
    HALFTONE_ASSIGN_OR_RETURN(planned.model, FuseModel(planned.model, target, options, &plan));
  }
  ConvertedGraph result;
  result.kind = kind;
  result.graph = std::move(planned.model.graph);
  result.rewrites = std::move(planned.model.rewrites);
  result.warnings = std::move(planned.model.warnings);
  for (const std::string& warning : planned.precision.warnings) result.warnings.push_back(warning);
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.plan = &plan;
  HALFTONE_RETURN_IF_ERROR(MakeApplyPrecisionPipeline(plan).Run(result.graph, context));
  result.casts.planned = CountFloatCasts(result.graph);
  const bool bf16_math_mode = options.bf16_math_mode && type == DataType::kBFloat16;
  HALFTONE_RETURN_IF_ERROR(MakeCastPipeline(bf16_math_mode).Run(result.graph, context));
  HALFTONE_RETURN_IF_ERROR(
      ExportGraph(options, {"conversion.made", "made by a pass; in the type of its inputs"}, context, result));
  result.summary = planned.precision.summary;
  if (native) return result;
  if (options.force) {
    result.emulated = true;
    result.warnings.push_back(Concat(VariantName(kind),
                                     " is emulated on this CPU: its times say nothing about one that has ",
                                     LongTypeName(type), " instructions"));
  } else {
    result.not_measured = Concat("not measured: ", MissingInstructions(type));
    result.warnings.push_back(Concat(VariantName(kind), ": written, but ", result.not_measured));
  }
  return result;
}

}  // namespace halftone
