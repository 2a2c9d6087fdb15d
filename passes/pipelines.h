// The pipelines that a job runs. pipelines.cc is the table of contents.
#ifndef HALFTONE_PASSES_PIPELINES_H_
#define HALFTONE_PASSES_PIPELINES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/file_dialect.h"
#include "ir/file_types.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "passes/core/pipeline.h"
#include "passes/core/reproducer.h"

namespace halftone {

// fp32: shapes, simplify, fold, fuse, remove the dead. Rules ask context.target. Where context.plan is set, nodes of
// different planned precision are not fused (make the plan on the graph as imported, then optimize a copy with it).
Pipeline MakeOptimizePipeline();

// On the optimized graph, once per variant: casts and bf16 constants as `plan` says, then the cleaning up of
// conversions. `plan` must outlive the pipeline.
Pipeline MakePrecisionPipeline(const PrecisionPlan& plan);

// On the optimized graph of a file that is planned next: nodes between dequantize_linear and quantize_linear read and write
// integers where the target has kernels for it; what weights of bytes are left become numbers. No format has a word for the result.
Pipeline MakeRunPipeline();

// Last: what is fused becomes ops of the file's dialect, standard ones where it has none (ir/file_dialect.h). The result
// is what the exporter writes. `types` are the file's rules for f16 and bf16 (FileTypesOf of formats/formats.h): nodes
// that they refuse become f32; without them the exporter may refuse the graph. `file` must outlive the pipeline.
Pipeline MakeExportPipeline(const FileDialect& file, FileTypes types = nullptr);

// What a pipeline that is made by its name may need.
struct NamedPipelineOptions {
  const PrecisionPlan* plan = nullptr;           // of "precision" and "apply-precision"; nullptr: an empty one
  std::span<const FileDialect* const> dialects;  // of "export-DIALECT", "split-...-DIALECT" and the like
};

// By name, for tools and golden tests: "optimize", "export-DIALECT", the fixed points "simplify", "fuse" and
// "conversions", a single pass or rule ("fuse-conv-bias"), or one of a dialect ("split-fused-DIALECT", "merge-attention").
// NOT_FOUND lists the names. The options' plan and dialects must outlive the pipeline.
absl::StatusOr<Pipeline> MakePipelineByName(std::string_view name, const NamedPipelineOptions& options = {});
std::vector<std::string> PipelineNames(std::span<const FileDialect* const> dialects = {});

// The pass that the reproducer names, alone, where it has a name of its own; else its whole pipeline. NOT_FOUND. The
// reproducer's plan and the dialects must outlive the pipeline.
absl::StatusOr<Pipeline> MakePipelineOf(const Reproducer& reproducer, std::span<const FileDialect* const> dialects);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PIPELINES_H_
