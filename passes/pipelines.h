// The pipelines that a job runs. pipelines.cc is the table of contents.
#ifndef HALFTONE_PASSES_PIPELINES_H_
#define HALFTONE_PASSES_PIPELINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dialect.h"
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

// Last: what is fused becomes ops of the format's dialect, standard ones where it has none (ir/dialect.h). The result is
// what the exporter writes. `types` are the file's rules for f16 and bf16 (FileTypesOf of formats/formats.h): nodes that
// they refuse become f32; without them the exporter may refuse the graph. REQUIRES: CheckDialect(dialect, format)
Pipeline MakeExportPipeline(GraphFormat format, Dialect dialect = Dialect::kPortable, FileTypes types = nullptr);

// By name, for tools and golden tests: "optimize", "export-onnx", "export-graphdef", "export-tensorflow", "export-itex",
// the fixed points "simplify", "fuse" and "conversions", or a single pass or rule ("fuse-conv-bias"). NOT_FOUND lists the
// names. `plan` is for "precision" and "apply-precision" (an empty one if nullptr).
absl::StatusOr<Pipeline> MakePipelineByName(std::string_view name, const PrecisionPlan* plan = nullptr);
std::vector<std::string> PipelineNames();

// The pass that the reproducer names, alone, where it has a name of its own; else its whole pipeline. NOT_FOUND. The
// reproducer's plan must outlive the pipeline.
absl::StatusOr<Pipeline> MakePipelineOf(const Reproducer& reproducer);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PIPELINES_H_
