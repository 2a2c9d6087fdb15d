// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/profile.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/peak.h"
#include "runtime/cpu/onednn/verbose.h"
#include "runtime/measure/profile_alone.h"
#include "runtime/measure/statistics.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kReorderPrimitive = "reorder";

double Microseconds(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - start).count();
}

double SecondsSince(Clock::time_point start) { return Microseconds(start, Clock::now()) * 1e-6; }

std::optional<DataType> TypeFromDnnl(std::string_view name) {
  constexpr std::pair<std::string_view, DataType> kTypes[] = {
      {"f32", DataType::kFloat32}, {"bf16", DataType::kBFloat16}, {"f16", DataType::kFloat16},
      {"s8", DataType::kInt8},     {"u8", DataType::kInt8},
  };
  for (const auto& [word, type] : kTypes) {
    if (word == name) return type;
  }
  return std::nullopt;
}

class Profiler {
 public:
  Profiler(Plan& plan, const Graph& graph, std::span<const Tensor> inputs, const ProfileOptions& options)
      : plan_(plan), graph_(graph), inputs_(inputs), options_(options) {}

  absl::StatusOr<PlanProfile> Run() {
    HALFTONE_RETURN_IF_ERROR(plan_.Run(inputs_).status());
    absl::Status described =
        plan_.WithSteps(inputs_, [this](std::span<const BoundStep> steps) { return Describe(steps); });
    if (absl::IsUnimplemented(described)) {
      HALFTONE_RETURN_IF_ERROR(ProfileInParts());
    } else {
      HALFTONE_RETURN_IF_ERROR(described);
      HALFTONE_RETURN_IF_ERROR(TimeRuns());
      HALFTONE_RETURN_IF_ERROR(
          plan_.WithSteps(inputs_, [this](std::span<const BoundStep> steps) { return TimeEachAlone(steps); }));
      HALFTONE_RETURN_IF_ERROR(AddNested());
    }
    profile_.memory = plan_.memory();
    AddWeights();
    AddPeaks();
    return std::move(profile_);
  }

 private:
  // What the steps are, and what oneDNN says of them: in a run of its own.
  absl::Status Describe(std::span<const BoundStep> steps) {
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<VerboseCapture> capture, VerboseCapture::Start());
    std::set<const void*> packed;
    for (const BoundStep& bound : steps) {
      HALFTONE_RETURN_IF_ERROR(bound.step->Run());
      StepProfile step{.info = *bound.info};
      step.conversion = step.info.kind == StepKind::kConversion;
      for (const auto* blocks : {&bound.inputs, &bound.outputs}) {
        for (const BoundStep::Memory& block : *blocks)
          step.bytes += block.address == nullptr ? 0 : static_cast<double>(block.bytes);
      }
      const StepFacts facts = bound.step->facts();
      step.reorders = facts.reorders;
      for (const auto& [address, bytes] : facts.constants) {
        step.bytes += static_cast<double>(bytes);
        if (packed.insert(address).second) profile_.packed_bytes += bytes;
      }
      for (std::string& line : capture->TakeLines()) {
        if (IsExecLine(line)) step.verbose.push_back(line);
        profile_.verbose.push_back(std::move(line));
      }
      AddFlop(step);
      profile_.steps.push_back(std::move(step));
    }
    return absl::OkStatus();
  }

  void AddFlop(StepProfile& step) const {
    if (step.conversion || !step.info.node.valid()) return;
    step.flop = FlopOf(graph_, step.info.node);
    if (step.flop == 0) return;
    step.compute_type = step.info.src_type;
    for (const std::string& line : step.verbose) {  // a node of bf16 may be computed in f32
      if (PrimitiveOf(line) == kReorderPrimitive) continue;
      if (const std::optional<DataType> type = TypeFromDnnl(SourceTypeOf(line))) step.compute_type = *type;
      break;
    }
    if (step.compute_type == DataType::kUInt8) step.compute_type = DataType::kInt8;  // bytes have one peak
  }

  // Whole runs and runs that are timed step by step, in turns, so that both meet the same machine.
  absl::Status TimeRuns() {
    std::vector<double> whole;
    std::vector<std::vector<double>> times(profile_.steps.size());
    const auto timed = [&](std::span<const BoundStep> steps) -> absl::Status {
      for (size_t i = 0; i < steps.size(); ++i) {
        const Clock::time_point start = Clock::now();
        HALFTONE_RETURN_IF_ERROR(steps[i].step->Run());
        times[i].push_back(Microseconds(start, Clock::now()));
      }
      return absl::OkStatus();
    };
    constexpr int kWarmUp = 2;
    for (int run = 0; run < kWarmUp; ++run) HALFTONE_RETURN_IF_ERROR(plan_.Run(inputs_).status());
    const Clock::time_point begin = Clock::now();
    FactsWatch watch;
    do {
      const Clock::time_point start = Clock::now();
      HALFTONE_RETURN_IF_ERROR(plan_.Run(inputs_).status());
      whole.push_back(Microseconds(start, Clock::now()));
      HALFTONE_RETURN_IF_ERROR(plan_.WithSteps(inputs_, timed));
      ++profile_.runs;
    } while (profile_.runs < options_.min_runs || SecondsSince(begin) < options_.seconds);
    watch.Finish(profile_.facts);
    for (size_t i = 0; i < times.size(); ++i) profile_.steps[i].info.median_us = Median(times[i]);
    AddWhole(whole);
    return absl::OkStatus();
  }

  void AddWhole(const std::vector<double>& whole) {
    profile_.whole_us = Median(whole);
    profile_.whole_min_us = *std::min_element(whole.begin(), whole.end());
  }

  absl::Status TimeEachAlone(std::span<const BoundStep> steps) {
    HALFTONE_ASSIGN_OR_RETURN(const OtherMemory others,
                              OtherMemory::Allocate(profile_.packed_bytes + plan_.memory().arena));
    for (size_t i = 0; i < steps.size(); ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const AloneTimes times, TimeAlone(steps[i], others, options_));
      profile_.steps[i].alone_us = times.warm_us;
      profile_.steps[i].cold_us = times.cold_us;
      HALFTONE_RETURN_IF_ERROR(steps[i].step->Run());  // for those that come after
    }
    return absl::OkStatus();
  }

  // Steps of loops and branches: their time is taken from the step that holds them.
  absl::Status AddNested() {
    const auto has_nested = [](const BoundStep& step) { return step.step->nested() != nullptr; };
    bool any = false;
    HALFTONE_RETURN_IF_ERROR(plan_.WithSteps(inputs_, [&](std::span<const BoundStep> steps) {
      any = std::any_of(steps.begin(), steps.end(), has_nested);
      return absl::OkStatus();
    }));
    if (!any) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> infos, plan_.Profile(inputs_, options_.min_runs));
    std::vector<StepProfile> all;
    size_t next = 0;
    for (const StepInfo& info : infos) {
      if (!info.median_us.has_value()) continue;
      const bool known = next < profile_.steps.size() && profile_.steps[next].info.label == info.label &&
                         profile_.steps[next].info.op == info.op;
      all.push_back(known ? std::move(profile_.steps[next++]) : StepProfile{});
      if (!known || info.kind == StepKind::kNested) all.back().info = info;
    }
    profile_.steps = std::move(all);
    return absl::OkStatus();
  }

  // A plan that is made while it runs: times of steps only.
  absl::Status ProfileInParts() {
    profile_.in_parts = true;
    std::vector<double> whole;
    const Clock::time_point begin = Clock::now();
    do {
      const Clock::time_point start = Clock::now();
      HALFTONE_RETURN_IF_ERROR(plan_.Run(inputs_).status());
      whole.push_back(Microseconds(start, Clock::now()));
      ++profile_.runs;
    } while (profile_.runs < options_.min_runs || SecondsSince(begin) < options_.seconds / 2);
    AddWhole(whole);
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> infos, plan_.Profile(inputs_, profile_.runs));
    for (const StepInfo& info : infos) {
      if (!info.median_us.has_value()) continue;
      profile_.steps.push_back({.info = info, .conversion = info.kind == StepKind::kConversion});
    }
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<VerboseCapture> capture, VerboseCapture::Start());
    HALFTONE_RETURN_IF_ERROR(plan_.Run(inputs_).status());
    profile_.verbose = capture->TakeLines();
    return absl::OkStatus();
  }

  void AddWeights() {
    for (const NodeId id : graph_.nodes()) {
      if (graph_.op(id) != OpKind::kConstant) continue;
      if (const Tensor* tensor = graph_.ConstantTensor(graph_.output(id))) profile_.weight_bytes += tensor->byte_size();
    }
  }

  void AddPeaks() {
    std::set<DataType> types;
    for (const StepProfile& step : profile_.steps) {
      if (step.flop > 0) types.insert(step.compute_type);
    }
    for (const DataType type : types) {
      if (const double gflops = PeakGflops(type, plan_.threads()); gflops > 0) profile_.peaks.push_back({type, gflops});
    }
  }

  Plan& plan_;
  const Graph& graph_;
  const std::span<const Tensor> inputs_;
  const ProfileOptions options_;
  PlanProfile profile_;
};

}  // namespace

double PlanProfile::StepsUs() const {
  double sum = 0;
  for (const StepProfile& step : steps) sum += step.info.median_us.value_or(0);
  return sum;
}

double PlanProfile::ConversionsUs() const {
  double sum = 0;
  for (const StepProfile& step : steps) sum += step.conversion ? step.info.median_us.value_or(0) : 0;
  return sum;
}

int PlanProfile::Reorders() const {
  int sum = 0;
  for (const StepProfile& step : steps) sum += step.reorders;
  return sum;
}

int PlanProfile::VerboseReorders() const {
  return static_cast<int>(std::count_if(verbose.begin(), verbose.end(), [](const std::string& line) {
    return IsExecLine(line) && PrimitiveOf(line) == kReorderPrimitive;
  }));
}

absl::StatusOr<PlanProfile> ProfilePlan(Plan& plan, const Graph& graph, std::span<const Tensor> inputs,
                                        const ProfileOptions& options) {
  return Profiler(plan, graph, inputs, options).Run();
}

}  // namespace halftone
