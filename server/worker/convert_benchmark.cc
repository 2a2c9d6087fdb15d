// SPDX-License-Identifier: Apache-2.0
#include "server/worker/convert_benchmark.h"

#include <algorithm>
#include <optional>

#include "report/figures.h"

namespace halftone::worker {
namespace {

double Seconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + static_cast<double>(duration.nanos()) * 1e-9;
}

v1::BenchmarkPreset ToProto(BenchmarkPreset preset) {
  switch (preset) {
    case BenchmarkPreset::kQuick:
      return v1::BENCHMARK_PRESET_QUICK;
    case BenchmarkPreset::kStandard:
      return v1::BENCHMARK_PRESET_STANDARD;
    case BenchmarkPreset::kStrict:
      return v1::BENCHMARK_PRESET_STRICT;
    case BenchmarkPreset::kCustom:
      return v1::BENCHMARK_PRESET_CUSTOM;
  }
  return v1::BENCHMARK_PRESET_UNSPECIFIED;
}

BenchmarkPreset FromProto(v1::BenchmarkPreset preset) {
  if (preset == v1::BENCHMARK_PRESET_STANDARD) return BenchmarkPreset::kStandard;
  if (preset == v1::BENCHMARK_PRESET_STRICT) return BenchmarkPreset::kStrict;
  return BenchmarkPreset::kQuick;
}

NoiseLimits FromProto(const v1::NoiseLimits& proto) {
  NoiseLimits limits;
  if (proto.has_context_switches()) limits.context_switches = proto.context_switches();
  if (proto.has_steal()) limits.steal = proto.steal();
  if (proto.has_load()) limits.load = proto.load();
  if (proto.has_frequency()) limits.frequency = proto.frequency();
  return limits;
}

v1::NoiseLimits ToProto(const NoiseLimits& limits) {
  v1::NoiseLimits proto;
  proto.set_context_switches(limits.context_switches);
  proto.set_steal(limits.steal);
  proto.set_load(limits.load);
  proto.set_frequency(limits.frequency);
  return proto;
}

v1::Speedup ToProto(const SpeedupResult& result) {
  v1::Speedup proto;
  proto.set_median(result.median);
  proto.set_low(result.low);
  proto.set_high(result.high);
  proto.set_verdict(report::ToProto(result.verdict));
  return proto;
}

void AddRounds(const std::vector<RoundData>& rounds, google::protobuf::RepeatedPtrField<v1::BenchmarkRound>& to) {
  for (const RoundData& round : rounds) {
    v1::BenchmarkRound* proto = to.Add();
    for (const RoundResult& process : round) *proto->add_processes() = worker::ToProto(process);
  }
}

// The median over all processes.
double MedianOf(const std::vector<RoundData>& rounds, double (*number)(const RoundResult&)) {
  std::vector<double> numbers;
  for (const RoundData& round : rounds) {
    for (const RoundResult& process : round) numbers.push_back(number(process));
  }
  return numbers.empty() ? 0 : Median(numbers);
}

}  // namespace

BenchmarkOptions ToBenchmarkOptions(const v1::BenchmarkSpec& spec) {
  BenchmarkOptions options;
  std::optional<int> rounds;
  std::optional<double> seconds;
  if (spec.rounds() > 0) rounds = spec.rounds();
  if (spec.has_round_time()) seconds = Seconds(spec.round_time());
  ApplyPreset(FromProto(spec.preset()), rounds, seconds, options);
  options.threads = std::max(spec.threads(), 1);
  options.instances = std::max(spec.instances(), 1);
  options.sizes = {spec.batch(), {spec.dims().begin(), spec.dims().end()}};
  options.cold_cache = spec.cold_cache();
  options.cores = {spec.cores().begin(), spec.cores().end()};
  options.wait_policy = spec.wait_policy();
  options.noise_limits = FromProto(spec.noise_limits());
  options.skip = spec.skip();
  options.seed = spec.seed() != 0 ? spec.seed() : 1;
  return options;
}

v1::BenchmarkProcess ToProto(const RoundResult& result) {
  v1::BenchmarkProcess proto;
  proto.mutable_samples_ns()->Assign(result.samples.ns.begin(), result.samples.ns.end());
  proto.set_inferences_per_sample(result.samples.inferences_per_sample);
  proto.set_warmup_inferences(result.warmup_inferences);
  proto.set_warm(result.warm);
  proto.set_load_ms(result.load_ms);
  proto.set_compile_ms(result.plan_ms);
  proto.set_peak_rss_bytes(result.peak_resident_bytes);
  proto.set_arena_bytes(result.arena_bytes);
  proto.set_output_hash(result.output_hash);
  proto.set_seconds(result.facts.seconds);
  proto.set_involuntary_switches(result.facts.involuntary_switches);
  proto.set_steal_share(result.facts.steal_share);
  proto.set_throttled(result.facts.cgroup_throttled);
  proto.set_load(result.facts.load);
  proto.set_threads(result.facts.threads);
  proto.set_tasks(result.facts.tasks);
  proto.set_pinned(result.facts.pinned);
  proto.set_major_faults(result.facts.major_faults);
  proto.set_swapped_bytes(result.facts.swapped_bytes);
  proto.set_spin_us(result.facts.spin_us);
  proto.set_timer_ns(result.facts.timer_ns);
  return proto;
}

RoundResult FromProto(const v1::BenchmarkProcess& proto) {
  RoundResult result;
  result.samples.ns = {proto.samples_ns().begin(), proto.samples_ns().end()};
  result.samples.inferences_per_sample = proto.inferences_per_sample();
  result.warmup_inferences = proto.warmup_inferences();
  result.warm = proto.warm();
  result.load_ms = proto.load_ms();
  result.plan_ms = proto.compile_ms();
  result.peak_resident_bytes = proto.peak_rss_bytes();
  result.arena_bytes = proto.arena_bytes();
  result.output_hash = proto.output_hash();
  result.facts.seconds = proto.seconds();
  result.facts.involuntary_switches = proto.involuntary_switches();
  result.facts.steal_share = proto.steal_share();
  result.facts.cgroup_throttled = proto.throttled();
  result.facts.load = proto.load();
  result.facts.threads = proto.threads();
  result.facts.tasks = proto.tasks();
  result.facts.pinned = proto.pinned();
  result.facts.major_faults = proto.major_faults();
  result.facts.swapped_bytes = proto.swapped_bytes();
  result.facts.spin_us = proto.spin_us();
  result.facts.timer_ns = proto.timer_ns();
  return result;
}

v1::Benchmark ToProto(const BenchmarkResult& result, int64_t batch) {
  v1::Benchmark proto;
  const SampleSummary& summary = result.summary;
  proto.set_median_ms(summary.median_ms);
  proto.set_min_ms(summary.min_ms);
  proto.set_mad_ms(summary.mad_ms);
  proto.set_p90_ms(summary.p90_ms.value_or(0));
  proto.set_p95_ms(summary.p95_ms.value_or(0));
  proto.set_p99_ms(summary.p99_ms.value_or(0));
  proto.set_p999_ms(summary.p999_ms.value_or(0));
  proto.set_samples_per_second(summary.inferences_per_second * static_cast<double>(batch));
  proto.set_samples(static_cast<int>(summary.samples));
  proto.set_rounds(static_cast<int>(summary.round_ms.size()));
  proto.mutable_round_medians_ms()->Assign(summary.round_ms.begin(), summary.round_ms.end());
  if (result.speedup.has_value()) *proto.mutable_speedup() = ToProto(*result.speedup);
  proto.set_valid(result.valid);
  for (const std::string& reason : result.invalid_reasons) proto.add_invalid_reasons(reason);
  for (const std::string& reason : result.noise) proto.add_noise(reason);
  proto.set_batch(static_cast<int>(batch));
  proto.set_load_ms(MedianOf(result.rounds, [](const RoundResult& r) { return r.load_ms; }));
  proto.set_compile_ms(MedianOf(result.rounds, [](const RoundResult& r) { return r.plan_ms; }));
  for (const RoundData& round : result.rounds) {
    for (const RoundResult& process : round) {
      proto.set_peak_rss_bytes(std::max(proto.peak_rss_bytes(), process.peak_resident_bytes));
      proto.set_arena_bytes(std::max(proto.arena_bytes(), process.arena_bytes));
    }
  }
  AddRounds(result.rounds, *proto.mutable_round_data());
  return proto;
}

v1::BenchmarkRun ToProto(const BenchmarkRunResult& run, const std::vector<VariantResult>& variants,
                         const BenchmarkOptions& options) {
  v1::BenchmarkRun proto;
  proto.set_preset(ToProto(options.preset));
  proto.set_valid(std::all_of(variants.begin(), variants.end(), [](const VariantResult& variant) {
    return !variant.benchmark.has_value() || variant.benchmark->valid;
  }));
  for (const std::string& reason : run.invalid_reasons) proto.add_invalid_reasons(reason);
  for (const std::string& reason : run.noise) proto.add_noise(reason);
  *proto.mutable_noise_limits() = ToProto(options.noise_limits);
  proto.set_rounds(options.rounds);
  proto.set_round_seconds(options.round_seconds);
  proto.set_round_samples(options.round_samples);
  proto.set_threads(options.threads);
  proto.set_instances(options.instances);
  if (!variants.empty()) proto.set_batch(static_cast<int>(variants[0].batch));
  proto.set_cold_cache(options.cold_cache);
  proto.mutable_cores()->Assign(run.cores.chosen.begin(), run.cores.chosen.end());
  for (const std::string& variable : run.variables) proto.add_variables(variable);
  for (const std::string& round : run.order) proto.add_order(round);
  if (run.self_check.has_value()) {
    v1::SelfCheck& check = *proto.mutable_self_check();
    *check.mutable_speedup() = ToProto(run.self_check->speedup);
    const std::vector<double>& round_ms = run.self_check->summary.round_ms;
    check.mutable_round_medians_ms()->Assign(round_ms.begin(), round_ms.end());
    AddRounds(run.self_check->rounds, *check.mutable_round_data());
    proto.set_timer_ns(MedianOf(run.self_check->rounds, [](const RoundResult& r) { return r.facts.timer_ns; }));
  }
  proto.set_spin_drift(run.spin_drift);
  proto.set_allowed_cores(run.cores.allowed);
  proto.set_test_slow_down(run.test_slow_down);
  return proto;
}

}  // namespace halftone::worker
