// SPDX-License-Identifier: Apache-2.0
// The last step of a job: what it reports. No step before it includes this.
#ifndef HALFTONE_OPTIMIZER_RESULT_H_
#define HALFTONE_OPTIMIZER_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/formats.h"
#include "optimizer/accuracy_control.h"
#include "optimizer/calibrate.h"
#include "optimizer/compare.h"
#include "optimizer/converted_graph.h"
#include "optimizer/explain.h"
#include "optimizer/measure.h"
#include "optimizer/rewrites.h"
#include "optimizer/variant_child.h"
#include "optimizer/variant_kind.h"
#include "optimizer/work_counts.h"
#include "passes/quantize/saturation.h"

namespace halftone {

// A step of the file as it ran.
struct NodeResult {
  StepReport step;
  VariantKind precision = VariantKind::kFp32;
  Reason reason;
};

struct VariantResult {
  VariantKind kind = VariantKind::kOriginal;
  std::string path;       // local file
  std::string file_name;  // "resnet50.bf16.onnx"
  std::string sha256;
  int64_t size_bytes = 0;
  std::string summary;
  bool emulated = false;
  std::string not_measured;  // why the file was only written; "": it was run
  std::vector<NodeDecision> decisions;
  std::vector<NodeResult> nodes;
  CastCounts casts;
  RewriteSummary rewrites;
  std::vector<OutputFidelity> fidelity;
  std::optional<double> top1_accuracy;
  int64_t labelled_samples = 0;
  int64_t batch = 1;        // samples of one run
  std::string output_hash;  // of the outputs of the first batch
  double load_ms = 0;       // of the process that evaluated it: the file imported, shapes bound, the graph optimized
  std::optional<BenchmarkResult> benchmark;
  std::vector<std::string> opaque_ops;
  std::vector<std::string> refused_by;  // why widely used runtimes do not load the file, one sentence each
  // Of the MACs of the graph's contractions, those computed in int8: 0 to 1; -1: not an int8 variant.
  double int8_share = -1;
  std::optional<GoalResult> goal;            // of an int8 variant, where one was set
  std::vector<SaturationCheck> saturation;   // of an int8 variant: of its file
  double reference_share = 0;                // of the time of all steps: by reference functions
  std::vector<std::string> reference_nodes;  // "node (op)", slowest first
};

// How long one stage took.
struct StageTime {
  std::string stage;
  double seconds = 0;
  double inference_seconds = 0;  // of it, where other processes ran the model
};

struct OptimizeResult {
  ModelFormat format = ModelFormat::kOnnx;
  std::vector<VariantResult> variants;  // ORIGINAL, FP32, then those of options.precisions
  std::vector<std::string> warnings;
  int64_t evaluation_samples = 0;                   // 0: seeded random inputs
  std::optional<BenchmarkRunResult> benchmark_run;  // its results of variants are in `variants`
  std::optional<CalibrationSummary> calibration;    // where an int8 variant was asked for
  std::vector<StageTime> stages;                    // in order; together the time of the whole job
  WorkCounts work;                                  // of this process and of those that it started
};

// Joins the steps of the file as it ran with the reasons of the nodes as they were planned, by name: the nodes, casts
// and shares of reference functions of `variant`.
void AddNodes(std::vector<StepReport> steps, VariantResult& variant);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_RESULT_H_
