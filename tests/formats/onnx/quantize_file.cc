// SPDX-License-Identifier: Apache-2.0
// quantize_file MODEL OUT [--samples FILE.npz] [--target-runtime NAME] [--s8] [--per-tensor] [--operators]: an int8 file with a
// pair around everything that can be quantized, ranges from the samples (seeded random numbers without them). For
// quantized_test.py: without planning, accuracy control and measuring.

#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "optimizer/import.h"
#include "optimizer/prepare.h"
#include "optimizer/quantize_for_runtime.h"
#include "optimizer/samples.h"
#include "passes/core/pass.h"
#include "passes/pipelines.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"
#include "runtime/calibrate/calibration.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

struct Arguments {
  std::string model, out, samples;
  TargetRuntime target_runtime = TargetRuntime::kAny;
  QuantFormat form = QuantFormat::kQdq;
  QuantizeOptions quantize;
};

absl::StatusOr<Arguments> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  arguments.quantize.reduce_range = !DescribeCpu().native_int8;  // ONNX Runtime's pairs of products saturate there, too
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--samples") {
      arguments.samples = value, ++i;
    } else if (word == "--target-runtime") {
      const std::optional<TargetRuntime> target_runtime = TargetRuntimeFromName(value);
      if (!target_runtime.has_value()) return absl::InvalidArgumentError(Concat("no target runtime '", value, "'"));
      arguments.target_runtime = *target_runtime, ++i;
    } else if (word == "--s8") {
      arguments.quantize.activations = DataType::kInt8;
    } else if (word == "--per-tensor") {
      arguments.quantize.per_channel_weights = false;
    } else if (word == "--operators") {
      arguments.form = QuantFormat::kQOperator;
    } else if (arguments.model.empty()) {
      arguments.model = word;
    } else {
      arguments.out = word;
    }
  }
  if (arguments.out.empty()) return absl::InvalidArgumentError("usage: quantize_file MODEL OUT [flags]");
  return arguments;
}

CalibrationSource BatchesOf(SampleSource& samples) {
  return [&samples, next = int64_t{0}]() mutable -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (next == samples.num_batches()) return std::nullopt;
    HALFTONE_ASSIGN_OR_RETURN(Batch batch, samples.Read(next++));
    return CalibrationBatch{std::move(batch.inputs)};
  };
}

absl::Status Quantize(const Arguments& arguments) {
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel({.path = arguments.model}));
  const std::unique_ptr<const Target> machine = MakeCpuTarget();
  const std::unique_ptr<const Target> fusion =
      FusionTargetFor(WrittenFormat(graph), arguments.target_runtime, {.form = arguments.form}, *machine);
  const Target& target = fusion == nullptr ? *machine : *fusion;
  std::unique_ptr<SampleSource> samples = RandomSamples(/*seed=*/1, /*batches=*/2);
  if (!arguments.samples.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(samples, OpenSamples({SampleFile{arguments.samples, arguments.samples}}));
  }
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, DimSizes(), samples->dims(), Preparation::kOptimize, target));
  HALFTONE_RETURN_IF_ERROR(samples->Bind(graph));
  const QuantizeOptions options =
      OptionsFor(WrittenFormat(graph), arguments.target_runtime, arguments.form, arguments.quantize);
  const CalibratorOptions calibrator{
      .integers = {.type = options.activations, .symmetric = options.symmetric_activations}};
  HALFTONE_ASSIGN_OR_RETURN(const ValueRanges ranges, CalibrateGraph(graph, BatchesOf(*samples), calibrator));
  PassContext context{.target = target};
  std::set<NodeId> nodes;
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kSoftmax) nodes.insert(id);  // behind all contractions, where a plan leaves it as it is
  }
  Pipeline insert("quantize");
  insert.Add<InsertQuantization>(ranges, nodes, options);
  insert.Add<RemoveDeadNodes>();
  HALFTONE_RETURN_IF_ERROR(insert.Run(graph, context));
  const FileTypes types = FileTypesOf(WrittenFormat(graph), arguments.target_runtime);
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(FileDialectOf(graph), types).Run(graph, context));
  ExportOptions file;
  file.integer_operators = arguments.form == QuantFormat::kQOperator;
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph, file));
  return WriteFileAtomically(arguments.out, bytes);
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  const absl::StatusOr<halftone::Arguments> arguments = halftone::ParseArguments(argc, argv);
  const absl::Status status = arguments.ok() ? halftone::Quantize(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
