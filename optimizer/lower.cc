#include "optimizer/lower.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "passes/core/gate.h"
#include "passes/pipelines.h"
#include "passes/surgery/named_passes.h"

namespace halftone {
namespace {

constexpr std::string_view kNoReason = "fp32: on no list of the planner";

// A reason for each node that computes, from its decision and what was fused into it.
void Explain(const Graph& graph, const PrecisionPlan* plan, std::string_view otherwise, LoweredGraph& result) {
  for (const NodeId id : graph.nodes()) {
    if (!Computes(graph.op(id))) continue;
    const std::string label = graph.Label(id);
    const Decision* decision = plan == nullptr ? nullptr : plan->Find(graph, id);
    result.reasons[label] = decision != nullptr ? decision->reason : std::string(otherwise);
  }
}

absl::StatusOr<PassContext> MakeContext(const Target& target, const OptimizeOptions& options, RewriteLog& log) {
  PassContext context{.target = target, .log = &log};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  context.equivalence.enabled = options.verify_passes;
  return context;
}

// What every variant takes from a run of passes.
void TakeResults(const PassContext& context, RewriteSummary& rewrites, std::vector<std::string>& warnings) {
  AddRewrites(context, rewrites);
  for (const std::string& note : context.notes) {
    if (std::find(warnings.begin(), warnings.end(), note) == warnings.end()) warnings.push_back(note);
  }
}

// From the model to the graph that is written: `steps` are the pipelines between the optimizer's and the export's.
absl::Status RunPipelines(const PreparedModel& model, const OptimizeOptions& options,
                          const std::vector<const Pipeline*>& steps, std::string_view reason, PassContext& context,
                          LoweredGraph& result) {
  result.graph = model.graph;
  result.rewrites = model.rewrites;
  result.warnings.insert(result.warnings.end(), model.warnings.begin(), model.warnings.end());
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(result.graph, context));
  for (const Pipeline* step : steps) HALFTONE_RETURN_IF_ERROR(step->Run(result.graph, context));
  Explain(result.graph, context.plan, reason, result);
  result.rewrites.nodes_after = CountComputing(result.graph);
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(model.graph.format(), options.dialect).Run(result.graph, context));
  result.rewrites.nodes_written = CountComputing(result.graph);
  TakeResults(context, result.rewrites, result.warnings);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const OptimizeOptions& options) {
  const std::optional<ModelFormat> format =
      options.model.format.has_value() ? options.model.format : ModelFormatOfPath(options.model.label());
  if (format.has_value()) {
    const GraphFormat family = *format == ModelFormat::kOnnx ? GraphFormat::kOnnx : GraphFormat::kGraphDef;
    HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, family));
  }
  for (const std::string& pass : options.passes) {
    HALFTONE_RETURN_IF_ERROR(Annotate(ParseNamedPass(pass).status(), Concat("pass '", pass, "'")));
  }
  return absl::OkStatus();
}

absl::StatusOr<PreparedModel> PrepareModel(Graph imported, const Target& target, const OptimizeOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, imported.format()));
  PreparedModel model;
  model.rewrites.nodes_before = CountComputing(imported);
  model.graph = std::move(imported);
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  for (const std::string& text : options.passes) {
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Pass> pass, ParseNamedPass(text));
    HALFTONE_ASSIGN_OR_RETURN(const int64_t edits, RunThroughGate(*pass, "policy", model.graph, context));
    model.rewrites.fusions.push_back({text, edits, "named by the policy"});
  }
  GraphEditor(model.graph).ResetOrigins();  // the planner's graph is this one
  TakeResults(context, model.rewrites, model.warnings);
  return model;
}

absl::StatusOr<LoweredGraph> MakeBaseline(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options) {
  LoweredGraph result;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(RunPipelines(model, options, {}, "fp32: the baseline", context, result));
  result.summary =
      Concat(result.rewrites.nodes_before, " nodes became ", result.rewrites.nodes_after, " after fusion");
  return result;
}

absl::StatusOr<LoweredGraph> KeepFp32(const PreparedModel& model, const Target& target, const OptimizeOptions& options,
                                      std::string_view why) {
  HALFTONE_ASSIGN_OR_RETURN(LoweredGraph result, MakeBaseline(model, target, options));
  result.kind = VariantKind::kBf16;
  result.summary = Concat("kept fp32: ", why);
  for (auto& [label, reason] : result.reasons) reason = result.summary;
  result.warnings.push_back(Concat("bf16: ", result.summary));
  return result;
}

absl::StatusOr<LoweredGraph> MakeBf16(const PreparedModel& model, const Target& target,
                                      const OptimizeOptions& options) {
  if (!target.IsNative(DataType::kBFloat16) && !options.force) {
    return KeepFp32(model, target, options,
                    "this CPU has no bfloat16 instructions (AVX512_BF16 or AMX); force lowers it all the same");
  }
  HALFTONE_ASSIGN_OR_RETURN(const ListsPlan planned, PlanByLists(model.graph, options.planner));
  LoweredGraph result;
  result.kind = VariantKind::kBf16;
  result.emulated = !target.IsNative(DataType::kBFloat16);
  result.warnings = planned.warnings;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  context.plan = &planned.plan;
  const Pipeline precision = MakePrecisionPipeline(planned.plan);
  HALFTONE_RETURN_IF_ERROR(RunPipelines(model, options, {&precision}, kNoReason, context, result));
  result.summary = planned.summary.ToString();
  if (result.emulated)
    result.warnings.push_back(
        "bf16 is emulated on this CPU: its times say nothing about one that has bfloat16 instructions");
  return result;
}

}  // namespace halftone
