// SPDX-License-Identifier: Apache-2.0
#include "optimizer/variant_child.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/int8_share.h"
#include "optimizer/loaded_variant.h"
#include "optimizer/output_log.h"
#include "optimizer/prepared_graph.h"
#include "optimizer/samples.h"
#include "optimizer/work_counts.h"
#include "passes/pipelines.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

bool AllFinite(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return true;
  const std::vector<double> numbers = tensor.ToDoubles();
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

// Of all outputs together.
std::string HashOf(const std::vector<Tensor>& outputs) {
  std::string hashes;
  for (const Tensor& output : outputs) hashes += output.Hash();
  return Sha256Hex(hashes);
}

std::string TypeText(DataType type) { return type == DataType::kUnknown ? "" : std::string(DataTypeName(type)); }

StepReport ToReport(const StepInfo& step) {
  return {step.label,
          step.op,
          step.kind,
          step.kernel,
          TypeText(step.src_type),
          TypeText(step.weights_type),
          TypeText(step.dst_type),
          step.median_us.value_or(0)};
}

// "label" is the usual mistake.
std::string_view GuessOf(const std::vector<std::string>& unused) {
  const bool labels = std::any_of(unused.begin(), unused.end(),
                                  [](const std::string& name) { return absl::StartsWithIgnoreCase(name, "label"); });
  return labels ? "; did you mean 'labels', which has the class labels?" : "";
}

// The saturation checks of a file.
absl::Status CheckFile(const Graph& imported, std::vector<SaturationCheck>& checks) {
  Graph graph = imported;
  const std::unique_ptr<Target> target = MakeCpuTarget();
  PassContext context{.target = *target};
  HALFTONE_RETURN_IF_ERROR(MakeSaturationCheckPipeline().Run(graph, context));
  checks = CheckSaturation(graph);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EvaluateResult> EvaluateVariant(const EvaluateSpec& spec) {
  EvaluateResult result;
  const auto check = [&result](const Graph& imported) { return CheckFile(imported, result.saturation); };
  HALFTONE_ASSIGN_OR_RETURN(const LoadedVariant loaded,
                            LoadVariant(spec.run, spec.examine_int8 ? ImportedHook(check) : nullptr));
  result.load_ms = loaded.load_ms + loaded.optimize_ms;
  if (spec.examine_int8) result.int8_share = Int8ShareOf(loaded.graph);
  if (!spec.prepared_graph.empty()) {
    HALFTONE_RETURN_IF_ERROR(WritePreparedGraph(loaded.graph, spec.run.model_sha256, spec.prepared_graph));
  }
  std::vector<std::string> names;
  for (const GraphOutput& output : loaded.graph.outputs()) names.push_back(output.name);
  HALFTONE_ASSIGN_OR_RETURN(OutputLogWriter log, OutputLogWriter::Create(spec.output_log, names));

  Batch batch;
  std::set<std::string> not_finite;  // inputs
  for (int64_t i = 0; i < loaded.samples->num_batches(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(batch, loaded.samples->Read(i));
    for (size_t j = 0; j < batch.inputs.size(); ++j) {
      if (!AllFinite(batch.inputs[j])) not_finite.insert(loaded.graph.Label(loaded.graph.inputs()[j]));
    }
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                              CountInference([&] { return loaded.plan->Run(batch.inputs); }));
    if (i == 0) result.output_hash = HashOf(outputs);
    HALFTONE_RETURN_IF_ERROR(log.Append({batch.capacity, batch.rows, batch.labels, std::move(outputs)}));
  }
  result.batch = batch.capacity;
  HALFTONE_RETURN_IF_ERROR(log.Close());

  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps, CountInference([&] {
                              return loaded.plan->Profile(batch.inputs, /*repetitions=*/20, /*seconds=*/0.5);
                            }));
  for (const StepInfo& step : steps) result.steps.push_back(ToReport(step));
  result.samples = spec.run.samples.empty() ? 0 : loaded.samples->num_samples();
  const std::vector<std::string> unused = loaded.samples->unused_arrays();
  if (!unused.empty()) {
    result.warnings.push_back(Concat(
        "unused arrays in the samples, no input has their name: ", absl::StrJoin(unused, ", "), GuessOf(unused)));
  }
  if (!not_finite.empty()) {
    result.warnings.push_back(Concat("the samples hold NaN or infinities, of which kernels make different things: ",
                                     absl::StrJoin(not_finite, ", ")));
  }
  return result;
}

absl::StatusOr<RoundResult> MeasureVariant(const RoundSpec& spec, const RoundHooks& hooks) {
  // Before memory is touched for the first time. More threads are pinned by OpenMP: see RoundEnvironment.
  const Pinning pinning(spec.run.threads == 1 ? spec.run.cores : std::vector<int>());
  HALFTONE_ASSIGN_OR_RETURN(LoadedVariant loaded, LoadVariant(spec.run));
  HALFTONE_ASSIGN_OR_RETURN(const Batch batch, loaded.samples->Read(0));
  std::vector<Tensor> outputs;
  const auto inference = [&] {
    HALFTONE_ASSIGN_OR_RETURN(outputs, loaded.plan->Run(batch.inputs));
    return absl::OkStatus();
  };
  const RoundOptions options{.threads = spec.run.threads,
                             .seconds = spec.seconds,
                             .min_samples = spec.min_samples,
                             .cores = spec.run.cores,
                             .cold = spec.cold,
                             .slow_down = spec.slow_down,
                             .before_measuring = hooks.warm};
  HALFTONE_ASSIGN_OR_RETURN(RoundResult result, CountInference([&] { return RunRound(options, inference); }));
  result.load_ms = loaded.load_ms + loaded.optimize_ms;
  result.plan_ms = loaded.plan_ms;
  result.arena_bytes = static_cast<int64_t>(loaded.plan->arena_bytes());
  result.output_hash = HashOf(outputs);
  HALFTONE_RETURN_IF_ERROR(hooks.measured(result, inference));
  return result;
}

}  // namespace halftone
