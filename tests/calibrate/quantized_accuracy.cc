// SPDX-License-Identifier: Apache-2.0
// quantized_accuracy MODEL CALIBRATION.npz EVALUATION.npz [CALIBRATOR...]: quantizes all nodes of a model with several
// configurations and prints for each: top-1 accuracy (if there are labels), top-1 agreement with fp32, and SQNR of the
// first output. A measuring tool, not a test.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "optimizer/import.h"
#include "optimizer/prepare.h"
#include "optimizer/samples.h"
#include "passes/pipelines.h"
#include "passes/quantize/equalize_channels.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"
#include "runtime/calibrate/calibration.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

struct Outputs {
  std::vector<std::vector<float>> rows;
  std::vector<int64_t> labels;  // empty if the samples have none
};

int64_t TopClass(const std::vector<float>& row) { return std::ranges::max_element(row) - row.begin(); }

absl::StatusOr<Outputs> RunAll(const Graph& graph, SampleSource& samples) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, {.threads = 2}));
  Outputs all;
  for (int64_t i = 0; i < samples.num_batches(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const Batch batch, samples.Read(i));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, plan->Run(batch.inputs));
    all.rows.push_back(outputs[0].ToFloats());
    all.labels.insert(all.labels.end(), batch.labels.begin(), batch.labels.end());
  }
  return all;
}

absl::StatusOr<Calibration> Calibrate(const Graph& graph, SampleSource& samples) {
  return Calibration::Collect(
      graph,
      [&samples, next = int64_t{0}]() mutable -> absl::StatusOr<std::optional<CalibrationBatch>> {
        if (next == samples.num_batches()) return std::nullopt;
        HALFTONE_ASSIGN_OR_RETURN(Batch batch, samples.Read(next++));
        return CalibrationBatch{std::move(batch.inputs), batch.rows, batch.capacity};
      },
      {.threads = 2});
}

void Print(const std::string& what, const Outputs& fp32, const Outputs& outputs) {
  int correct = 0, agree = 0;
  double signal = 0, noise = 0;
  for (size_t i = 0; i < fp32.rows.size(); ++i) {
    agree += TopClass(fp32.rows[i]) == TopClass(outputs.rows[i]) ? 1 : 0;
    if (i < outputs.labels.size()) correct += TopClass(outputs.rows[i]) == outputs.labels[i] ? 1 : 0;
    for (size_t j = 0; j < fp32.rows[i].size(); ++j) {
      const double error = static_cast<double>(outputs.rows[i][j]) - fp32.rows[i][j];
      signal += static_cast<double>(fp32.rows[i][j]) * fp32.rows[i][j];
      noise += error * error;
    }
  }
  std::printf("%-64s correct %3d  agree %3d of %zu  SQNR %6.2f dB\n", what.c_str(), correct, agree, fp32.rows.size(),
              10 * std::log10(signal / noise));
  std::fflush(stdout);
}

absl::Status Measure(const std::string& model, const std::string& calibration_file, const std::string& evaluation_file,
                     const std::vector<Calibrator>& calibrators) {
  HALFTONE_ASSIGN_OR_RETURN(const Graph loaded, LoadModel({.path = model}));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> calibration,
                            OpenSamples({{calibration_file, calibration_file}}));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> evaluation,
                            OpenSamples({{evaluation_file, evaluation_file}}));
  const std::unique_ptr<Target> target = MakeCpuTarget();
  PassContext context{.target = *target};
  Graph fused = loaded;
  HALFTONE_RETURN_IF_ERROR(BindShapes(fused, DimSizes(), calibration->dims()));
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(fused, context));
  HALFTONE_RETURN_IF_ERROR(calibration->Bind(fused));
  HALFTONE_RETURN_IF_ERROR(evaluation->Bind(fused));
  HALFTONE_ASSIGN_OR_RETURN(const Outputs fp32, RunAll(fused, *evaluation));
  Print("fp32", fp32, fp32);
  for (const bool equalize : {false, true}) {
    Graph graph = fused;
    if (equalize) {
      RewriteLog log;
      PassContext logged{.target = *target, .log = &log};
      HALFTONE_RETURN_IF_ERROR(MakeEqualizePipeline().Run(graph, logged));
      const auto changed = std::ranges::count_if(log.entries(), [](const auto& entry) { return entry.applied; });
      std::printf("equalized: %d contractions\n", static_cast<int>(changed));
      if (changed == 0) continue;
    }
    HALFTONE_ASSIGN_OR_RETURN(const Calibration collected, Calibrate(graph, *calibration));
    for (const Calibrator calibrator : calibrators) {
      HALFTONE_ASSIGN_OR_RETURN(const ValueRanges ranges, collected.Ranges({.calibrator = calibrator}));
      for (const int mode : {0, 1, 2, 3, 4}) {
        QuantizeOptions options;
        options.clip_weights = mode == 2 || mode == 3;
        options.correct_bias = mode == 1 || mode == 3 || mode == 4;
        options.reduce_range = mode == 4;
        const std::vector<NodeId> nodes = graph.nodes();
        Graph quantized = graph;
        HALFTONE_RETURN_IF_ERROR(MakeQuantizePipeline(ranges, std::set<NodeId>(nodes.begin(), nodes.end()), options)
                                     .Run(quantized, context));
        HALFTONE_RETURN_IF_ERROR(MakeRunPipeline().Run(quantized, context));
        HALFTONE_ASSIGN_OR_RETURN(const Outputs outputs, RunAll(quantized, *evaluation));
        std::string what = std::string(CalibratorName(calibrator));
        if (equalize) what += ", equalized";
        if (options.clip_weights) what += ", clipped weights";
        if (options.correct_bias) what += ", corrected biases";
        if (options.reduce_range) what += ", reduce range";
        Print(what, fp32, outputs);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  using halftone::Calibrator;
  if (argc < 4) {
    std::fprintf(stderr, "usage: quantized_accuracy MODEL CALIBRATION.npz EVALUATION.npz [CALIBRATOR...]\n");
    return 2;
  }
  std::vector<Calibrator> calibrators;
  for (int i = 4; i < argc; ++i) {
    const std::optional<Calibrator> calibrator = halftone::CalibratorFromName(argv[i]);
    if (!calibrator.has_value()) return std::fprintf(stderr, "unknown calibrator '%s'\n", argv[i]), 2;
    calibrators.push_back(*calibrator);
  }
  if (calibrators.empty()) calibrators = {Calibrator::kMinMax, Calibrator::kPercentile, Calibrator::kMeanSquaredError};
  const absl::Status status = halftone::Measure(argv[1], argv[2], argv[3], calibrators);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
