#include "report/table.h"

#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "report/explain.h"
#include "report/why.h"

namespace halftone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kReport[] = R"pb(
  model: "net.onnx"
  environment { cpu: "EPYC 9R14" isa: "avx512_core_bf16" threads: 2 }
  variants {
    precision: ORIGINAL
    artifact { size_bytes: 14012345 }
    benchmark {
      median_ms: 12.3456
      speedup { median: 0.9 low: 0.88 high: 0.92 }
      valid: true
      samples: 80
      batch: 4
    }
    fidelity { output: "a" sqnr_db: 999 top1_agreement: 1 rows: 100 }
    top1_accuracy: 0.79
    labelled_samples: 100
  }
  variants {
    precision: FP32
    artifact { size_bytes: 999 }
    benchmark {
      median_ms: 0.98765
      speedup { median: 1 low: 1 high: 1 }
      valid: true
      samples: 80
      batch: 4
    }
    top1_accuracy: 0.79
    labelled_samples: 100
  }
  variants {
    precision: BF16
    artifact { size_bytes: 70123 }
    benchmark {
      median_ms: 123.45
      speedup { median: 1.75 low: 1.7123 high: 1.8 verdict: FASTER }
      valid: false
      invalid_reasons: "cpu was throttled"
      invalid_reasons: "steal 3 %"
      invalid_reasons: "the clock drifted"
      samples: 80
      batch: 4
    }
    fidelity { output: "a" sqnr_db: 33.33 max_abs_error: 0.01234 top1_agreement: 0.98 rows: 100 }
    fidelity { output: "b" sqnr_db: 25.81 max_abs_error: 0.001 top1_agreement: 0.99 rows: 100 }
    summary: "converted 35 of 60 nodes to bfloat16 with 3 casts"
    opaque_ops: "MyOp (2)"
    reference_share: 0.256
    reference_nodes: "lrn1 (lrn)"
    reference_nodes: "b (non_zero)"
    emulated: true
  }
  evaluation_samples: 100
  benchmark_run {
    profile: QUICK
    rounds: 5
    round_seconds: 1
    instances: 1
    invalid_reasons: "the clock drifted"
    self_check { speedup { median: 1.001 low: 0.995 high: 1.008 } }
  }
)pb";

v1::Report Parse(const char* text) {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &report));
  return report;
}

TEST(TerminalTable, Golden) {
  EXPECT_EQ(TerminalTable(Parse(kReport)),
            R"(net.onnx  on EPYC 9R14, avx512_core_bf16, 2 threads, batch 4
variant              size  median ms        speed-up (95 % interval)  SQNR dB  max error  top-1 agreement  top-1 accuracy
original         14.01 MB     12.346          0.900 (0.880 .. 0.920)    exact          0         100.00 %         79.00 %
fp32                999 B     0.9877          1.000 (1.000 .. 1.000)        -          -                -         79.00 %
bf16 (emulated)   70.1 kB      123.5  1.750 (1.712 .. 1.800) INVALID     25.8     0.0123          98.00 %               -
)");
}

TEST(MarkdownTable, Golden) {
  EXPECT_EQ(MarkdownTable(Parse(kReport)),
            R"(**net.onnx  on EPYC 9R14, avx512\_core\_bf16, 2 threads, batch 4**

| variant | size | median ms | speed-up (95 % interval) | SQNR dB | max error | top-1 agreement | top-1 accuracy |
|---|---:|---:|---:|---:|---:|---:|---:|
| original | 14.01 MB | 12.346 | 0.900 (0.880 .. 0.920) | exact | 0 | 100.00 % | 79.00 % |
| fp32 | 999 B | 0.9877 | 1.000 (1.000 .. 1.000) | - | - | - | 79.00 % |
| bf16 (emulated) | 70.1 kB | 123.5 | 1.750 (1.712 .. 1.800) INVALID | 25.8 | 0.0123 | 98.00 % | - |
)");
}

TEST(TerminalTable, NothingMeasuredIsNotZero) {
  v1::Report report;
  report.set_model("m.pb");
  report.add_variants()->set_precision(v1::FP32);
  EXPECT_THAT(TerminalTable(report), Not(HasSubstr("0.00")));
}

TEST(TerminalTable, NoSpeedupFromTooFewRounds) {
  v1::Report report = Parse(kReport);
  report.mutable_variants(2)->mutable_benchmark()->clear_speedup();
  EXPECT_THAT(TerminalTable(report), HasSubstr("- INVALID"));
}

TEST(TerminalTable, AModelsNameCannotSteerTheTerminal) {
  v1::Report report;
  report.set_model("a\x1b[31mb\nc");
  EXPECT_THAT(TerminalTable(report), HasSubstr("a\\x1b[31mb\\x0ac"));
}

TEST(MarkdownTable, AModelsNameCannotMakeMarkup) {
  v1::Report report;
  report.set_model("<img src=x>|`*[");
  EXPECT_THAT(MarkdownTable(report), HasSubstr("&lt;img src=x>\\|\\`\\*\\["));
}

TEST(Notes, SayWhatTheTableHasNoRoomFor) {
  EXPECT_THAT(Notes(Parse(kReport)),
              ElementsAre("bf16: converted 35 of 60 nodes to bfloat16 with 3 casts",
                          "bf16: emulated: this CPU has no native instructions for it",
                          "bf16: benchmark INVALID: cpu was throttled; steal 3 %", "bf16: faster than fp32",
                          "bf16: left as they are, and the model cannot be run: MyOp (2)",
                          "bf16: reference functions take 25.6 % of the time: lrn1 (lrn), "
                          "b (non_zero)",
                          "benchmark: quick (indicative), 5 rounds of 1 s, fp32 against itself "
                          "1.001 (0.995 .. 1.008): INVALID: the clock drifted"));
}

TEST(Notes, PercentilesAndPreparation) {
  v1::Report report;
  v1::Variant* variant = report.add_variants();
  variant->set_precision(v1::FP32);
  v1::Benchmark* benchmark = variant->mutable_benchmark();
  benchmark->set_p90_ms(12.5);
  benchmark->set_load_ms(3.25);
  benchmark->set_plan_ms(0.5);
  benchmark->set_peak_rss_bytes(40'220'000);
  benchmark->set_arena_bytes(204'864);
  report.mutable_benchmark_run()->set_profile(v1::STANDARD);
  EXPECT_THAT(Notes(report),
              ElementsAre("fp32: P90 12.500 ms, P95 n/a, P99 n/a, P99.9 n/a; load 3.250 ms, plan 0.5000 ms; "
                          "40.22 MB resident, 204.9 kB of it for values"));
  report.mutable_benchmark_run()->set_profile(v1::QUICK);
  EXPECT_THAT(Notes(report),
              ElementsAre("fp32: load 3.250 ms, plan 0.5000 ms; 40.22 MB resident, 204.9 kB of it for values"));
}

TEST(Notes, DialectAndFusionsByKind) {
  const v1::Report report = Parse(R"pb(
    dialect: ONNXRUNTIME
    variants {
      precision: FP32
      fusions { pass: "fuse-activation" count: 12 }
      fusions { pass: "fold-offset" count: 1 }
      passes_verified: 9
    }
  )pb");
  EXPECT_THAT(Notes(report), ElementsAre("fp32: 12 x fuse-activation, 1 x fold-offset",
                                         "fp32: answers before and after 9 runs of passes that changed something agree",
                                         "dialect: onnxruntime"));
}

TEST(WhyText, ALineANodeAndNothingTwice) {
  EXPECT_THAT(WhyText(v1::Report()), HasSubstr("no node of a pattern"));
  const v1::Report report = Parse(R"pb(
    variants {
      precision: FP32
      unfused { pass: "fuse-activation" node: "relu_3" reason: "'conv_3' has another user" }
      unfused { pass: "fold-scale" node: "m\n" reason: "the factor is no constant" }
    }
    variants {
      precision: BF16
      unfused { pass: "fuse-activation" node: "relu_3" reason: "'conv_3' has another user" }
    }
  )pb");
  EXPECT_EQ(WhyText(report), R"(not fused in fp32:
  fuse-activation  relu_3  'conv_3' has another user
  fold-scale       m\x0a   the factor is no constant
)");
}

TEST(Notes, CastsAndWhatWasNotRun) {
  const v1::Report report = Parse(R"pb(
    variants { precision: BF16 casts_planned: 12 casts_in_file: 11 casts_run: 3 }
    variants { precision: FP16 casts_in_file: 4 casts_run: -1 not_measured: "not measured: no float16" }
    variants { precision: FP32 }
  )pb");
  EXPECT_THAT(Notes(report), ElementsAre("bf16: casts: 12 planned, 11 in the file, 3 steps of their own when it runs",
                                         "fp16: not measured: no float16", "fp16: casts: 0 planned, 4 in the file"));
}

TEST(ExplainText, ALineANodeOfEveryLoweredVariant) {
  EXPECT_THAT(ExplainText(v1::Report()), HasSubstr("no variant was lowered"));
  const v1::Report report = Parse(R"pb(
    variants {
      precision: FP32
      decisions { node: "c" op: "conv" precision: FP32 rule: "baseline.fp32" reason: "fp32: the baseline" }
    }
    variants {
      precision: BF16
      decisions { node: "conv_1" op: "conv" precision: BF16 rule: "lists.allow" reason: "allow list: Conv2D" }
      decisions { node: "e\n" op: "exp" precision: FP32 rule: "lists.deny-propagation" reason: "deny list: Exp" }
    }
  )pb");
  EXPECT_EQ(ExplainText(report), R"(why each node of bf16 is what it is:
  bf16  conv_1  conv  lists.allow             allow list: Conv2D
  fp32  e\x0a   exp   lists.deny-propagation  deny list: Exp
)");
}

TEST(Worst, NotANumberIsWorst) {
  v1::Variant variant;
  variant.add_fidelity()->set_sqnr_db(30);
  variant.add_fidelity()->set_sqnr_db(std::nan(""));
  variant.add_fidelity()->set_sqnr_db(20);
  EXPECT_TRUE(std::isnan(Worst(variant).sqnr_db));
  EXPECT_FALSE(Worst(v1::Variant()).known);
}

TEST(Notes, SayWhereTheRangesOfInt8CameFrom) {
  v1::Report report;
  v1::Variant& int8 = *report.add_variants();
  int8.set_precision(v1::INT8);
  int8.set_int8_share(0.9512);
  v1::Calibration& calibration = *report.mutable_calibration();
  EXPECT_THAT(Notes(report), ElementsAre("int8: 95.12 % of the multiply-adds are in int8"));
  calibration.set_source("samples");
  calibration.set_samples(50);
  calibration.set_calibrator("percentile");
  calibration.mutable_file()->set_path("out/net.ranges.json");
  for (const char* value : {"a", "b\n"}) {
    v1::SilentChannels& silent = *calibration.add_silent_channels();
    silent.set_value(value);
    silent.set_channels(3);
    calibration.add_still_widening(value);
  }
  EXPECT_THAT(Notes(report), ElementsAre("int8: 95.12 % of the multiply-adds are in int8",
                                         "calibration: 50 samples; percentile; out/net.ranges.json",
                                         "calibration: channels that no sample reached, of 2 values: a (3), b\\x0a (3)",
                                         "calibration: the last sample still widened 2 ranges, give more: a, b\\x0a"));
}

TEST(Notes, SayWhatAnAccuracyGoalCameTo) {
  v1::Report report;
  v1::Variant& int8 = *report.add_variants();
  int8.set_precision(v1::INT8);
  int8.set_int8_share(-1);
  int8.mutable_goal()->set_text("cosine 0.98 (at least 0.99)");
  int8.mutable_goal()->set_raised(3);
  EXPECT_THAT(Notes(report), ElementsAre("int8: goal MISSED: cosine 0.98 (at least 0.99); 3 nodes kept out of int8"));
  int8.mutable_goal()->set_met(true);
  int8.mutable_goal()->set_raised(0);
  EXPECT_THAT(Notes(report), ElementsAre("int8: goal reached: cosine 0.98 (at least 0.99)"));
}

TEST(Notes, SyntheticCalibrationIsLoud) {
  v1::Report report;
  report.mutable_calibration()->set_source("synthetic");
  report.mutable_calibration()->set_synthetic(true);
  report.mutable_calibration()->set_samples(8);
  EXPECT_THAT(Notes(report), ElementsAre(HasSubstr("SYNTHETIC: random numbers, not samples")));
}

}  // namespace
}  // namespace halftone::report
