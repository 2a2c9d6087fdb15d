// SPDX-License-Identifier: Apache-2.0
#include "report/export.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "report/json.h"
#include "report/names.h"
#include "runtime/measure/statistics.h"

namespace halftone::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<const v1::Variant*> Measured(const v1::Report& report) {
  std::vector<const v1::Variant*> variants;
  for (const v1::Variant& variant : report.variants()) {
    if (variant.benchmark().samples() > 0) variants.push_back(&variant);
  }
  return variants;
}

// The shortest text that is the same number again.
std::string Number(double value) { return Json(value).dump(); }

// --- CSV

// A percentile of 0 was not computed.
std::string OrEmpty(double value) { return value > 0 ? Number(value) : ""; }

std::string CsvCell(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos;
  return plain ? text : absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

struct Column {
  const char* name;
  std::function<std::string(const v1::Report&, const v1::Variant&)> cell;
};

template <typename Field>
Column BenchmarkNumber(const char* name, Field field) {
  return {name, [field](const v1::Report&, const v1::Variant& v) { return Number((v.benchmark().*field)()); }};
}
template <typename Field>
Column BenchmarkNumberOrEmpty(const char* name, Field field) {
  return {name, [field](const v1::Report&, const v1::Variant& v) { return OrEmpty((v.benchmark().*field)()); }};
}
template <typename Field>
Column RunNumber(const char* name, Field field) {
  return {name,
          [field](const v1::Report& r, const v1::Variant&) { return absl::StrCat((r.benchmark_run().*field)()); }};
}

const std::vector<Column>& CsvColumns() {
  using B = v1::Benchmark;
  using R = v1::BenchmarkRun;
  static const std::vector<Column> columns = {
      {"model", [](const v1::Report& r, const v1::Variant&) { return CsvCell(r.model()); }},
      {"variant", [](const v1::Report&, const v1::Variant& v) { return PrecisionName(v.precision()); }},
      {"valid", [](const v1::Report&, const v1::Variant& v) { return v.benchmark().valid() ? "true" : "false"; }},
      {"preset",
       [](const v1::Report& r, const v1::Variant&) { return BenchmarkPresetName(r.benchmark_run().preset()); }},
      RunNumber("threads", &R::threads),
      RunNumber("instances", &R::instances),
      {"batch", [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.benchmark().batch()); }},
      {"cold_cache",
       [](const v1::Report& r, const v1::Variant&) { return r.benchmark_run().cold_cache() ? "true" : "false"; }},
      {"rounds", [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.benchmark().rounds()); }},
      {"samples", [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.benchmark().samples()); }},
      BenchmarkNumber("median_ms", &B::median_ms),
      BenchmarkNumber("mad_ms", &B::mad_ms),
      BenchmarkNumber("min_ms", &B::min_ms),
      BenchmarkNumberOrEmpty("p90_ms", &B::p90_ms),
      BenchmarkNumberOrEmpty("p95_ms", &B::p95_ms),
      BenchmarkNumberOrEmpty("p99_ms", &B::p99_ms),
      BenchmarkNumberOrEmpty("p999_ms", &B::p999_ms),
      BenchmarkNumber("samples_per_second", &B::samples_per_second),
      {"speedup", [](const v1::Report&, const v1::Variant& v) { return OrEmpty(v.benchmark().speedup().median()); }},
      {"speedup_low", [](const v1::Report&, const v1::Variant& v) { return OrEmpty(v.benchmark().speedup().low()); }},
      {"speedup_high", [](const v1::Report&, const v1::Variant& v) { return OrEmpty(v.benchmark().speedup().high()); }},
      {"verdict",
       [](const v1::Report&, const v1::Variant& v) {
         const v1::Verdict verdict = v.benchmark().speedup().verdict();
         return verdict == v1::VERDICT_UNSPECIFIED ? std::string() : VerdictName(verdict);
       }},
      BenchmarkNumber("load_ms", &B::load_ms),
      BenchmarkNumber("compile_ms", &B::compile_ms),
      {"peak_rss_bytes",
       [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.benchmark().peak_rss_bytes()); }},
      {"arena_bytes",
       [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.benchmark().arena_bytes()); }},
      {"model_bytes", [](const v1::Report&, const v1::Variant& v) { return absl::StrCat(v.artifact().size_bytes()); }},
  };
  return columns;
}

std::string Csv(const v1::Report& report) {
  std::string text =
      absl::StrCat(absl::StrJoin(CsvColumns(), ",", [](std::string* out, const Column& c) { *out += c.name; }), "\n");
  for (const v1::Variant* variant : Measured(report)) {
    absl::StrAppend(
        &text,
        absl::StrJoin(CsvColumns(), ",", [&](std::string* out, const Column& c) { *out += c.cell(report, *variant); }),
        "\n");
  }
  return text;
}

// --- Google Benchmark

Json BenchmarkRow(const v1::Report& report, const v1::Variant& variant, int family, const char* type, double ms) {
  const std::string name =
      absl::StrCat(report.model(), "/", PrecisionName(variant.precision()), "/batch:", variant.benchmark().batch(),
                   "/threads:", report.benchmark_run().threads());
  Json row = Json::object();
  row["name"] = name;
  row["family_index"] = family;
  row["per_family_instance_index"] = 0;
  row["run_name"] = name;
  row["run_type"] = type;
  row["repetitions"] = variant.benchmark().rounds();
  row["threads"] = report.benchmark_run().threads();
  row["real_time"] = ms;
  row["cpu_time"] = ms;  // pinned threads that wait actively: they are on their cores all the time
  row["time_unit"] = "ms";
  return row;
}

int64_t InferencesOf(const v1::BenchmarkRound& round) {
  int64_t inferences = 0;
  for (const v1::BenchmarkProcess& process : round.processes()) {
    inferences += process.samples_ns_size() * process.inferences_per_sample();
  }
  return inferences;
}

std::string GoogleBenchmark(const v1::Report& report) {
  Json json;
  Json& context = json["context"];
  context["executable"] = absl::StrCat("halftone ", report.environment().halftone_version());
  context["num_cpus"] = report.environment().cores();
  context["cpu_scaling_enabled"] =
      !report.environment().governor().empty() && report.environment().governor() != "performance";
  context["load_avg"] = Json::array();
  context["library_build_type"] = "release";
  context["json_schema_version"] = 1;
  Json& rows = json["benchmarks"] = Json::array();
  int family = 0;
  for (const v1::Variant* variant : Measured(report)) {
    const v1::Benchmark& benchmark = variant->benchmark();
    const auto& rounds = benchmark.round_medians_ms();
    double sum = 0, squares = 0;
    for (int i = 0; i < rounds.size(); ++i) {
      Json row = BenchmarkRow(report, *variant, family, "iteration", rounds[i]);
      row["repetition_index"] = i;
      row["iterations"] = i < benchmark.round_data_size() ? InferencesOf(benchmark.round_data(i)) : 1;
      rows.push_back(std::move(row));
      sum += rounds[i];
    }
    const double mean = sum / std::max<double>(rounds.size(), 1);
    for (const double ms : rounds) squares += (ms - mean) * (ms - mean);
    const double deviation = rounds.size() > 1 ? std::sqrt(squares / (rounds.size() - 1)) : 0;
    const double median = rounds.empty() ? 0 : Median({rounds.data(), static_cast<size_t>(rounds.size())});
    const std::pair<const char*, double> aggregates[] = {{"mean", mean}, {"median", median}, {"stddev", deviation}};
    for (const auto& [name, value] : aggregates) {
      Json row = BenchmarkRow(report, *variant, family, "aggregate", value);
      row["name"] = absl::StrCat(row["name"].get<std::string>(), "_", name);
      row["aggregate_name"] = name;
      row["aggregate_unit"] = "time";
      row["iterations"] = rounds.size();
      rows.push_back(std::move(row));
    }
    ++family;
  }
  return absl::StrCat(json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace), "\n");
}

// --- Text

std::string Ms(double ms) { return ms > 0 ? absl::StrFormat("%.4f ms", ms) : "n/a"; }

std::string Text(const v1::Report& report) {
  const v1::BenchmarkRun& run = report.benchmark_run();
  std::string text =
      absl::StrCat("=== Model ===\nFile: ", Printable(report.model()), "\nFormat: ", report.format(),
                   "\n\n=== Device ===\nCPU: ", Printable(report.environment().cpu()),
                   "\nISA: ", report.environment().isa(), "\noneDNN: ", report.environment().onednn_version(),
                   "\n\n=== Benchmark ===\nPreset: ", BenchmarkPresetName(run.preset()), "\nRounds: ", run.rounds(),
                   "\nThreads: ", run.threads(), "\nInstances: ", run.instances(), "\nBatch: ", run.batch(),
                   "\nWeights: ", run.cold_cache() ? "cold" : "warm", "\n");
  for (const v1::Variant* variant : Measured(report)) {
    const v1::Benchmark& b = variant->benchmark();
    absl::StrAppend(&text, "\n=== Performance summary: ", PrecisionName(variant->precision()), " ===\n");
    absl::StrAppend(&text, "Status: ", b.valid() ? "VALID" : "INVALID", "\n");
    for (const std::string& reason : b.invalid_reasons()) absl::StrAppend(&text, "  ", Printable(reason), "\n");
    absl::StrAppendFormat(&text, "Throughput: %.2f qps\n", b.samples_per_second());
    absl::StrAppend(&text, "Latency: min = ", Ms(b.min_ms()), ", median = ", Ms(b.median_ms()),
                    ", percentile(90%) = ", Ms(b.p90_ms()), ", percentile(95%) = ", Ms(b.p95_ms()),
                    ", percentile(99%) = ", Ms(b.p99_ms()), ", percentile(99.9%) = ", Ms(b.p999_ms()), "\n");
    if (b.speedup().median() > 0) {
      absl::StrAppendFormat(&text, "Speed-up over fp32: %.3f (95 %% interval %.3f .. %.3f): %s\n", b.speedup().median(),
                            b.speedup().low(), b.speedup().high(), VerdictName(b.speedup().verdict()));
    }
    absl::StrAppendFormat(&text, "Setup: load %.1f ms, compile %.1f ms\n", b.load_ms(), b.compile_ms());
    absl::StrAppend(&text, "Memory: peak resident ", b.peak_rss_bytes(), " B, arena ", b.arena_bytes(), " B, file ",
                    variant->artifact().size_bytes(), " B\n");
  }
  return text;
}

// --- Prometheus

std::string Label(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

struct Metric {
  const char* name;
  const char* help;
  std::optional<double> (*value)(const v1::Variant& variant);
};

std::optional<double> IfPositive(double value, double scale) {
  if (value <= 0) return std::nullopt;
  return value * scale;
}

constexpr double kSecondsInMs = 1e-3;
constexpr Metric kMetrics[] = {
    {"latency_median_seconds", "Median time of one inference.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().median_ms(), kSecondsInMs); }},
    {"latency_p90_seconds", "90th percentile of the time of one inference.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().p90_ms(), kSecondsInMs); }},
    {"latency_p99_seconds", "99th percentile of the time of one inference.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().p99_ms(), kSecondsInMs); }},
    {"samples_per_second", "Throughput of all instances together: inferences x batch per second.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().samples_per_second(), 1); }},
    {"speedup_ratio", "Time of fp32 over time of this variant.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().speedup().median(), 1); }},
    {"speedup_low_ratio", "Low end of the 95 % interval of the speed-up.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().speedup().low(), 1); }},
    {"speedup_high_ratio", "High end of the 95 % interval of the speed-up.",
     [](const v1::Variant& v) { return IfPositive(v.benchmark().speedup().high(), 1); }},
    {"peak_resident_bytes", "Most memory that a measuring process had.",
     [](const v1::Variant& v) { return IfPositive(static_cast<double>(v.benchmark().peak_rss_bytes()), 1); }},
    {"valid", "1 if the measurement is valid, else 0.",
     [](const v1::Variant& v) -> std::optional<double> { return v.benchmark().valid() ? 1 : 0; }},
};

std::string Prometheus(const v1::Report& report) {
  std::string text;
  for (const Metric& metric : kMetrics) {
    std::string lines;
    for (const v1::Variant* variant : Measured(report)) {
      const std::optional<double> value = metric.value(*variant);
      if (!value.has_value()) continue;
      absl::StrAppend(&lines, "halftone_bench_", metric.name, "{model=\"", Label(report.model()), "\",variant=\"",
                      PrecisionName(variant->precision()), "\",batch=\"", variant->benchmark().batch(), "\",threads=\"",
                      report.benchmark_run().threads(), "\",instances=\"", report.benchmark_run().instances(), "\"} ",
                      Number(*value), "\n");
    }
    if (lines.empty()) continue;
    absl::StrAppend(&text, "# HELP halftone_bench_", metric.name, " ", metric.help, "\n# TYPE halftone_bench_",
                    metric.name, " gauge\n", lines);
  }
  return text;
}

struct FormatRow {
  const char* name;
  ExportFormat format;
  std::string (*text)(const v1::Report&);
};
constexpr FormatRow kFormats[] = {
    {"json", ExportFormat::kJson, [](const v1::Report& report) { return ReportToJson(report); }},
    {"csv", ExportFormat::kCsv, Csv},
    {"google-benchmark", ExportFormat::kGoogleBenchmark, GoogleBenchmark},
    {"text", ExportFormat::kText, Text},
    {"prometheus", ExportFormat::kPrometheus, Prometheus},
};

}  // namespace

std::optional<ExportFormat> ParseExportFormat(absl::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

std::vector<std::string> ExportFormatNames() {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats) names.push_back(row.name);
  return names;
}

std::string Export(const v1::Report& report, ExportFormat format) {
  for (const FormatRow& row : kFormats) {
    if (row.format == format) return row.text(report);
  }
  return "";
}

}  // namespace halftone::report
