#include "optimizer/lower.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "ir/editor.h"
#include "optimizer/explain.h"
#include "optimizer/export_graph.h"
#include "optimizer/pass_context.h"
#include "optimizer/plan_precision.h"
#include "passes/core/gate.h"
#include "passes/pipelines.h"
#include "passes/precision/apply_precision.h"
#include "passes/precision/precision_obstacle.h"
#include "passes/precision/use_bf16_math_mode.h"
#include "passes/transforms/named_passes.h"

namespace halftone {
namespace {

// What the type of a variant is called, and what a CPU lacks that has no instructions for it.
std::string MissingInstructions(DataType type) {
  if (type == DataType::kFloat16) return "this CPU has no float16 arithmetic (AVX512_FP16 or AMX_FP16)";
  return "this CPU has no bfloat16 instructions (AVX512_BF16 or AMX)";
}

}  // namespace

absl::Status CheckOptions(const OptimizeOptions& options) {
  const std::optional<ModelFormat> format =
      options.model.format.has_value() ? options.model.format : ModelFormatOfPath(options.model.label());
  if (format.has_value()) {
    HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, *format));
    if (options.target_runtime == TargetRuntime::kOnnxRuntime && *format != ModelFormat::kOnnx) {
      return absl::InvalidArgumentError("target runtime onnxruntime reads ONNX files, and the model is a GraphDef");
    }
  }
  for (const std::string& pass : options.passes) {
    HALFTONE_RETURN_IF_ERROR(Annotate(ParseNamedPass(pass).status(), Concat("pass '", pass, "'")));
  }
  return CheckPlannerOptions(options);
}

absl::StatusOr<PreparedModel> PrepareModel(Graph imported, const Target& target, const OptimizeOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, WrittenFormat(imported)));
  PreparedModel model;
  model.rewrites.nodes_before = CountComputing(imported);
  model.graph = std::move(imported);
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.file = &FileDialectOf(model.graph, options.dialect);
  for (const std::string& text : options.passes) {
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Pass> pass, ParseNamedPass(text));
    HALFTONE_ASSIGN_OR_RETURN(const int64_t edits, RunThroughGate(*pass, "policy", model.graph, context));
    model.rewrites.fusions.push_back({text, edits, "named by the policy"});
  }
  GraphEditor(model.graph).ResetOrigins();  // what is planned before fusion
  TakeResults(context, model.rewrites, model.warnings);
  return model;
}

absl::StatusOr<LoweredGraph> MakeBaseline(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options) {
  LoweredGraph result;
  result.graph = model.graph;
  result.rewrites = model.rewrites;
  result.warnings = model.warnings;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(result.graph, context));
  result.casts.planned = CountFloatCasts(result.graph);
  HALFTONE_RETURN_IF_ERROR(ExportGraph(options, {"baseline.fp32", "fp32: the baseline"}, context, result));
  result.summary = Concat(result.rewrites.nodes_before, " nodes became ", result.rewrites.nodes_after, " after fusion");
  return result;
}

absl::StatusOr<LoweredGraph> KeepFp32(VariantKind kind, const PreparedModel& model, const Target& target,
                                      const OptimizeOptions& options, const Reason& why) {
  HALFTONE_ASSIGN_OR_RETURN(LoweredGraph result, MakeBaseline(model, target, options));
  result.kind = kind;
  result.summary = Concat("kept fp32: ", why.text);
  for (NodeDecision& decision : result.decisions) decision.reason = {why.rule, result.summary};
  result.warnings.push_back(Concat(VariantName(kind), ": ", result.summary));
  return result;
}

absl::StatusOr<LoweredGraph> MakeLowered(VariantKind kind, const PreparedModel& model, const Target& target,
                                         const OptimizeOptions& options) {
  const DataType type = TypeOf(kind);
  if (type == DataType::kFloat32) return MakeBaseline(model, target, options);
  if (type == DataType::kInt8) return absl::InternalError("int8 is made by MakeInt8");
  const bool native = target.IsNative(type);
  if (!native && !options.force && type == DataType::kBFloat16) {
    return KeepFp32(kind, model, target, options,
                    {"target.not-native", Concat(MissingInstructions(type), "; force lowers it all the same")});
  }
  HALFTONE_ASSIGN_OR_RETURN(GraphWithPlan planned, PlanModel(model, target, options, type));
  const PrecisionPlan& plan = planned.planned.plan;
  LoweredGraph result;
  result.kind = kind;
  result.graph = std::move(planned.graph);
  result.rewrites = std::move(planned.rewrites);
  result.warnings = model.warnings;
  for (const std::string& note : planned.notes) result.warnings.push_back(note);
  for (const std::string& warning : planned.planned.warnings) result.warnings.push_back(warning);
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.plan = &plan;
  if (!PlansFusedGraph(options)) HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(result.graph, context));
  Pipeline apply("apply-precision");
  apply.Add<ApplyPrecision>(plan);
  HALFTONE_RETURN_IF_ERROR(apply.Run(result.graph, context));
  result.casts.planned = CountFloatCasts(result.graph);
  Pipeline precision = MakePrecisionPipeline(plan);
  if (options.bf16_math_mode && type == DataType::kBFloat16) precision.Add<UseBf16MathMode>();
  HALFTONE_RETURN_IF_ERROR(precision.Run(result.graph, context));
  HALFTONE_RETURN_IF_ERROR(
      ExportGraph(options, {"lowering.made", "made by a pass; in the type of what it reads"}, context, result));
  result.summary = planned.planned.summary;
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
