// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/names.h"

namespace halftone::report {

v1::Verdict ToProto(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return v1::VERDICT_FASTER;
    case Verdict::kSlower:
      return v1::VERDICT_SLOWER;
    case Verdict::kSame:
      return v1::VERDICT_SAME;
    case Verdict::kUndecided:
      return v1::VERDICT_UNDECIDED;
  }
  return v1::VERDICT_UNSPECIFIED;
}

namespace {

using Rounds = google::protobuf::RepeatedPtrField<v1::BenchmarkRound>;

absl::Status CheckSamples(const std::string& of, const Rounds& rounds) {
  const auto error = [&](absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat(of, ": ", why)); };
  if (rounds.empty()) return error("the report holds no samples; that in the file report.json does");
  for (const v1::BenchmarkRound& round : rounds) {
    if (round.processes().empty()) return error("a round without processes");
    for (const v1::BenchmarkProcess& process : round.processes()) {
      if (process.samples_ns().empty()) return error("a process without samples");
      if (process.inferences_per_sample() < 1) return error("inferences_per_sample is below 1");
      for (const int64_t ns : process.samples_ns()) {
        if (ns <= 0) return error("a sample that took no time");
      }
    }
  }
  return absl::OkStatus();
}

void SetFigures(const SampleSummary& summary, v1::Benchmark& benchmark) {
  benchmark.set_median_ms(summary.median_ms);
  benchmark.set_min_ms(summary.min_ms);
  benchmark.set_mad_ms(summary.mad_ms);
  benchmark.set_p90_ms(summary.p90_ms.value_or(0));
  benchmark.set_p95_ms(summary.p95_ms.value_or(0));
  benchmark.set_p99_ms(summary.p99_ms.value_or(0));
  benchmark.set_p999_ms(summary.p999_ms.value_or(0));
  benchmark.set_samples_per_second(summary.inferences_per_second * benchmark.batch());
  benchmark.set_samples(static_cast<int>(summary.samples));
  benchmark.set_rounds(static_cast<int>(summary.round_ms.size()));
  benchmark.mutable_round_medians_ms()->Assign(summary.round_ms.begin(), summary.round_ms.end());
}

// Unset with too few rounds.
template <typename Message>
void SetSpeedup(const std::vector<double>& baseline_ms, const std::vector<double>& round_ms, uint64_t seed,
                Message& message) {
  message.clear_speedup();
  const std::optional<RatioEstimate> estimate = CompareRounds(baseline_ms, round_ms, static_cast<uint32_t>(seed));
  if (estimate.has_value()) *message.mutable_speedup() = ToSpeedup(*estimate);
}

// All figures of a message, by name; not what was observed.
void AddDifferences(const std::string& prefix, const google::protobuf::Message& said,
                    const google::protobuf::Message& computed, std::vector<std::string>& differences) {
  const auto& type = *said.GetDescriptor();
  const auto& a = *said.GetReflection();
  const auto& b = *computed.GetReflection();
  const auto differ = [&](const std::string& name, double x, double y) {
    if (x != y) differences.push_back(absl::StrFormat("%s%s: %.17g, by the samples %.17g", prefix, name, x, y));
  };
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    const std::string& name = field.name();
    using Field = google::protobuf::FieldDescriptor;
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE && !field.is_repeated()) {
      AddDifferences(absl::StrCat(prefix, name, "."), a.GetMessage(said, &field), b.GetMessage(computed, &field),
                     differences);
    } else if (field.cpp_type() == Field::CPPTYPE_DOUBLE && field.is_repeated()) {
      const int size = a.FieldSize(said, &field), other = b.FieldSize(computed, &field);
      differ(absl::StrCat("number of ", name), size, other);
      for (int k = 0; k < std::min(size, other); ++k) {
        differ(absl::StrCat(name, "[", k, "]"), a.GetRepeatedDouble(said, &field, k),
               b.GetRepeatedDouble(computed, &field, k));
      }
    } else if (field.cpp_type() == Field::CPPTYPE_DOUBLE) {
      differ(name, a.GetDouble(said, &field), b.GetDouble(computed, &field));
    } else if (field.cpp_type() == Field::CPPTYPE_ENUM) {
      differ(name, a.GetEnumValue(said, &field), b.GetEnumValue(computed, &field));
    } else if (field.cpp_type() == Field::CPPTYPE_INT32) {
      differ(name, a.GetInt32(said, &field), b.GetInt32(computed, &field));
    }
  }
}

}  // namespace

v1::Speedup ToSpeedup(const RatioEstimate& time_ratio) {
  v1::Speedup speedup;
  speedup.set_median(1 / time_ratio.ratio);
  speedup.set_low(1 / time_ratio.interval.high);
  speedup.set_high(1 / time_ratio.interval.low);
  speedup.set_verdict(ToProto(Judge(time_ratio.interval)));
  return speedup;
}

std::vector<RoundSamples> SamplesOf(const Rounds& rounds) {
  std::vector<RoundSamples> samples;
  for (const v1::BenchmarkRound& round : rounds) {
    RoundSamples& of_round = samples.emplace_back();
    for (const v1::BenchmarkProcess& process : round.processes()) {
      of_round.push_back({{process.samples_ns().begin(), process.samples_ns().end()}, process.inferences_per_sample()});
    }
  }
  return samples;
}

absl::StatusOr<v1::Report> Recompute(const v1::Report& report) {
  if (report.benchmark_run().rounds() == 0) return absl::InvalidArgumentError("nothing was measured");
  v1::Report computed = report;
  v1::BenchmarkRun& run = *computed.mutable_benchmark_run();
  const bool percentiles = run.preset() != v1::BENCHMARK_PRESET_QUICK;
  std::vector<double> baseline_ms;
  for (v1::Variant& variant : *computed.mutable_variants()) {
    if (!variant.not_measured().empty()) continue;
    v1::Benchmark& benchmark = *variant.mutable_benchmark();
    const absl::Status status = CheckSamples(PrecisionName(variant.precision()), benchmark.round_data());
    if (!status.ok()) return status;
    const SampleSummary summary = Summarize(SamplesOf(benchmark.round_data()), percentiles);
    SetFigures(summary, benchmark);
    if (variant.precision() == v1::PRECISION_FP32) baseline_ms = summary.round_ms;
  }
  for (v1::Variant& variant : *computed.mutable_variants()) {
    if (!variant.not_measured().empty()) continue;
    v1::Benchmark& benchmark = *variant.mutable_benchmark();
    const std::vector<double> round_ms(benchmark.round_medians_ms().begin(), benchmark.round_medians_ms().end());
    SetSpeedup(baseline_ms, round_ms, report.seed(), benchmark);
  }
  if (v1::SelfCheck& check = *run.mutable_self_check(); check.round_medians_ms_size() > 0) {
    const absl::Status status = CheckSamples("the self-check", check.round_data());
    if (!status.ok()) return status;
    const SampleSummary summary = Summarize(SamplesOf(check.round_data()), percentiles);
    check.mutable_round_medians_ms()->Assign(summary.round_ms.begin(), summary.round_ms.end());
    SetSpeedup(baseline_ms, summary.round_ms, report.seed(), check);
  }
  return computed;
}

std::vector<std::string> FigureDifferences(const v1::Report& said, const v1::Report& computed) {
  std::vector<std::string> differences;
  for (int i = 0; i < std::min(said.variants_size(), computed.variants_size()); ++i) {
    AddDifferences(absl::StrCat(PrecisionName(said.variants(i).precision()), " "), said.variants(i).benchmark(),
                   computed.variants(i).benchmark(), differences);
  }
  AddDifferences("self-check ", said.benchmark_run().self_check(), computed.benchmark_run().self_check(), differences);
  return differences;
}

}  // namespace halftone::report
