// SPDX-License-Identifier: Apache-2.0
// Golden texts of every format.

#include "report/export.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "report/json.h"

namespace halftone::report {
namespace {

constexpr char kReport[] = R"pb(
  model: "a \"net\", small.onnx"
  format: "onnx"
  environment {
    cpu: "EPYC 9R14"
    isa: "avx512_core_bf16"
    onednn_version: "3.7.2"
    cores: 4
    halftone_version: "0.1"
    governor: "powersave"
  }
  variants { precision: PRECISION_ORIGINAL }
  variants {
    precision: PRECISION_FP32
    artifact { size_bytes: 9000 }
    benchmark {
      median_ms: 10.5
      min_ms: 10
      mad_ms: 0.25
      speedup { median: 1 low: 1 high: 1 verdict: VERDICT_SAME }
      valid: true
      rounds: 2
      samples: 8
      batch: 4
      round_medians_ms: [ 10, 11 ]
      samples_per_second: 95.5
      load_ms: 3.5
      compile_ms: 40
      peak_rss_bytes: 50000000
      arena_bytes: 1024
      round_data {
        processes {
          samples_ns: [ 1, 2, 3, 4 ]
          inferences_per_sample: 2
        }
      }
      round_data {
        processes {
          samples_ns: [ 1, 2, 3, 4 ]
          inferences_per_sample: 1
        }
      }
    }
  }
  variants {
    precision: PRECISION_BF16
    artifact { size_bytes: 4500 }
    benchmark {
      median_ms: 5
      p90_ms: 6
      p95_ms: 7
      p99_ms: 8
      min_ms: 4.5
      mad_ms: 0.125
      speedup { median: 2.1 low: 2 high: 2.25 verdict: VERDICT_FASTER }
      valid: false
      invalid_reasons: "stolen"
      rounds: 2
      samples: 700
      batch: 4
      round_medians_ms: [ 5, 5 ]
      samples_per_second: 200
    }
  }
  benchmark_run { preset: BENCHMARK_PRESET_STANDARD rounds: 2 round_seconds: 0.6 threads: 2 instances: 1 batch: 4 }
)pb";

v1::Report Parsed() {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kReport, &report));
  return report;
}

TEST(Export, FormatsHaveNames) {
  EXPECT_THAT(ExportFormatNames(), ::testing::ElementsAre("json", "csv", "google-benchmark", "text", "prometheus"));
  for (const std::string& name : ExportFormatNames()) EXPECT_TRUE(ParseExportFormat(name).has_value()) << name;
  EXPECT_FALSE(ParseExportFormat("xml").has_value());
}

TEST(Export, JsonIsReportJson) { EXPECT_EQ(Export(Parsed(), ExportFormat::kJson), ReportToJson(Parsed())); }

TEST(Export, CsvGolden) {
  EXPECT_EQ(
      Export(Parsed(), ExportFormat::kCsv),
      R"csv(model,variant,valid,preset,threads,instances,batch,cold_cache,rounds,samples,median_ms,mad_ms,min_ms,p90_ms,p95_ms,p99_ms,p999_ms,samples_per_second,speedup,speedup_low,speedup_high,verdict,load_ms,compile_ms,peak_rss_bytes,arena_bytes,model_bytes
"a ""net"", small.onnx",fp32,true,standard,2,1,4,false,2,8,10.5,0.25,10.0,,,,,95.5,1.0,1.0,1.0,same,3.5,40.0,50000000,1024,9000
"a ""net"", small.onnx",bf16,false,standard,2,1,4,false,2,700,5.0,0.125,4.5,6.0,7.0,8.0,,200.0,2.1,2.0,2.25,faster,0.0,0.0,0,0,4500
)csv");
}

TEST(Export, TextGolden) {
  EXPECT_EQ(Export(Parsed(), ExportFormat::kText), R"text(=== Model ===
File: a "net", small.onnx
Format: onnx

=== Device ===
CPU: EPYC 9R14
ISA: avx512_core_bf16
oneDNN: 3.7.2

=== Benchmark ===
Preset: standard
Rounds: 2
Threads: 2
Instances: 1
Batch: 4
Weights: warm

=== Performance summary: fp32 ===
Status: VALID
Throughput: 95.50 qps
Latency: min = 10.0000 ms, median = 10.5000 ms, percentile(90%) = n/a, percentile(95%) = n/a, percentile(99%) = n/a, percentile(99.9%) = n/a
Speed-up over fp32: 1.000 (95 % interval 1.000 .. 1.000): same
Setup: load 3.5 ms, compile 40.0 ms
Memory: peak resident 50000000 B, arena 1024 B, file 9000 B

=== Performance summary: bf16 ===
Status: INVALID
  stolen
Throughput: 200.00 qps
Latency: min = 4.5000 ms, median = 5.0000 ms, percentile(90%) = 6.0000 ms, percentile(95%) = 7.0000 ms, percentile(99%) = 8.0000 ms, percentile(99.9%) = n/a
Speed-up over fp32: 2.100 (95 % interval 2.000 .. 2.250): faster
Setup: load 0.0 ms, compile 0.0 ms
Memory: peak resident 0 B, arena 0 B, file 4500 B
)text");
}

TEST(Export, PrometheusGolden) {
  EXPECT_EQ(Export(Parsed(), ExportFormat::kPrometheus),
            R"metrics(# HELP halftone_bench_latency_median_seconds Median time of one inference.
# TYPE halftone_bench_latency_median_seconds gauge
halftone_bench_latency_median_seconds{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 0.0105
halftone_bench_latency_median_seconds{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 0.005
# HELP halftone_bench_latency_p90_seconds 90th percentile of the time of one inference.
# TYPE halftone_bench_latency_p90_seconds gauge
halftone_bench_latency_p90_seconds{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 0.006
# HELP halftone_bench_latency_p99_seconds 99th percentile of the time of one inference.
# TYPE halftone_bench_latency_p99_seconds gauge
halftone_bench_latency_p99_seconds{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 0.008
# HELP halftone_bench_samples_per_second Throughput of all instances together: inferences x batch per second.
# TYPE halftone_bench_samples_per_second gauge
halftone_bench_samples_per_second{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 95.5
halftone_bench_samples_per_second{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 200.0
# HELP halftone_bench_speedup_ratio Time of fp32 over time of this variant.
# TYPE halftone_bench_speedup_ratio gauge
halftone_bench_speedup_ratio{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 1.0
halftone_bench_speedup_ratio{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 2.1
# HELP halftone_bench_speedup_low_ratio Low end of the 95 % interval of the speed-up.
# TYPE halftone_bench_speedup_low_ratio gauge
halftone_bench_speedup_low_ratio{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 1.0
halftone_bench_speedup_low_ratio{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 2.0
# HELP halftone_bench_speedup_high_ratio High end of the 95 % interval of the speed-up.
# TYPE halftone_bench_speedup_high_ratio gauge
halftone_bench_speedup_high_ratio{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 1.0
halftone_bench_speedup_high_ratio{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 2.25
# HELP halftone_bench_peak_resident_bytes Most memory that a measuring process had.
# TYPE halftone_bench_peak_resident_bytes gauge
halftone_bench_peak_resident_bytes{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 50000000.0
# HELP halftone_bench_valid 1 if the measurement is valid, else 0.
# TYPE halftone_bench_valid gauge
halftone_bench_valid{model="a \"net\", small.onnx",variant="fp32",batch="4",threads="2",instances="1"} 1.0
halftone_bench_valid{model="a \"net\", small.onnx",variant="bf16",batch="4",threads="2",instances="1"} 0.0
)metrics");
}

TEST(Export, GoogleBenchmarkGolden) {
  v1::Report report = Parsed();
  report.mutable_variants()->RemoveLast();
  EXPECT_EQ(Export(report, ExportFormat::kGoogleBenchmark), R"json({
  "context": {
    "executable": "halftone 0.1",
    "num_cpus": 4,
    "cpu_scaling_enabled": true,
    "load_avg": [],
    "library_build_type": "release",
    "json_schema_version": 1
  },
  "benchmarks": [
    {
      "name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "run_type": "iteration",
      "repetitions": 2,
      "threads": 2,
      "real_time": 10.0,
      "cpu_time": 10.0,
      "time_unit": "ms",
      "repetition_index": 0,
      "iterations": 8
    },
    {
      "name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "run_type": "iteration",
      "repetitions": 2,
      "threads": 2,
      "real_time": 11.0,
      "cpu_time": 11.0,
      "time_unit": "ms",
      "repetition_index": 1,
      "iterations": 4
    },
    {
      "name": "a \"net\", small.onnx/fp32/batch:4/threads:2_mean",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "run_type": "aggregate",
      "repetitions": 2,
      "threads": 2,
      "real_time": 10.5,
      "cpu_time": 10.5,
      "time_unit": "ms",
      "aggregate_name": "mean",
      "aggregate_unit": "time",
      "iterations": 2
    },
    {
      "name": "a \"net\", small.onnx/fp32/batch:4/threads:2_median",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "run_type": "aggregate",
      "repetitions": 2,
      "threads": 2,
      "real_time": 10.5,
      "cpu_time": 10.5,
      "time_unit": "ms",
      "aggregate_name": "median",
      "aggregate_unit": "time",
      "iterations": 2
    },
    {
      "name": "a \"net\", small.onnx/fp32/batch:4/threads:2_stddev",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "a \"net\", small.onnx/fp32/batch:4/threads:2",
      "run_type": "aggregate",
      "repetitions": 2,
      "threads": 2,
      "real_time": 0.7071067811865476,
      "cpu_time": 0.7071067811865476,
      "time_unit": "ms",
      "aggregate_name": "stddev",
      "aggregate_unit": "time",
      "iterations": 2
    }
  ]
}
)json");
}

TEST(Export, NothingMeasured) {
  v1::Report report;
  report.add_variants()->set_precision(v1::PRECISION_FP32);
  EXPECT_EQ(Export(report, ExportFormat::kPrometheus), "");
  EXPECT_TRUE(nlohmann::json::parse(Export(report, ExportFormat::kGoogleBenchmark))["benchmarks"].empty());
}

}  // namespace
}  // namespace halftone::report
