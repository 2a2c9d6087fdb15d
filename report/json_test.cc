// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "halftone/v1/jobs.pb.h"
#include "nlohmann/json.hpp"

namespace halftone::report {
namespace {

using ::testing::HasSubstr;

// Every field of the contract has a value here; the first test below fails when one is added and forgotten.
constexpr char kFull[] = R"pb(
  model: "net.onnx"
  model_digest { sha256: "ab" size_bytes: 9007199254740993 }
  format: "onnx"
  environment {
    cpu: "EPYC"
    isa: "avx512_core_bf16"
    native_bf16: true
    onednn_version: "3.7.2"
    threads: 2
    cores: 4
    halftone_version: "0.1"
    kernel: "6.1"
    variables: "OMP_NUM_THREADS=2"
    cpu_id: "AuthenticAMD 25/17/1"
    microcode: "0xa1"
    hypervisor: "none"
    sockets: 1
    numa_nodes: 2
    threads_per_core: 2
    governor: "performance"
    turbo: "off"
    huge_pages: "madvise"
    amx: "none"
    cpu_quota: "1.50"
    cpuset: "0-3"
    onednn_commit: "abc"
    compiler: "gcc 14"
    build_id: "f00"
    native_int8: true
  }
  warnings: "careful"
  variants {
    precision: PRECISION_BF16
    artifact { path: "net.bf16.onnx" sha256: "cd" size_bytes: 77 }
    benchmark {
      median_ms: 1.5
      p90_ms: 2.25
      p99_ms: 3
      min_ms: 1
      speedup { median: 1.7 low: 1.6 high: 1.8 verdict: VERDICT_FASTER }
      valid: true
      invalid_reasons: "stolen"
      rounds: 5
      samples: 800
      batch: 1
      round_medians_ms: [ 1.5, 1.25 ]
      p95_ms: 2.5
      p999_ms: 4
      mad_ms: 0.125
      samples_per_second: 640
      load_ms: 3
      compile_ms: 4
      peak_rss_bytes: 5
      arena_bytes: 6
      round_data {
        processes {
          samples_ns: [ 1500000, 1250000 ]
          inferences_per_sample: 1
          warmup_inferences: 50
          warm: true
          load_ms: 3
          compile_ms: 4
          peak_rss_bytes: 5
          arena_bytes: 6
          output_hash: "ab"
          seconds: 1.5
          involuntary_switches: 7
          steal_share: 0.25
          throttled: 8
          load: 1.5
          threads: 2
          tasks: 3
          pinned: true
          major_faults: 9
          swapped_bytes: 10
          spin_us: 11.5
          timer_ns: 24.5
        }
      }
      noise: "steal"
    }
    fidelity { output: "y" sqnr_db: 42.5 cosine: 0.999 max_abs_error: 0.01 top1_agreement: 0.98 rows: 100 }
    top1_accuracy: 0.79
    labelled_samples: 100
    nodes {
      name: "conv1"
      op: "conv+bias"
      precision: PRECISION_BF16
      reason: "allow"
      kernel: "brgconv"
      src_type: "bf16"
      weights_type: "bf16"
      dst_type: "f32"
      median_us: 12.5
      rule: "lists.allow"
    }
    rewrites { pass: "fuse-conv-bias" node: "conv1" reason: "conv(x) + b" }
    summary: "converted"
    emulated: true
    opaque_ops: "Foo (2)"
    reference_share: 0.25
    reference_nodes: "lrn1 (lrn)"
    nodes_before: 60
    nodes_after: 35
    nodes_written: 40
    fusions { pass: "fuse-activation" count: 20 equation: "relu(conv(x)) => conv(x) {relu}" }
    unfused { pass: "fuse-activation" node: "relu3" reason: "'conv3' has another user" }
    passes_verified: 7
    casts_planned: 12
    casts_in_file: 11
    casts_run: 3
    decisions {
      node: "conv1"
      op: "conv"
      precision: PRECISION_BF16
      rule: "lists.allow"
      reason: "allow list: Conv2D"
      sqnr_alone_db: 31.5
      result_min: -0.5
      result_max: 6
    }
    not_measured: "not measured: no float16"
    int8_share: 0.75
    goal {
      met: true
      fallback_nodes: 2
      trials: 3
      seconds: 4.5
      text: "SQNR 20 dB (at least 18)"
      config: "percentile"
      configs { config: "min-max" sqnr_db: 12.5 top1_drop: 0.25 cosine: 0.75 met: true }
    }
    saturation { node: "conv1" saturation: "7 bits" most: 32000 least: -31000 }
    refused_by: "ONNX Runtime"
  }
  evaluation_samples: 100
  seed: 18446744073709551615
  benchmark_run {
    preset: BENCHMARK_PRESET_CUSTOM
    valid: true
    invalid_reasons: "drift"
    rounds: 5
    round_seconds: 0.5
    round_samples: 67
    threads: 2
    instances: 2
    batch: 1
    cold_cache: true
    cores: [ 0, 1, 2, 3 ]
    variables: "OMP_NUM_THREADS=2"
    order: "fp32 again bf16"
    self_check {
      speedup { median: 1 low: 0.99 high: 1.01 verdict: VERDICT_SAME }
      round_medians_ms: 1.5
      round_data {
        processes {
          samples_ns: [ 1500000, 1250000 ]
          inferences_per_sample: 1
          warmup_inferences: 50
          warm: true
          load_ms: 3
          compile_ms: 4
          peak_rss_bytes: 5
          arena_bytes: 6
          output_hash: "ab"
          seconds: 1.5
          involuntary_switches: 7
          steal_share: 0.25
          throttled: 8
          load: 1.5
          threads: 2
          tasks: 3
          pinned: true
          major_faults: 9
          swapped_bytes: 10
          spin_us: 11.5
          timer_ns: 24.5
        }
      }
    }
    spin_drift: 0.03125
    timer_ns: 24.5
    allowed_cores: 4
    test_slow_down: 0.5
    noise_limits { context_switches: 20 steal: 0.125 load: 2 frequency: 0.25 }
    noise: "load"
  }
  policy_sha256: "ef"
  samples { sha256: "12" size_bytes: 3 }
  dialect: DIALECT_ITEX
  calibration {
    samples: 50
    synthetic: true
    calibration_method: "percentile"
    source: "cache"
    file { path: "net.ranges.json" sha256: "34" size_bytes: 5 }
    always_zero_channels { tensor: "conv1" channels: 2 }
    not_converged: "conv2"
    seconds: 1.5
    inputs { sha256: "56" size_bytes: 7 }
  }
  stages { stage: "measure" seconds: 0.25 inference_seconds: 0.125 }
  work { imports: 3 optimizations: 4 processes: 5 }
)pb";

constexpr char kFullJson[] = R"json({
  "model": "net.onnx",
  "model_digest": {
    "sha256": "ab",
    "size_bytes": 9007199254740993
  },
  "format": "onnx",
  "environment": {
    "cpu": "EPYC",
    "isa": "avx512_core_bf16",
    "native_bf16": true,
    "onednn_version": "3.7.2",
    "threads": 2,
    "cores": 4,
    "halftone_version": "0.1",
    "kernel": "6.1",
    "variables": [
      "OMP_NUM_THREADS=2"
    ],
    "cpu_id": "AuthenticAMD 25/17/1",
    "microcode": "0xa1",
    "hypervisor": "none",
    "sockets": 1,
    "numa_nodes": 2,
    "threads_per_core": 2,
    "governor": "performance",
    "turbo": "off",
    "huge_pages": "madvise",
    "amx": "none",
    "cpu_quota": "1.50",
    "cpuset": "0-3",
    "onednn_commit": "abc",
    "compiler": "gcc 14",
    "build_id": "f00",
    "native_int8": true
  },
  "warnings": [
    "careful"
  ],
  "variants": [
    {
      "precision": "bf16",
      "artifact": {
        "path": "net.bf16.onnx",
        "sha256": "cd",
        "size_bytes": 77
      },
      "benchmark": {
        "median_ms": 1.5,
        "p90_ms": 2.25,
        "p99_ms": 3.0,
        "min_ms": 1.0,
        "speedup": {
          "median": 1.7,
          "low": 1.6,
          "high": 1.8,
          "verdict": "faster"
        },
        "valid": true,
        "invalid_reasons": [
          "stolen"
        ],
        "rounds": 5,
        "samples": 800,
        "batch": 1,
        "round_medians_ms": [1.5, 1.25],
        "p95_ms": 2.5,
        "p999_ms": 4.0,
        "mad_ms": 0.125,
        "samples_per_second": 640.0,
        "load_ms": 3.0,
        "compile_ms": 4.0,
        "peak_rss_bytes": 5,
        "arena_bytes": 6,
        "round_data": [
          {
            "processes": [
              {
                "samples_ns": [1500000, 1250000],
                "inferences_per_sample": 1,
                "warmup_inferences": 50,
                "warm": true,
                "load_ms": 3.0,
                "compile_ms": 4.0,
                "peak_rss_bytes": 5,
                "arena_bytes": 6,
                "output_hash": "ab",
                "seconds": 1.5,
                "involuntary_switches": 7,
                "steal_share": 0.25,
                "throttled": 8,
                "load": 1.5,
                "threads": 2,
                "tasks": 3,
                "pinned": true,
                "major_faults": 9,
                "swapped_bytes": 10,
                "spin_us": 11.5,
                "timer_ns": 24.5
              }
            ]
          }
        ],
        "noise": [
          "steal"
        ]
      },
      "fidelity": [
        {
          "output": "y",
          "sqnr_db": 42.5,
          "cosine": 0.999,
          "max_abs_error": 0.01,
          "top1_agreement": 0.98,
          "rows": 100
        }
      ],
      "top1_accuracy": 0.79,
      "labelled_samples": 100,
      "nodes": [
        {
          "name": "conv1",
          "op": "conv+bias",
          "precision": "bf16",
          "reason": "allow",
          "kernel": "brgconv",
          "src_type": "bf16",
          "weights_type": "bf16",
          "dst_type": "f32",
          "median_us": 12.5,
          "rule": "lists.allow"
        }
      ],
      "rewrites": [
        {
          "pass": "fuse-conv-bias",
          "node": "conv1",
          "reason": "conv(x) + b"
        }
      ],
      "summary": "converted",
      "emulated": true,
      "opaque_ops": [
        "Foo (2)"
      ],
      "reference_share": 0.25,
      "reference_nodes": [
        "lrn1 (lrn)"
      ],
      "nodes_before": 60,
      "nodes_after": 35,
      "nodes_written": 40,
      "fusions": [
        {
          "pass": "fuse-activation",
          "count": 20,
          "equation": "relu(conv(x)) => conv(x) {relu}"
        }
      ],
      "unfused": [
        {
          "pass": "fuse-activation",
          "node": "relu3",
          "reason": "'conv3' has another user"
        }
      ],
      "passes_verified": 7,
      "casts_planned": 12,
      "casts_in_file": 11,
      "casts_run": 3,
      "decisions": [
        {
          "node": "conv1",
          "op": "conv",
          "precision": "bf16",
          "rule": "lists.allow",
          "reason": "allow list: Conv2D",
          "sqnr_alone_db": 31.5,
          "result_min": -0.5,
          "result_max": 6.0
        }
      ],
      "not_measured": "not measured: no float16",
      "int8_share": 0.75,
      "goal": {
        "met": true,
        "fallback_nodes": 2,
        "trials": 3,
        "seconds": 4.5,
        "text": "SQNR 20 dB (at least 18)",
        "config": "percentile",
        "configs": [
          {
            "config": "min-max",
            "sqnr_db": 12.5,
            "top1_drop": 0.25,
            "cosine": 0.75,
            "met": true
          }
        ]
      },
      "saturation": [
        {
          "node": "conv1",
          "saturation": "7 bits",
          "most": 32000,
          "least": -31000
        }
      ],
      "refused_by": [
        "ONNX Runtime"
      ]
    }
  ],
  "evaluation_samples": 100,
  "seed": 18446744073709551615,
  "benchmark_run": {
    "preset": "custom",
    "valid": true,
    "invalid_reasons": [
      "drift"
    ],
    "rounds": 5,
    "round_seconds": 0.5,
    "round_samples": 67,
    "threads": 2,
    "instances": 2,
    "batch": 1,
    "cold_cache": true,
    "cores": [0, 1, 2, 3],
    "variables": [
      "OMP_NUM_THREADS=2"
    ],
    "order": [
      "fp32 again bf16"
    ],
    "self_check": {
      "speedup": {
        "median": 1.0,
        "low": 0.99,
        "high": 1.01,
        "verdict": "same"
      },
      "round_medians_ms": [1.5],
      "round_data": [
        {
          "processes": [
            {
              "samples_ns": [1500000, 1250000],
              "inferences_per_sample": 1,
              "warmup_inferences": 50,
              "warm": true,
              "load_ms": 3.0,
              "compile_ms": 4.0,
              "peak_rss_bytes": 5,
              "arena_bytes": 6,
              "output_hash": "ab",
              "seconds": 1.5,
              "involuntary_switches": 7,
              "steal_share": 0.25,
              "throttled": 8,
              "load": 1.5,
              "threads": 2,
              "tasks": 3,
              "pinned": true,
              "major_faults": 9,
              "swapped_bytes": 10,
              "spin_us": 11.5,
              "timer_ns": 24.5
            }
          ]
        }
      ]
    },
    "spin_drift": 0.03125,
    "timer_ns": 24.5,
    "allowed_cores": 4,
    "test_slow_down": 0.5,
    "noise_limits": {
      "context_switches": 20.0,
      "steal": 0.125,
      "load": 2.0,
      "frequency": 0.25
    },
    "noise": [
      "load"
    ]
  },
  "policy_sha256": "ef",
  "samples": [
    {
      "sha256": "12",
      "size_bytes": 3
    }
  ],
  "dialect": "itex",
  "calibration": {
    "samples": 50,
    "synthetic": true,
    "calibration_method": "percentile",
    "source": "cache",
    "file": {
      "path": "net.ranges.json",
      "sha256": "34",
      "size_bytes": 5
    },
    "always_zero_channels": [
      {
        "tensor": "conv1",
        "channels": 2
      }
    ],
    "not_converged": [
      "conv2"
    ],
    "seconds": 1.5,
    "inputs": [
      {
        "sha256": "56",
        "size_bytes": 7
      }
    ]
  },
  "stages": [
    {
      "stage": "measure",
      "seconds": 0.25,
      "inference_seconds": 0.125
    }
  ],
  "work": {
    "imports": 3,
    "optimizations": 4,
    "processes": 5
  }
}
)json";

v1::Report Parse(const char* text) {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &report));
  return report;
}

// Every field below `message` is set.
void ExpectFull(const google::protobuf::Message& message) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    const bool set =
        field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
    EXPECT_TRUE(set) << field.full_name() << ": give it a value in kFull";
    if (!set || field.cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    ExpectFull(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, 0)
                                   : reflection.GetMessage(message, &field));
  }
}

TEST(ReportJson, GoldenOfEveryField) {
  const v1::Report report = Parse(kFull);
  ExpectFull(report);
  EXPECT_EQ(ReportToJson(report), kFullJson);
}

TEST(ReportJson, ThereAndBackIsTheSame) {
  const v1::Report report = Parse(kFull);
  const absl::StatusOr<v1::Report> back = ReportFromJson(ReportToJson(report));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(report, *back)) << back->DebugString();
}

TEST(ReportJson, EveryKeyIsThereAlsoWhenNothingIsSet) {
  v1::Report report;
  report.add_variants()->set_precision(v1::PRECISION_FP32);
  const auto json = nlohmann::json::parse(ReportToJson(report));
  EXPECT_EQ(json["model_digest"]["size_bytes"], 0);
  EXPECT_EQ(json["environment"]["native_bf16"], false);
  EXPECT_EQ(json["warnings"], nlohmann::json::array());
  const auto& variant = json["variants"][0];
  EXPECT_EQ(variant["precision"], "fp32");
  EXPECT_EQ(variant["artifact"]["path"], "");
  EXPECT_EQ(variant["benchmark"]["speedup"]["low"], 0.0);
  EXPECT_EQ(variant["benchmark"]["valid"], false);
  EXPECT_EQ(variant["nodes"], nlohmann::json::array());
}

TEST(ReportJson, NumbersThatJsonCannotSayAreStringsAndComeBack) {
  v1::Report report;
  auto* fidelity = report.add_variants()->add_fidelity();
  fidelity->set_sqnr_db(std::nan(""));
  fidelity->set_max_abs_error(std::numeric_limits<double>::infinity());
  const std::string json = ReportToJson(report);
  EXPECT_THAT(json, HasSubstr("\"sqnr_db\": \"NaN\""));
  EXPECT_THAT(json, HasSubstr("\"max_abs_error\": \"Infinity\""));
  const absl::StatusOr<v1::Report> back = ReportFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(std::isnan(back->variants(0).fidelity(0).sqnr_db()));
  EXPECT_TRUE(std::isinf(back->variants(0).fidelity(0).max_abs_error()));
}

TEST(ReportJson, RejectsWhatIsNotAReport) {
  for (const char* text :
       {"", "[]", "{", "{\"modell\": \"x\"}", "{\"variants\": [{\"precision\": \"BF17\"}]}", "{\"seed\": \"many\"}"}) {
    EXPECT_EQ(ReportFromJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(MessageJson, OfAOneofOnlyTheMemberThatIsSet) {
  v1::Job job;
  job.set_name("jobs/1");
  job.set_state(v1::JOB_STATE_RUNNING);
  job.mutable_create_time()->set_seconds(1700000000);
  job.mutable_spec()->mutable_inspect()->set_text(true);
  job.mutable_spec()->mutable_timeout()->set_seconds(90);
  const auto json = nlohmann::json::parse(MessageToJson(job));
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["create_time"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(json["spec"]["timeout"], "90s");
  EXPECT_TRUE(json["spec"].contains("inspect"));
  EXPECT_FALSE(json["spec"].contains("optimize"));
}

}  // namespace
}  // namespace halftone::report
