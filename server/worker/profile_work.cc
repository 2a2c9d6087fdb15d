// SPDX-License-Identifier: Apache-2.0
#include "server/worker/profile_work.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "report/names.h"
#include "report/profile.h"
#include "runtime/cpu/onednn/repeat.h"
#include "runtime/cpu/onednn/verbose.h"
#include "server/worker/convert.h"
#include "server/worker/convert_int8.h"
#include "server/worker/repeat_primitive.h"

namespace halftone::worker {
namespace {

std::string TypeText(DataType type) { return type == DataType::kUnknown ? "" : std::string(DataTypeName(type)); }

void AddPrimitives(const std::vector<std::string>& lines, int threads,
                   google::protobuf::RepeatedPtrField<v1::ProfiledPrimitive>* primitives) {
  for (const std::string& line : lines) {
    if (!IsExecLine(line)) continue;
    v1::ProfiledPrimitive* primitive = primitives->Add();
    primitive->set_line(line);
    primitive->set_benchdnn(BenchdnnCommandOf(line));
    primitive->set_repeat(RepeatCommand(line, threads));
  }
}

// The share of the peak needs to know which type is multiplied.
double PeakOf(const PlanProfile& plan, DataType type) {
  for (const PeakSpeed& peak : plan.peaks) {
    if (peak.type == type) return peak.gflops;
  }
  return 0;
}

void AddStep(const StepProfile& step, const PlanProfile& plan, int threads, v1::ProfiledStep* proto) {
  constexpr double kGiga = 1e-3;  // from operations per microsecond
  const double us = step.info.median_us.value_or(0);
  proto->set_name(step.info.label);
  proto->set_op(step.info.op);
  proto->set_kernel(step.info.kernel.name);
  proto->set_src_type(TypeText(step.info.src_type));
  proto->set_weights_type(TypeText(step.info.weights_type));
  proto->set_dst_type(TypeText(step.info.dst_type));
  proto->set_median_us(us);
  proto->set_isolated_us(step.alone_us.value_or(0));
  proto->set_cold_cache_us(step.cold_us.value_or(0));
  proto->set_conversion(step.conversion);
  proto->set_reorders(step.reorders);
  AddPrimitives(step.verbose, threads, proto->mutable_primitives());
  if (us <= 0) return;
  proto->set_gflops(step.flop / us * kGiga);
  proto->set_gbps(step.bytes / us * kGiga);
  if (const double peak = PeakOf(plan, step.compute_type); peak > 0) proto->set_peak_share(proto->gflops() / peak);
}

}  // namespace

v1::ProfiledVariant ProfileToProto(const VariantProfile& profile, int threads) {
  const PlanProfile& plan = profile.plan;
  v1::ProfiledVariant proto;
  for (const StepProfile& step : plan.steps) {
    v1::ProfiledStep* row = proto.add_steps();
    row->set_index(proto.steps_size() - 1);
    AddStep(step, plan, threads, row);
    if (step.conversion && step.reorders == 0) proto.set_other_conversions(proto.other_conversions() + 1);
  }
  proto.set_batch(static_cast<int>(profile.batch));
  proto.set_whole_us(plan.whole_us);
  proto.set_whole_min_us(plan.whole_min_us);
  proto.set_runs(plan.runs);
  for (const std::string& disturbance : profile.disturbances) proto.add_disturbances(disturbance);
  proto.set_steps_us(plan.StepsUs());
  proto.set_conversions_us(plan.ConversionsUs());
  proto.set_reorders(plan.Reorders());
  proto.set_verbose_reorders(plan.VerboseReorders());
  for (const PeakSpeed& peak : plan.peaks) {
    v1::PeakSpeed* row = proto.add_peaks();
    row->set_type(TypeText(peak.type));
    row->set_gflops(peak.gflops);
  }
  proto.set_arena_bytes(static_cast<int64_t>(plan.memory.arena));
  proto.set_scratch_bytes(static_cast<int64_t>(plan.memory.scratch));
  proto.set_live_bytes(static_cast<int64_t>(plan.memory.live));
  proto.set_live_with_scratch_bytes(static_cast<int64_t>(plan.memory.live_with_scratch));
  proto.set_constant_bytes(static_cast<int64_t>(plan.memory.constants));
  proto.set_packed_bytes(static_cast<int64_t>(plan.packed_bytes));
  proto.set_weight_bytes(static_cast<int64_t>(plan.weight_bytes));
  proto.set_load_ms(profile.load_ms);
  proto.set_optimize_ms(profile.optimize_ms);
  proto.set_compile_ms(profile.planning_ms);
  proto.set_in_parts(plan.in_parts);
  if (plan.in_parts) AddPrimitives(plan.verbose, threads, proto.mutable_primitives());
  return proto;
}

absl::StatusOr<ProfiledModel> ProfileVariants(const OptimizeOptions& options, const std::vector<VariantKind>& kinds,
                                              ProcessChildRunner& children, const ProgressCallback& progress) {
  progress("convert", 0, 1);
  HALFTONE_ASSIGN_OR_RETURN(const ProfileTargets targets, MakeProfileTargets(options, kinds, progress));
  const int64_t total = static_cast<int64_t>(targets.targets.size());  // without those that cannot run here
  ProfiledModel profiled{.profile = {}, .calibration = targets.calibration};
  v1::Profile& profile = profiled.profile;
  profile.set_threads(options.benchmark.threads);
  for (const std::string& warning : targets.warnings) profile.add_warnings(warning);
  if (targets.calibration.has_value()) {
    *profile.mutable_calibration() = ToProto(*targets.calibration);
    profile.mutable_calibration()->mutable_file()->clear_path();  // it is no result of this job
  }
  for (int64_t i = 0; i < total; ++i) {
    progress("profile", i, total);
    const ProfileTarget& target = targets.targets[i];
    absl::StatusOr<v1::ProfiledVariant> variant = children.Profile(target.run);
    if (!variant.ok()) {
      return NameModel(Annotate(variant.status(), Concat(VariantName(target.kind), " variant")), options.model);
    }
    variant->set_precision(ToProto(target.kind));
    variant->set_summary(target.summary);
    report::CompleteProfile(*variant);
    *profile.add_variants() = *std::move(variant);
  }
  progress("profile", total, total);
  return profiled;
}

std::string VerboseText(const v1::Profile& profile) {
  std::string text;
  const auto add = [&text](const google::protobuf::RepeatedPtrField<v1::ProfiledPrimitive>& primitives) {
    for (const v1::ProfiledPrimitive& primitive : primitives) {
      text += Concat(primitive.line(), "\n");
      for (const std::string* command : {&primitive.repeat(), &primitive.benchdnn()}) {
        if (!command->empty()) text += Concat("#   ", *command, "\n");
      }
    }
  };
  for (const v1::ProfiledVariant& variant : profile.variants()) {
    text += Concat("# ", profile.model(), ", ", report::PrecisionName(variant.precision()), ", batch ", variant.batch(),
                   ", threads ", profile.threads(), ": one inference\n");
    std::vector<const v1::ProfiledStep*> steps;
    for (const v1::ProfiledStep& step : variant.steps()) steps.push_back(&step);
    std::sort(steps.begin(), steps.end(),
              [](const v1::ProfiledStep* a, const v1::ProfiledStep* b) { return a->index() < b->index(); });
    for (const v1::ProfiledStep* step : steps) {
      text += Concat("# step ", step->index(), " ", step->op(), " '", step->name(), "' ", step->kernel(), "\n");
      add(step->primitives());
    }
    add(variant.primitives());
  }
  return text;
}

}  // namespace halftone::worker
