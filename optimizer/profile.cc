// SPDX-License-Identifier: Apache-2.0
#include "optimizer/profile.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "optimizer/accuracy_control.h"
#include "optimizer/convert.h"
#include "optimizer/export.h"
#include "optimizer/int8_source.h"
#include "optimizer/loaded_variant.h"
#include "optimizer/optimize.h"
#include "optimizer/quantize.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/cores.h"
#include "runtime/measure/round_facts.h"

namespace halftone {
namespace {

absl::StatusOr<ConvertedGraph> QuantizeToInt8(const OptimizedModel& model, const Target& target,
                                              const OptimizeOptions& options, const ProgressCallback& progress,
                                              std::optional<CalibrationSummary>& calibration) {
  HALFTONE_ASSIGN_OR_RETURN(Int8Source source, MakeInt8Source(model, target, options));
  AccuracyControlResult found;
  if (options.int8.goal.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(found.candidate, OwnCandidate(source, target, options));
  } else {
    HALFTONE_ASSIGN_OR_RETURN(found, MeetGoal(source, target, options, progress));
  }
  if (source.has_ranges) calibration = source.calibrated.summary;
  const Int8Candidate& made = found.candidate;
  HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph converted,
                            MakeInt8(made.base, made.ranges, model, target, made.options, found.search));
  const std::vector<std::string>& warnings = source.calibrated.warnings;
  converted.warnings.insert(converted.warnings.end(), warnings.begin(), warnings.end());
  return converted;
}

absl::StatusOr<ProfileTargets> MakeTargets(const OptimizeOptions& options, const std::vector<VariantKind>& kinds,
                                           const ProgressCallback& progress) {
  HALFTONE_ASSIGN_OR_RETURN(Graph imported, LoadModel(options.model));
  const std::unique_ptr<Target> target = MakeCpuTarget();
  HALFTONE_ASSIGN_OR_RETURN(const OptimizedModel model, OptimizeModel(std::move(imported), *target, options));
  const absl::StatusOr<std::vector<int>> cores = ChooseCores(AllowedCores(), options.benchmark.threads, /*wanted=*/{});
  const std::string extension = std::filesystem::path(options.model.label()).extension().string();
  ProfileTargets result;
  for (const VariantKind kind : kinds) {
    HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph converted,
                              kind == VariantKind::kInt8
                                  ? QuantizeToInt8(model, *target, options, progress, result.calibration)
                                  : ConvertPrecision(kind, model, *target, options));
    if (!converted.not_measured.empty()) {  // the last of its warnings
      result.warnings.insert(result.warnings.end(), converted.warnings.begin(), converted.warnings.end());
      continue;
    }
    ProfileTarget one{.kind = kind};
    one.run.model = options.model;
    one.run.model.path = Concat(options.out_dir, "/", VariantName(kind), extension);
    HALFTONE_RETURN_IF_ERROR(WriteVariant(model, *target, options, one.run.model.path, converted));
    if (!FormatRow(WrittenFormat(model.imported.graph)).names_outputs) {
      one.run.model.outputs.clear();
      for (const GraphOutput& output : model.imported.graph.outputs()) one.run.model.outputs.push_back(output.name);
    }
    one.run.threads = options.benchmark.threads;
    one.run.sizes = options.benchmark.sizes;
    one.run.seed = options.benchmark.seed;
    one.run.samples = options.evaluation;
    if (cores.ok()) one.run.cores = *cores;  // more threads than cores are not pinned
    one.summary = converted.summary;
    result.warnings.insert(result.warnings.end(), converted.warnings.begin(), converted.warnings.end());
    result.targets.push_back(std::move(one));
  }
  return result;
}

}  // namespace

absl::StatusOr<ProfileTargets> MakeProfileTargets(const OptimizeOptions& options, const std::vector<VariantKind>& kinds,
                                                  const ProgressCallback& progress) {
  absl::StatusOr<ProfileTargets> targets = MakeTargets(options, kinds, progress);
  if (!targets.ok()) return NameModel(targets.status(), options.model);
  return targets;
}

absl::StatusOr<VariantProfile> ProfileVariant(const RunSpec& run) {
  const size_t cores = AllowedCores().size();
  const Pinning pinning(run.threads == 1 ? run.cores : std::vector<int>());  // OpenMP pins more
  HALFTONE_ASSIGN_OR_RETURN(const LoadedVariant loaded, LoadVariant(run));
  HALFTONE_ASSIGN_OR_RETURN(const Batch batch, loaded.samples->Read(0));
  VariantProfile profile;
  profile.batch = batch.capacity;
  HALFTONE_ASSIGN_OR_RETURN(profile.plan, ProfilePlan(*loaded.plan, loaded.graph, batch.inputs));
  RoundFacts facts = profile.plan.facts;
  const ThreadsNow threads = LookAtThreads(run.cores);
  facts.cores = static_cast<int>(std::max(cores, run.cores.size()));
  facts.threads = run.threads;
  facts.tasks = threads.count;
  facts.pinned = threads.on_cores;
  if (!profile.plan.in_parts) {
    profile.disturbances = InvalidReasons(facts, run.threads);
    for (std::string& reason : NoiseReasons(facts, run.threads, NoiseLimits())) {
      profile.disturbances.push_back(std::move(reason));
    }
  }
  profile.load_ms = loaded.load_ms;
  profile.optimize_ms = loaded.optimize_ms;
  profile.planning_ms = loaded.plan_ms;
  return profile;
}

}  // namespace halftone
