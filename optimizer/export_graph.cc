// SPDX-License-Identifier: Apache-2.0
#include "optimizer/export_graph.h"

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/editor.h"
#include "ir/provenance.h"
#include "optimizer/explain.h"
#include "optimizer/pass_context.h"
#include "passes/pipelines.h"
#include "passes/precision/nested_contractions.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

// Where the runtime that loads files of this format is known not to load this one.
void WarnOfTargetRuntimes(const OptimizeOptions& options, ConvertedGraph& result) {
  const TargetRuntime runtime = FormatRow(WrittenFormat(result.graph)).runtime;
  const absl::Status loads = LoadsIn(result.graph, runtime);
  if (loads.ok()) return;
  const std::string advice =
      options.target_runtime == runtime
          ? ""
          : Concat("; --target-runtime ", TargetRuntimeName(runtime), " writes the nearest file that it loads");
  result.refused_by.push_back(Concat(loads.message(), advice));
  result.warnings.push_back(Concat(VariantName(result.kind), ": ", result.refused_by.back()));
}

// Where layers lie in nested graphs, which stay fp32, a variant may be no more than its fp32 one.
void WarnOfNestedLayers(ConvertedGraph& result) {
  if (result.kind == VariantKind::kFp32 || result.kind == VariantKind::kOriginal) return;
  const NestedContractions layers = CountNestedContractions(result.graph);
  if (layers.nested == 0) return;
  result.warnings.push_back(Concat(VariantName(result.kind), ": ", layers.nested, " of ", layers.all,
                                   " layers stay fp32, because they are in bodies of If, Loop or Scan (first: '",
                                   layers.first, "')"));
}

}  // namespace

absl::Status ExportGraph(const OptimizeOptions& options, const Reason& otherwise, PassContext& context,
                         ConvertedGraph& result) {
  result.decisions = ExplainGraph(result.graph, context.plan, otherwise);
  result.rewrites.nodes_after = CountComputing(result.graph);
  const ModelFormat format = WrittenFormat(result.graph);
  const Pipeline pipeline =
      MakeExportPipeline(FileDialectOf(format, options.dialect), FileTypesOf(format, options.target_runtime));
  HALFTONE_RETURN_IF_ERROR(pipeline.Run(result.graph, context));
  ExplainWidening(*context.log, result.decisions);
  result.rewrites.nodes_written = CountComputing(result.graph);
  result.casts.in_file = CountFloatCasts(result.graph);
  TakeResults(context, result.rewrites, result.warnings);
  SortFusions(result.rewrites);
  WarnOfTargetRuntimes(options, result);
  WarnOfNestedLayers(result);
  const EnvironmentInfo cpu = DescribeCpu();
  GraphEditor edit(result.graph);
  SetProvenance(edit, {.version = std::string(kVersion),
                       .policy_sha256 = options.policy_sha256,
                       .planner = context.plan == nullptr ? "" : context.plan->planner,
                       .calibration = result.calibration,
                       .cpu = Concat(cpu.cpu_model, ", ", cpu.isa)});
  return absl::OkStatus();
}

}  // namespace halftone
