// SPDX-License-Identifier: Apache-2.0
#include "optimizer/quantize.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "optimizer/convert.h"
#include "optimizer/export_graph.h"
#include "optimizer/pass_context.h"
#include "optimizer/plan_precision.h"
#include "optimizer/quantize_for_runtime.h"
#include "passes/pipelines.h"
#include "passes/precision/type_variables.h"
#include "passes/quantize/quantizable_ops.h"

namespace halftone {
namespace {

// Of the arrays in these files; nothing where there are none.
absl::StatusOr<InputDims> DimsOf(const std::vector<SampleFile>& files) {
  if (files.empty()) return InputDims();
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> samples, OpenSamples(files));
  return samples->dims();
}

// Without the share of the MACs: the report has it of the written file.
std::string Summarize(const Graph& graph, const Int8Plan& plan, const ValueRanges& ranges, Int8Mode mode) {
  int64_t contractions = 0, quantized = 0, others = 0;
  bool recurrent = false;
  for (const NodeId id : graph.nodes()) {
    const QuantizedRole role = QuantizedRoleOf(graph, id);
    recurrent = recurrent || role == QuantizedRole::kRecurrent;
    const bool multiplies = MultipliesWeights(role);
    const bool chosen = plan.nodes.contains(id);
    contractions += multiplies ? 1 : 0;
    quantized += multiplies && chosen ? 1 : 0;
    others += !multiplies && chosen ? 1 : 0;
  }
  const char* what = recurrent ? " convolutions, matmuls and recurrent layers" : " convolutions and matmuls";
  std::string text = Concat(quantized, " of ", contractions, what, " and ", others,
                            others == 1 ? " other node" : " other nodes", " to int8");
  if (mode == Int8Mode::kDynamic) text += ", mode dynamic: each run finds the ranges";
  if (mode == Int8Mode::kWeightOnly) return text + ", mode weight-only: computed as before";
  if (ranges.samples > 0) text += Concat("; ranges of ", ranges.samples, ranges.synthetic ? " random" : "", " samples");
  return text;
}

// Of the ranges, for the file.
std::string SourceOf(const ValueRanges& ranges) {
  const char* samples = ranges.samples == 1 ? " sample" : " samples";
  if (ranges.synthetic) return Concat("SYNTHETIC: ", ranges.samples, " random", samples);
  return ranges.samples > 0 ? Concat(ranges.samples, samples) : "given ranges";
}

// The fallback plan without the nodes that compute in int8.
PrecisionPlan FallbackPlan(const Int8Base& base, const std::set<NodeId>& nodes, Int8Mode mode) {
  PrecisionPlan plan = base.fallback;
  if (mode == Int8Mode::kWeightOnly) return plan;
  for (const NodeId id : nodes) {
    const auto it = plan.decisions.find({base.graph.node(id).origin, PlannedVariable(base.graph.op(id))});
    if (it != plan.decisions.end()) it->second = {};
  }
  return plan;
}

// Nodes without a name take that of their result, which their integers will not have: steps are told apart by it.
void NameNodes(const std::set<NodeId>& nodes, Graph& graph) {
  GraphEditor edit(graph);
  std::set<std::string> taken;
  for (const NodeId id : graph.nodes()) taken.insert(graph.node(id).name);
  for (const NodeId id : nodes) {
    const ValueId result = graph.output(id);
    if (!graph.node(id).name.empty() || !result.valid()) continue;
    const std::string name = graph.value(result).name;
    if (taken.insert(name).second) edit.SetName(id, name);
  }
}

Pipeline QuantizePipelineOf(const ValueRanges& ranges, const std::set<NodeId>& nodes, const OptimizeOptions& options,
                            ModelFormat format) {
  const QuantizeOptions quantize = QuantizeOptionsOf(options, format);
  switch (options.int8.mode) {
    case Int8Mode::kStatic:
      return MakeQuantizePipeline(ranges, nodes, quantize);
    case Int8Mode::kDynamic:
      return MakeDynamicQuantizePipeline(nodes, quantize);
    case Int8Mode::kWeightOnly:
      return MakeWeightOnlyPipeline(nodes, quantize.per_channel_weights);
  }
  return Pipeline("quantize");
}

// The nodes by the mode, then the others by the fallback plan.
absl::Status Quantize(const ValueRanges& ranges, const std::set<NodeId>& nodes, const PrecisionPlan& fallback,
                      const OptimizeOptions& options, PassContext& context, Graph& graph) {
  NameNodes(nodes, graph);
  HALFTONE_RETURN_IF_ERROR(QuantizePipelineOf(ranges, nodes, options, WrittenFormat(graph)).Run(graph, context));
  if (fallback.decisions.empty()) return absl::OkStatus();
  context.plan = &fallback;
  const absl::Status status = MakePrecisionPipeline(fallback).Run(graph, context);
  context.plan = nullptr;
  return status;
}

std::string WhyNothing(Int8Mode mode) {
  if (mode == Int8Mode::kStatic) return "no node of this model can be computed in int8 here";
  return Concat("no node of this model has a form for int8 mode ", Int8ModeName(mode));
}

}  // namespace

absl::StatusOr<Int8Base> MakeInt8Base(const OptimizedModel& model, const Target& target,
                                      const OptimizeOptions& options) {
  Int8Base base;
  bool has_fallback = options.int8.fallback_precision == VariantKind::kBf16;
  if (has_fallback && !target.IsNative(DataType::kBFloat16) && !options.force) {
    has_fallback = false;
    base.warnings.push_back("int8: what is not int8 stays fp32: this CPU has no bfloat16 instructions");
  }
  // All variants share one fused graph, unless the target runtime fuses less or a plan of the imported graph keeps
  // nodes apart.
  const std::unique_ptr<const Target> fusing =
      FusionTargetFor(WrittenFormat(model.imported.graph), options.target_runtime, options.int8, target);
  std::optional<OptimizedModel> own;
  if (fusing != nullptr && (!has_fallback || PlansFusedGraph(options))) {
    own = OptimizedModel{model.imported, {}};
    HALFTONE_ASSIGN_OR_RETURN(own->fused, FuseModel(model.imported, *fusing, options));
  }
  const Target& fusion_target = fusing != nullptr ? *fusing : target;
  const OptimizedModel& source = own.has_value() ? *own : model;
  RewrittenModel made = source.fused;
  if (has_fallback) {
    HALFTONE_ASSIGN_OR_RETURN(PlannedModel planned, PlanModel(source, fusion_target, options, DataType::kBFloat16));
    base.fallback = std::move(planned.precision.plan);
    made = std::move(planned.model);
    if (!PlansFusedGraph(options)) {
      HALFTONE_ASSIGN_OR_RETURN(made, FuseModel(made, fusion_target, options, &base.fallback));
    }
    made.warnings.insert(made.warnings.end(), planned.precision.warnings.begin(), planned.precision.warnings.end());
  }
  base.graph = std::move(made.graph);
  base.rewrites = std::move(made.rewrites);
  base.warnings.insert(base.warnings.begin(), model.imported.warnings.begin(), model.imported.warnings.end());
  for (std::string& warning : made.warnings) {
    const bool known = std::find(base.warnings.begin(), base.warnings.end(), warning) != base.warnings.end();
    if (!known) base.warnings.push_back(std::move(warning));
  }
  if (options.int8.equalize && options.int8.mode == Int8Mode::kStatic) {
    RewriteLog log;
    HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(fusion_target, options, log));
    context.plan = has_fallback ? &base.fallback : nullptr;
    HALFTONE_RETURN_IF_ERROR(MakeEqualizePipeline().Run(base.graph, context));
    TakeResults(context, base.rewrites, base.warnings);
  }
  if (!has_fallback || !PlansFusedGraph(options)) {
    base.ancestry.graph = &model.imported.graph;
    for (const NodeId id : base.graph.nodes()) base.ancestry.origins[id] = base.graph.node(id).origin;
  }
  HALFTONE_ASSIGN_OR_RETURN(base.samples, DimsOf(options.evaluation_samples()));
  return base;
}

absl::Status SmoothBase(Int8Base& base, ValueRanges& ranges, const Target& target, const OptimizeOptions& options) {
  if (!options.int8.smooth) return absl::OkStatus();
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(MakeSmoothPipeline(ranges).Run(base.graph, context));
  TakeResults(context, base.rewrites, base.warnings);
  return absl::OkStatus();
}

absl::StatusOr<ConvertedGraph> MakeInt8(const Int8Base& base, const ValueRanges& ranges, const OptimizedModel& model,
                                        const Target& target, const OptimizeOptions& options,
                                        const Int8Search& search) {
  HALFTONE_ASSIGN_OR_RETURN(
      const Int8Plan plan, PlanInt8(base.graph, ranges, target, options, base.ancestry, base.samples, search.excluded));
  if (plan.nodes.empty() && base.fallback.decisions.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph kept, KeepFp32(VariantKind::kInt8, model, target, options,
                                                            {"baseline.kept", WhyNothing(options.int8.mode)}));
    kept.warnings.insert(kept.warnings.end(), plan.warnings.begin(), plan.warnings.end());
    ExplainInt8(ReasonsOfInt8(base.graph, plan, search, options.int8.mode, /*has_fallback_plan=*/false),
                kept.decisions);
    return kept;
  }
  ConvertedGraph result;
  result.kind = VariantKind::kInt8;
  result.graph = base.graph;
  result.rewrites = base.rewrites;
  result.warnings = base.warnings;
  result.warnings.insert(result.warnings.end(), plan.warnings.begin(), plan.warnings.end());
  result.summary = Summarize(base.graph, plan, ranges, options.int8.mode);

  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  const PrecisionPlan fallback = FallbackPlan(base, plan.nodes, options.int8.mode);
  const bool has_fallback_plan = !fallback.decisions.empty();
  HALFTONE_RETURN_IF_ERROR(Quantize(ranges, plan.nodes, fallback, options, context, result.graph));
  Int8Reasons named = ReasonsOfInt8(result.graph, plan, search, options.int8.mode, has_fallback_plan);
  named.results = ResultRanges(base.graph, ranges, result.graph);
  result.casts.planned = CountFloatCasts(result.graph);
  context.plan = has_fallback_plan ? &fallback : nullptr;
  if (options.int8.mode == Int8Mode::kStatic) result.calibration = SourceOf(ranges);
  HALFTONE_RETURN_IF_ERROR(ExportGraph(options, {"conversion.made", "made by a pass"}, context, result));
  ExplainInt8(named, result.decisions);
  return result;
}

absl::StatusOr<Graph> QuantizeNodes(const Int8Base& base, const ValueRanges& ranges, const std::set<NodeId>& nodes,
                                    const Target& target, const OptimizeOptions& options) {
  Graph graph = base.graph;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(
      Quantize(ranges, nodes, FallbackPlan(base, nodes, options.int8.mode), options, context, graph));
  return graph;
}

}  // namespace halftone
