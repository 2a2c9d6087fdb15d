#include "optimizer/variant_child.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/output_log.h"
#include "optimizer/samples.h"
#include "runtime/engine.h"
#include "runtime/onednn/target.h"

namespace halftone {
namespace {

constexpr int64_t kRandomBatches = 16;

// A file made ready to run, with its samples.
struct Loaded {
  Graph graph;
  std::unique_ptr<SampleSource> samples;
  std::unique_ptr<Plan> plan;
};

absl::StatusOr<Loaded> Load(const RunSpec& spec) {
  Loaded loaded;
  if (spec.samples.empty()) {
    loaded.samples = RandomSamples(spec.seed, kRandomBatches);
  } else {
    HALFTONE_ASSIGN_OR_RETURN(loaded.samples, OpenSamples(spec.samples));
  }
  HALFTONE_ASSIGN_OR_RETURN(loaded.graph, LoadModel(spec.model));
  const std::unique_ptr<Target> target = MakeOneDnnTarget();
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(loaded.graph, spec.batch, loaded.samples->dims(), spec.fuse, *target));
  HALFTONE_RETURN_IF_ERROR(loaded.samples->Bind(loaded.graph));
  HALFTONE_ASSIGN_OR_RETURN(loaded.plan, CompilePlan(loaded.graph, {.threads = spec.threads}));
  return loaded;
}

bool AllFinite(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return true;
  const std::vector<double> numbers = tensor.ToDoubles();
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

std::string TypeText(DataType type) { return type == DataType::kUnknown ? "" : std::string(DataTypeName(type)); }

StepReport ToReport(const StepInfo& step) {
  return {step.label,
          step.op,
          step.kernel,
          TypeText(step.src_type),
          TypeText(step.weights_type),
          TypeText(step.dst_type),
          step.median_us.value_or(0)};
}

}  // namespace

absl::StatusOr<EvaluateResult> EvaluateVariant(const EvaluateSpec& spec) {
  HALFTONE_ASSIGN_OR_RETURN(Loaded loaded, Load(spec.run));
  std::vector<std::string> names;
  for (const GraphOutput& output : loaded.graph.outputs()) names.push_back(output.name);
  HALFTONE_ASSIGN_OR_RETURN(OutputLogWriter log, OutputLogWriter::Create(spec.output_log, names));

  EvaluateResult result;
  Batch batch;
  std::set<std::string> not_finite;  // inputs
  for (int64_t i = 0; i < loaded.samples->num_batches(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(batch, loaded.samples->Read(i));
    for (size_t j = 0; j < batch.inputs.size(); ++j) {
      if (!AllFinite(batch.inputs[j])) not_finite.insert(loaded.graph.Label(loaded.graph.inputs()[j]));
    }
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, loaded.plan->Run(batch.inputs));
    HALFTONE_RETURN_IF_ERROR(log.Append({spec.run.batch, batch.rows, batch.labels, std::move(outputs)}));
  }
  HALFTONE_RETURN_IF_ERROR(log.Close());

  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps,
                            loaded.plan->Profile(batch.inputs, spec.profile_repetitions));
  for (const StepInfo& step : steps) result.steps.push_back(ToReport(step));
  result.samples = spec.run.samples.empty() ? 0 : loaded.samples->num_samples();
  const std::vector<std::string> unused = loaded.samples->unused_arrays();
  if (!unused.empty()) {
    result.warnings.push_back(
        Concat("arrays of the samples that no input has the name of are not used: ", absl::StrJoin(unused, ", ")));
  }
  if (!not_finite.empty()) {
    result.warnings.push_back(Concat("the samples hold NaN or infinities, of which kernels make different things: ",
                                     absl::StrJoin(not_finite, ", ")));
  }
  return result;
}

absl::StatusOr<RoundResult> MeasureVariant(const RoundSpec& spec) {
  HALFTONE_ASSIGN_OR_RETURN(Loaded loaded, Load(spec.run));
  HALFTONE_ASSIGN_OR_RETURN(const Batch batch, loaded.samples->Read(0));
  const RoundOptions options{.threads = spec.run.threads, .seconds = spec.seconds};
  return RunRound(options, [&] { return loaded.plan->Run(batch.inputs).status(); });
}

}  // namespace halftone
