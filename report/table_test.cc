// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "report/explain_fusion.h"
#include "report/explain_precision.h"

namespace halftone::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kReport[] = R"pb(
  model: "net.onnx"
  environment { cpu: "EPYC 9R14" isa: "avx512_core_bf16" threads: 2 }
  variants {
    precision: PRECISION_ORIGINAL
    artifact { size_bytes: 14012345 }
    benchmark {
      median_ms: 12.3456
      samples_per_second: 324.002
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
    precision: PRECISION_FP32
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
    precision: PRECISION_BF16
    artifact { size_bytes: 70123 }
    benchmark {
      median_ms: 123.45
      samples_per_second: 32.4018
      speedup { median: 1.75 low: 1.7123 high: 1.8 verdict: VERDICT_FASTER }
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
    preset: BENCHMARK_PRESET_QUICK
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
variant             size  median ms  samples/s    speed-up (95 % interval)  SQNR dB  max error  top-1 agreement  top-1 accuracy
original        14.01 MB     12.346        324      0.900 (0.880 .. 0.920)    exact          0         100.00 %         79.00 %
fp32               999 B     0.9877          -      1.000 (1.000 .. 1.000)        -          -                -         79.00 %
bf16 [1][2][3]   70.1 kB      123.5       32.4  1.750 (1.712 .. 1.800) [4]     25.8     0.0123          98.00 %               -
[1] emulated: this CPU has no native instructions for it
[2] unsupported ops are passed through unchanged, the model cannot run here: MyOp (2)
[3] reference kernels take 25.6 % of the time: lrn1 (lrn), b (non_zero)
[4] INVALID: cpu was throttled; steal 3 %; the clock drifted
)");
}

TEST(MarkdownTable, Golden) {
  EXPECT_EQ(MarkdownTable(Parse(kReport)),
            R"(**net.onnx  on EPYC 9R14, avx512\_core\_bf16, 2 threads, batch 4**

| variant | size | median ms | samples/s | speed-up (95 % interval) | SQNR dB | max error | top-1 agreement | top-1 accuracy |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| original | 14.01 MB | 12.346 | 324 | 0.900 (0.880 .. 0.920) | exact | 0 | 100.00 % | 79.00 % |
| fp32 | 999 B | 0.9877 | - | 1.000 (1.000 .. 1.000) | - | - | - | 79.00 % |
| bf16 \[1]\[2]\[3] | 70.1 kB | 123.5 | 32.4 | 1.750 (1.712 .. 1.800) \[4] | 25.8 | 0.0123 | 98.00 % | - |

\[1] emulated: this CPU has no native instructions for it  
\[2] unsupported ops are passed through unchanged, the model cannot run here: MyOp (2)  
\[3] reference kernels take 25.6 % of the time: lrn1 (lrn), b (non\_zero)  
\[4] INVALID: cpu was throttled; steal 3 %; the clock drifted  
)");
}

TEST(TerminalTable, NothingMeasuredIsNotZero) {
  v1::Report report;
  report.set_model("m.pb");
  report.add_variants()->set_precision(v1::PRECISION_FP32);
  EXPECT_THAT(TerminalTable(report), Not(HasSubstr("0.00")));
}

TEST(TerminalTable, NoSpeedupFromTooFewRounds) {
  v1::Report report = Parse(kReport);
  report.mutable_variants(2)->mutable_benchmark()->clear_speedup();
  EXPECT_THAT(TerminalTable(report), HasSubstr("- [4]"));
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

TEST(ExplainFusion, OneLinePerNodeAndNothingTwice) {
  EXPECT_THAT(ExplainFusion(v1::Report()), HasSubstr("not applied: none"));
  const v1::Report report = Parse(R"pb(
    variants {
      precision: PRECISION_FP32
      unfused { pass: "fuse-activation" node: "relu_3" reason: "'conv_3' has another user" }
      unfused { pass: "fold-scale" node: "m\n" reason: "the factor is no constant" }
    }
    variants {
      precision: PRECISION_BF16
      unfused { pass: "fuse-activation" node: "relu_3" reason: "'conv_3' has another user" }
    }
  )pb");
  EXPECT_EQ(ExplainFusion(report), R"(not applied in fp32 (rule, node, failed condition):
  fuse-activation  relu_3  'conv_3' has another user
  fold-scale       m\x0a   the factor is no constant
)");
}

TEST(ExplainPrecision, OneLinePerNodeOfEveryConvertedVariant) {
  EXPECT_THAT(ExplainPrecision(v1::Report()), HasSubstr("no variant was converted"));
  const v1::Report report = Parse(R"pb(
    variants {
      precision: PRECISION_FP32
      decisions { node: "c" op: "conv" precision: PRECISION_FP32 rule: "baseline.fp32" reason: "fp32: the baseline" }
    }
    variants {
      precision: PRECISION_BF16
      decisions { node: "conv_1" op: "conv" precision: PRECISION_BF16 rule: "lists.allow" reason: "allow list: Conv2D" }
      decisions {
        node: "e\n"
        op: "exp"
        precision: PRECISION_FP32
        rule: "lists.deny-propagation"
        reason: "deny list: Exp"
      }
    }
  )pb");
  EXPECT_EQ(ExplainPrecision(report), R"(precision of each node of bf16:
  precision  node    op    rule                    reason
  bf16       conv_1  conv  lists.allow             allow list: Conv2D
  fp32       e\x0a   exp   lists.deny-propagation  deny list: Exp
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

TEST(Worst, Top1DoesNotApplyToRowsOfOneElement) {
  v1::Variant variant;
  variant.add_fidelity()->set_sqnr_db(30);
  EXPECT_FALSE(Worst(variant).top1_agreement.has_value());
  variant.add_fidelity()->set_top1_agreement(0.9);
  EXPECT_EQ(Worst(variant).top1_agreement, 0.9);
}

TEST(Footnotes, AFileThatTheRuntimeRefusesIsMarked) {
  const v1::Report report = Parse(R"pb(
    variants { precision: PRECISION_FP32 }
    variants {
      precision: PRECISION_BF16
      refused_by: "ONNX Runtime does not load the file"
      benchmark { samples: 9 valid: true noise: "load 3.0" }
    }
    variants { precision: PRECISION_FP16 not_measured: "not measured: no float16" }
  )pb");
  const std::string table = TerminalTable(report);
  EXPECT_THAT(table, HasSubstr("\nbf16 [1] "));
  EXPECT_THAT(table, HasSubstr("\n[1] ONNX Runtime does not load the file\n"
                               "[2] noisy, but the interval decides: load 3.0\n[3] not measured: no float16\n"));
  EXPECT_THAT(MarkdownTable(report), HasSubstr("\n\\[1] ONNX Runtime does not"));
}

}  // namespace
}  // namespace halftone::report
