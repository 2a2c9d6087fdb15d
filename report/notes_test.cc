// SPDX-License-Identifier: Apache-2.0
#include "report/notes.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace halftone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Report Parse(const char* text) {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &report));
  return report;
}

TEST(Notes, AreFewHoweverMuchIsKnown) {
  const v1::Report report = Parse(R"pb(
    dialect: DIALECT_ONNXRUNTIME
    variants {
      precision: PRECISION_BF16
      summary: "converted 35 of 60 nodes to bfloat16 with 3 casts"
      casts_planned: 3
      fusions { pass: "fuse-activation" count: 12 }
      opaque_ops: "MyOp (2)"
      emulated: true
      int8_share: -1
      benchmark {
        samples: 9
        peak_rss_bytes: 4000
        speedup { verdict: VERDICT_FASTER }
      }
    }
    benchmark_run {
      preset: BENCHMARK_PRESET_QUICK
      rounds: 5
      round_seconds: 1
      instances: 1
      self_check { speedup { median: 1.001 low: 0.995 high: 1.008 } }
    }
  )pb");
  EXPECT_THAT(Notes(report),
              ElementsAre("bf16: converted 35 of 60 nodes to bfloat16 with 3 casts", "dialect: onnxruntime",
                          "benchmark: quick (indicative), 5 rounds of 1 s, A/A test (fp32 against itself) "
                          "1.001 (0.995 .. 1.008)"));
}

TEST(Details, LatencyAndSetup) {
  v1::Report report;
  v1::Variant* variant = report.add_variants();
  variant->set_precision(v1::PRECISION_FP32);
  v1::Benchmark* benchmark = variant->mutable_benchmark();
  benchmark->set_p90_ms(12.5);
  benchmark->set_load_ms(3.25);
  benchmark->set_compile_ms(0.5);
  benchmark->set_peak_rss_bytes(40'220'000);
  benchmark->set_arena_bytes(204'864);
  report.mutable_benchmark_run()->set_preset(v1::BENCHMARK_PRESET_STANDARD);
  EXPECT_THAT(Details(report),
              ElementsAre("fp32: P90 12.500 ms, P95 n/a, P99 n/a, P99.9 n/a; load 3.250 ms, compile 0.5000 ms; "
                          "40.22 MB resident, 204.9 kB of it activations"));
  report.mutable_benchmark_run()->set_preset(v1::BENCHMARK_PRESET_QUICK);
  EXPECT_THAT(Details(report),
              ElementsAre("fp32: load 3.250 ms, compile 0.5000 ms; 40.22 MB resident, 204.9 kB of it activations"));
}

TEST(Details, FusionsByKindAndCasts) {
  const v1::Report report = Parse(R"pb(
    variants {
      precision: PRECISION_FP32
      fusions { pass: "fuse-activation" count: 12 }
      fusions { pass: "fold-offset" count: 1 }
      passes_verified: 9
    }
    variants { precision: PRECISION_BF16 casts_planned: 12 casts_in_file: 11 casts_run: 3 }
    variants { precision: PRECISION_FP16 casts_in_file: 4 casts_run: -1 }
  )pb");
  EXPECT_THAT(Details(report), ElementsAre("fp32: fused: 12 x fuse-activation, 1 x fold-offset",
                                           "fp32: outputs before and after 9 runs of passes agree",
                                           "bf16: casts: 12 planned, 11 in the file, 3 run as steps of their own",
                                           "fp16: casts: 0 planned, 4 in the file"));
  EXPECT_THAT(Notes(report), IsEmpty());
}

TEST(Notes, CalibrationDataOfInt8) {
  v1::Report report;
  v1::Variant& int8 = *report.add_variants();
  int8.set_precision(v1::PRECISION_INT8);
  int8.set_int8_share(0.9512);
  v1::Calibration& calibration = *report.mutable_calibration();
  int8.set_summary("2 of 3 convolutions and matmuls and 1 other node to int8");
  const char* note = "int8: 2 of 3 convolutions and matmuls and 1 other node to int8; 95.1 % of the MACs in int8";
  EXPECT_THAT(Notes(report), ElementsAre(note));
  calibration.set_source("samples");
  calibration.set_samples(50);
  calibration.set_calibration_method("percentile");
  calibration.mutable_file()->set_path("out/net.ranges.json");
  for (const char* tensor : {"a", "b\n"}) {
    v1::AlwaysZeroChannels& row = *calibration.add_always_zero_channels();
    row.set_tensor(tensor);
    row.set_channels(3);
    calibration.add_not_converged(tensor);
  }
  EXPECT_THAT(Notes(report), ElementsAre(note, "calibration: 50 samples; percentile; out/net.ranges.json"));
  EXPECT_THAT(Details(report),
              ElementsAre("calibration: always-zero channels in 2 tensors: a (3), b\\x0a (3)",
                          "calibration: not converged, 2 ranges still grew at the last sample, give more: a, b\\x0a"));
}

TEST(Notes, AccuracyGoal) {
  v1::Report report;
  v1::Variant& int8 = *report.add_variants();
  int8.set_precision(v1::PRECISION_INT8);
  int8.set_int8_share(-1);
  int8.mutable_goal()->set_text("cosine 0.98 (at least 0.99)");
  int8.mutable_goal()->set_fallback_nodes(3);
  EXPECT_THAT(Notes(report), ElementsAre("int8: accuracy goal MISSED: cosine 0.98 (at least 0.99); 3 fallback nodes"));
  int8.mutable_goal()->set_met(true);
  int8.mutable_goal()->set_fallback_nodes(0);
  EXPECT_THAT(Notes(report), ElementsAre("int8: accuracy goal reached: cosine 0.98 (at least 0.99)"));
}

TEST(Notes, RandomCalibrationDataIsLoud) {
  v1::Report report;
  report.mutable_calibration()->set_source("synthetic");
  report.mutable_calibration()->set_synthetic(true);
  report.mutable_calibration()->set_samples(8);
  EXPECT_THAT(Notes(report), ElementsAre(HasSubstr("RANDOM DATA")));
}

}  // namespace
}  // namespace halftone::report
