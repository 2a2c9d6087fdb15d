// SPDX-License-Identifier: Apache-2.0
#include "server/worker/work.h"

#include <chrono>
#include <set>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/npz/npy.h"
#include "ir/text.h"
#include "optimizer/inspect.h"
#include "optimizer/optimize.h"
#include "optimizer/plan_precision.h"
#include "optimizer/run.h"
#include "report/json.h"
#include "runtime/cpu/target.h"
#include "server/worker/convert.h"
#include "server/worker/convert_benchmark.h"
#include "server/worker/convert_int8.h"
#include "server/worker/convert_policy.h"
#include "server/worker/inspect_text.h"
#include "server/worker/profile_work.h"

namespace halftone::worker {
namespace {

// Adds a file that lies below work_dir to the result.
void AddFile(const std::string& name, const std::string& local_path, WorkerResult& result) {
  OutputFile* file = result.add_files();
  file->set_path(name);
  file->set_local_path(local_path);
}

absl::Status AddText(const std::string& name, const std::string& text, const WorkerRequest& request,
                     WorkerResult& result) {
  const std::string path = Concat(request.work_dir(), "/", name);
  HALFTONE_RETURN_IF_ERROR(WriteFileAtomically(path, text));
  AddFile(name, path, result);
  return absl::OkStatus();
}

// A file name out of the name of an output: "scores/softmax:0" -> "scores_softmax_0".
std::string FileNameOf(const std::string& output, std::set<std::string>& taken) {
  std::string name;
  for (const char c : output) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  if (name.empty() || name[0] == '.') name = Concat("output", name);
  std::string unique = name;
  for (int i = 1; !taken.insert(unique).second; ++i) unique = Concat(name, "_", i);
  return unique;
}

// Of what the ranges of int8 were made from. Spec: OptimizeSpec, BenchSpec, ProfileSpec.
template <typename Spec>
void AddRangesInputs(const Spec& spec, v1::Calibration& calibration) {
  for (const v1::File& file : spec.calibration().files()) *calibration.add_inputs() = file.digest();
  if (!spec.ranges().path().empty()) *calibration.add_inputs() = spec.ranges().digest();
}

bool HaveSharedFile(const v1::Samples& calibration, const v1::Samples& evaluation) {
  for (const v1::File& calibrated : calibration.files()) {
    for (const v1::File& evaluated : evaluation.files()) {
      if (calibrated.digest().sha256() == evaluated.digest().sha256()) return true;
    }
  }
  return false;
}

// Accuracy on the samples that int8 was calibrated on looks better than it is. Without evaluation samples those of the
// calibration are used for both.
void WarnOfSharedSamples(const v1::Samples& calibration, const v1::Samples& evaluation, v1::Report& report) {
  const bool used_for_both = calibration.files_size() > 0 && evaluation.files_size() == 0;
  if (!used_for_both && !HaveSharedFile(calibration, evaluation)) return;
  report.add_warnings(
      "int8 is evaluated on the samples that it was calibrated on: its accuracy on other samples may be lower; give "
      "different ones to --calibration and --eval");
}

// Of what the job was given beside the model, so that two reports can be known to speak of the same.
void AddInputDigests(const v1::JobSpec& spec, v1::Report& report) {
  const bool bench = spec.has_bench();
  const v1::Policy& policy = bench ? spec.bench().policy() : spec.optimize().policy();
  report.set_policy_sha256(PolicySha256(policy));
  const v1::Samples& samples = bench ? spec.bench().samples() : spec.optimize().evaluation();
  for (const v1::File& file : samples.files()) *report.add_samples() = file.digest();
  if (!report.has_calibration()) return;
  v1::Calibration& calibration = *report.mutable_calibration();
  if (bench) {
    AddRangesInputs(spec.bench(), calibration);
  } else {
    AddRangesInputs(spec.optimize(), calibration);
  }
  const v1::Samples& calibrated = bench ? spec.bench().calibration() : spec.optimize().calibration();
  WarnOfSharedSamples(calibrated, samples, report);
}

absl::StatusOr<WorkOutcome> Report(const OptimizeOptions& options, const v1::Model& model, bool with_files,
                                   const WorkerRequest& request, ChildRunner& children,
                                   const ProgressCallback& progress) {
  HALFTONE_ASSIGN_OR_RETURN(const OptimizeResult optimized, RunOptimizeJob(options, children, progress));
  const auto start = std::chrono::steady_clock::now();
  WorkOutcome outcome;
  for (const VariantResult& variant : optimized.variants) {
    if (with_files && variant.kind != VariantKind::kOriginal) AddFile(variant.file_name, variant.path, outcome.result);
  }
  if (with_files && optimized.calibration.has_value()) {
    AddFile(optimized.calibration->file_name, optimized.calibration->path, outcome.result);
  }
  SetRangesUse(optimized.calibration, outcome.result);
  v1::Report report = ToReport(optimized, model, options.benchmark);
  AddInputDigests(request.spec(), report);
  report.set_dialect(ToProto(options.dialect));
  v1::StageTime& time = *report.add_stages();
  time.set_stage("report");
  time.set_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  for (const v1::StageTime& stage : report.stages()) outcome.stage_seconds[stage.stage()] = stage.seconds();
  HALFTONE_RETURN_IF_ERROR(AddText("report.json", report::ReportToJson(report), request, outcome.result));
  *outcome.result.mutable_report() = WithoutNodes(report);
  return outcome;
}

// What the ranges of int8 come from. Spec: OptimizeSpec, BenchSpec, ProfileSpec.
template <typename Spec>
absl::Status SetCalibration(const Spec& spec, const WorkerRequest& request, const Inputs& inputs,
                            OptimizeOptions& options) {
  options.known_ranges = KnownRangesOf(request);
  HALFTONE_ASSIGN_OR_RETURN(options.calibration, inputs.LocalPaths(spec.calibration()));
  if (!spec.has_ranges()) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(std::string path, inputs.LocalPath(spec.ranges()));
  options.int8.ranges = SampleFile{std::move(path), spec.ranges().path()};
  return absl::OkStatus();
}

absl::StatusOr<WorkOutcome> Optimize(const WorkerRequest& request, ChildRunner& children,
                                     const ProgressCallback& progress) {
  const v1::OptimizeSpec& spec = request.spec().optimize();
  const Inputs inputs(request);
  OptimizeOptions options;
  HALFTONE_ASSIGN_OR_RETURN(options.model, inputs.Model(spec.model(), spec.outputs()));
  options.precisions = ToPrecisions(spec.policy());
  HALFTONE_RETURN_IF_ERROR(SetPolicy(spec.policy(), options));
  HALFTONE_RETURN_IF_ERROR(SetCalibration(spec, request, inputs, options));
  HALFTONE_ASSIGN_OR_RETURN(options.evaluation, inputs.LocalPaths(spec.evaluation()));
  if (spec.explain_precision()) AskToExplain(options);
  options.benchmark = ToBenchmarkOptions(spec.benchmark());
  options.out_dir = request.work_dir();
  return Report(options, spec.model(), /*with_files=*/true, request, children, progress);
}

absl::StatusOr<WorkOutcome> Bench(const WorkerRequest& request, ChildRunner& children,
                                  const ProgressCallback& progress) {
  const v1::BenchSpec& spec = request.spec().bench();
  const Inputs inputs(request);
  OptimizeOptions options;
  HALFTONE_ASSIGN_OR_RETURN(options.model, inputs.Model(spec.model(), spec.outputs()));
  options.precisions.clear();
  if (spec.policy().precisions_size() > 0) options.precisions = ToPrecisions(spec.policy());
  HALFTONE_RETURN_IF_ERROR(SetPolicy(spec.policy(), options));
  HALFTONE_RETURN_IF_ERROR(SetCalibration(spec, request, inputs, options));
  HALFTONE_ASSIGN_OR_RETURN(options.evaluation, inputs.LocalPaths(spec.samples()));
  options.benchmark = ToBenchmarkOptions(spec.benchmark());
  options.out_dir = request.work_dir();
  return Report(options, spec.model(), /*with_files=*/false, request, children, progress);
}

// What a plan is shown for: float16 if the policy wants nothing else. Of int8 they plan only the fallback precision, bf16.
DataType TypeToInspect(const v1::Policy& policy) {
  const std::vector<VariantKind> kinds = ToPrecisions(policy);
  return kinds.size() == 1 && kinds[0] == VariantKind::kFp16 ? DataType::kFloat16 : DataType::kBFloat16;
}

absl::StatusOr<WorkOutcome> Inspect(const WorkerRequest& request) {
  const v1::InspectSpec& spec = request.spec().inspect();
  const Inputs inputs(request);
  HALFTONE_ASSIGN_OR_RETURN(const ModelSource source, inputs.Model(spec.model(), spec.outputs()));
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel(source));
  WorkOutcome outcome;
  const std::string name = spec.json() ? "inspect.json" : "inspect.txt";
  std::string text;
  if (spec.text()) {
    text = PrintGraph(graph, {.with_weights = spec.weights()});
  } else if (spec.precision_plan() != v1::PLANNER_UNSPECIFIED) {
    v1::Policy policy = spec.policy();
    policy.set_planner(spec.precision_plan());
    if (spec.precision_plan() != v1::PLANNER_LISTS) policy.clear_lists_level();  // which came from the environment
    OptimizeOptions options;
    options.model = source;
    HALFTONE_RETURN_IF_ERROR(SetPolicy(policy, options));
    const std::unique_ptr<Target> target = MakeCpuTarget();
    OptimizedModel model;
    HALFTONE_ASSIGN_OR_RETURN(model.imported, TransformModel(std::move(graph), *target, options));
    if (PlansFusedGraph(options)) {
      HALFTONE_ASSIGN_OR_RETURN(model.fused, FuseModel(model.imported, *target, options));
    }
    HALFTONE_ASSIGN_OR_RETURN(const PlannedModel plan, PlanModel(model, *target, options, TypeToInspect(policy)));
    const std::vector<PlanRow> rows = PlanRows(plan.model.graph, plan.precision);
    text = spec.json() ? PlanJson(rows, plan.precision.summary) : PlanText(rows, plan.precision.summary);
  } else {
    const ModelSummary summary = Summarize(graph);
    text = spec.json() ? SummaryJson(summary, source.name) : SummaryText(summary, source.name);
  }
  HALFTONE_RETURN_IF_ERROR(AddText(name, text, request, outcome.result));
  return outcome;
}

absl::StatusOr<WorkOutcome> Run(const WorkerRequest& request) {
  const v1::RunSpec& spec = request.spec().run();
  const Inputs inputs(request);
  HALFTONE_ASSIGN_OR_RETURN(const ModelSource source, inputs.Model(spec.model(), spec.outputs()));
  std::map<std::string, Tensor> feeds;
  for (const v1::NamedFile& input : spec.inputs()) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string path, inputs.LocalPath(input.file()));
    HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    HALFTONE_ASSIGN_OR_RETURN(feeds[input.name()], ParseNpy(bytes, input.file().path()));
  }
  const int threads = std::max(spec.benchmark().threads(), 1);
  HALFTONE_ASSIGN_OR_RETURN(const RunResult ran, RunModel(source, feeds, spec.fuse(), threads));
  WorkOutcome outcome;
  outcome.warnings = ran.warnings;
  std::set<std::string> taken;
  for (const NamedTensor& output : ran.outputs) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, WriteNpy(output.tensor));
    HALFTONE_RETURN_IF_ERROR(AddText(Concat(FileNameOf(output.name, taken), ".npy"), bytes, request, outcome.result));
  }
  return outcome;
}

absl::StatusOr<WorkOutcome> Profile(const WorkerRequest& request, ProcessChildRunner& children,
                                    const ProgressCallback& progress) {
  const v1::ProfileSpec& spec = request.spec().profile();
  const Inputs inputs(request);
  OptimizeOptions options;
  HALFTONE_ASSIGN_OR_RETURN(options.model, inputs.Model(spec.model(), spec.outputs()));
  HALFTONE_RETURN_IF_ERROR(SetPolicy(spec.policy(), options));
  HALFTONE_RETURN_IF_ERROR(SetCalibration(spec, request, inputs, options));
  HALFTONE_ASSIGN_OR_RETURN(options.evaluation, inputs.LocalPaths(spec.samples()));
  options.benchmark = ToBenchmarkOptions(spec.benchmark());
  options.out_dir = request.work_dir();
  HALFTONE_ASSIGN_OR_RETURN(ProfiledModel profiled,
                            ProfileVariants(options, ToProfiled(spec.policy()), children, progress));
  v1::Profile& profile = profiled.profile;
  profile.set_model(options.model.name);
  if (profile.has_calibration()) AddRangesInputs(spec, *profile.mutable_calibration());
  *profile.mutable_environment() = DescribeEnvironment(options.benchmark.threads);
  WorkOutcome outcome;
  SetRangesUse(profiled.calibration, outcome.result);
  HALFTONE_RETURN_IF_ERROR(AddText("profile.json", report::MessageToJson(profile), request, outcome.result));
  if (spec.onednn_verbose()) {
    HALFTONE_RETURN_IF_ERROR(AddText("onednn-verbose.txt", VerboseText(profile), request, outcome.result));
  }
  return outcome;
}

}  // namespace

absl::StatusOr<WorkOutcome> DoWork(const WorkerRequest& request, ProcessChildRunner& children,
                                   const ProgressCallback& progress) {
  switch (request.spec().work_case()) {
    case v1::JobSpec::kOptimize:
      return Optimize(request, children, progress);
    case v1::JobSpec::kInspect:
      return Inspect(request);
    case v1::JobSpec::kRun:
      return Run(request);
    case v1::JobSpec::kBench:
      return Bench(request, children, progress);
    case v1::JobSpec::kProfile:
      return Profile(request, children, progress);
    case v1::JobSpec::WORK_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("spec.work is not set: one of optimize, inspect, run, bench, profile");
}

}  // namespace halftone::worker
