#include "optimizer/lower.h"

#include "base/status.h"
#include "base/strings.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

constexpr std::string_view kNoReason = "fp32: on no list of the planner";

bool Computes(OpKind op) {
  const OpGroup group = Info(op).group;
  return group != OpGroup::kSource && group != OpGroup::kOpaque && group != OpGroup::kStructural;
}

int CountComputing(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += Computes(graph.op(id)) ? 1 : 0;
  return count;
}

std::vector<RewriteResult> AppliedRewrites(const RewriteLog& log) {
  std::vector<RewriteResult> result;
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.applied) result.push_back({entry.pass, entry.node, entry.text});
  }
  return result;
}

// A reason for each node that computes, from its decision and what was fused into it.
void Explain(const Graph& graph, const PrecisionPlan* plan, std::string_view otherwise, LoweredGraph& result) {
  for (const NodeId id : graph.nodes()) {
    if (!Computes(graph.op(id))) continue;
    const std::string label = graph.Label(id);
    const Decision* decision = plan == nullptr ? nullptr : plan->Find(graph, id);
    result.reasons[label] = decision != nullptr ? decision->reason : std::string(otherwise);
  }
}

absl::StatusOr<PassContext> MakeContext(const Target& target, RewriteLog& log) {
  PassContext context{.target = target, .log = &log};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  return context;
}

}  // namespace

absl::StatusOr<LoweredGraph> MakeBaseline(const Graph& imported, const Target& target) {
  LoweredGraph result;
  result.graph = imported;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, log));
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(result.graph, context));
  Explain(result.graph, nullptr, "fp32: the baseline", result);
  const int before = CountComputing(imported);
  const int fused = CountComputing(result.graph);
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(imported.format()).Run(result.graph, context));
  result.rewrites = AppliedRewrites(log);
  result.summary = Concat(before, " nodes became ", fused, " after fusion");
  return result;
}

absl::StatusOr<LoweredGraph> KeepFp32(const Graph& imported, const Target& target, std::string_view why) {
  HALFTONE_ASSIGN_OR_RETURN(LoweredGraph result, MakeBaseline(imported, target));
  result.kind = VariantKind::kBf16;
  result.summary = Concat("kept fp32: ", why);
  for (auto& [label, reason] : result.reasons) reason = result.summary;
  result.warnings.push_back(Concat("bf16: ", result.summary));
  return result;
}

absl::StatusOr<LoweredGraph> MakeBf16(const Graph& imported, const Target& target, const OptimizeOptions& options) {
  if (!target.IsNative(DataType::kBFloat16) && !options.force) {
    return KeepFp32(imported, target,
                    "this CPU has no bfloat16 instructions (AVX512_BF16 or AMX); force lowers it all the same");
  }
  HALFTONE_ASSIGN_OR_RETURN(const ListsPlan planned, PlanByLists(imported, options.planner));
  LoweredGraph result;
  result.kind = VariantKind::kBf16;
  result.graph = imported;
  result.emulated = !target.IsNative(DataType::kBFloat16);
  result.warnings = planned.warnings;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, log));
  context.plan = &planned.plan;
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(result.graph, context));
  HALFTONE_RETURN_IF_ERROR(MakePrecisionPipeline(planned.plan).Run(result.graph, context));
  Explain(result.graph, &planned.plan, kNoReason, result);
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(imported.format()).Run(result.graph, context));
  result.rewrites = AppliedRewrites(log);
  result.summary = planned.summary.ToString();
  if (result.emulated)
    result.warnings.push_back(
        "bf16 is emulated on this CPU: its times say nothing about one that has bfloat16 instructions");
  return result;
}

}  // namespace halftone
