// SPDX-License-Identifier: Apache-2.0
// The pipelines that a job runs. pipelines.cc is the table of contents.
//
// Every pass of every pipeline runs through one gate (passes/core/gate.h), which verifies the graph after it and, with
// --verify-passes, compares outputs before and after. Verification is therefore no step of its own here.
#ifndef HALFTONE_PASSES_PIPELINES_H_
#define HALFTONE_PASSES_PIPELINES_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/file_dialect.h"
#include "ir/file_types.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "ir/value_ranges.h"
#include "passes/core/pipeline.h"
#include "passes/core/reproducer.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

// The named graph transforms of a policy, one pipeline per transform: "round_weights(num_steps=64)"
// (passes/transforms/named_passes.h). On the graph as imported, before everything else. Errors: those of ParseNamedPass.
absl::StatusOr<Pipeline> MakeTransformPipeline(std::string_view transform);

// fp32: shapes, simplify, fold, fuse, remove the dead. Rules ask context.target. Where context.plan is set, nodes of
// different planned precision are not fused (make the plan on the graph as imported, then optimize a copy with it).
Pipeline MakeOptimizePipeline();

// --- Reduced precision, on the optimized graph.

// bf16 and fp16, once per variant: casts and constants as `plan` says, which must outlive the pipeline; then
// MakeCastPipeline. The job runs the two parts one after the other and counts the casts in between.
Pipeline MakePrecisionPipeline(const PrecisionPlan& plan);
Pipeline MakeApplyPrecisionPipeline(const PrecisionPlan& plan);
// Casts that cancel out, that go into the nodes around them, that are there twice. `bf16_math_mode`: then f32 matmuls
// may round their operands to bf16.
Pipeline MakeCastPipeline(bool bf16_math_mode = false);

// --- INT8, on the optimized graph, in this order: equalize, calibrate (runtime/calibrate), smooth, plan
// (optimizer/plan_int8.h, which tries MakeFoldPipeline on a copy), quantize; then MakePrecisionPipeline for the other nodes.

// Cross-layer equalization. Before calibration, because ranges between the layers change.
Pipeline MakeEqualizePipeline();
// SmoothQuant. After calibration: `ranges`, which must outlive the pipeline, are divided with the values.
Pipeline MakeSmoothPipeline(ValueRanges& ranges);
// Static: quantize_linear and dequantize_linear around `nodes`, by `ranges` (which must outlive the pipeline); weights
// and biases as integers. Biases take up the mean error of their weights where `options` say so, and recurrent layers
// get a quantized initial state.
Pipeline MakeQuantizePipeline(const ValueRanges& ranges, std::set<NodeId> nodes, const QuantizeOptions& options);
// Dynamic: matmuls that find the range of their input in each run.
Pipeline MakeDynamicQuantizePipeline(std::set<NodeId> nodes, const QuantizeOptions& options);
// Weight-only: int8 constants, everything is computed in the type that it had.
Pipeline MakeWeightOnlyPipeline(std::set<NodeId> nodes, bool per_channel);
// On a copy: which quantized nodes would compute in int8 when the file is planned.
Pipeline MakeFoldPipeline();
// On the graph of a written file: weights of FakeQuant become constants, of which the saturation check is made
// (passes/quantize/saturation.h).
Pipeline MakeSaturationCheckPipeline();

// --- Running.

// How much is to be done before a graph can be planned.
enum class Preparation : uint8_t {
  kPlain,     // only what no graph can be run without: loops are built. Ops run one by one, as the file has them
  kFold,      // an optimized graph of this process: constants are folded, then MakeRunPipeline
  kOptimize,  // the graph of a file: MakeOptimizePipeline, then MakeRunPipeline
};
// The one way to prepare a graph for running (optimizer/prepare.h, which binds its shapes first).
Pipeline MakePreparePipeline(Preparation preparation);

// On an optimized graph that is planned next: nodes between dequantize_linear and quantize_linear read and write
// integers where the target has kernels for it; int8 weights that are left become f32. No format can express the
// result.
Pipeline MakeRunPipeline();

// --- Writing.

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
