// SPDX-License-Identifier: Apache-2.0
#include "report/int8_evidence.h"

#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "report/explain_precision.h"
#include "report/notes.h"

namespace halftone::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

v1::Report Parse(const char* text) {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &report));
  return report;
}

constexpr char kReport[] = R"pb(
  environment { native_int8: true }
  variants { precision: PRECISION_FP32 }
  variants {
    precision: PRECISION_INT8
    int8_share: 1
    decisions {
      node: "conv_1"
      op: "conv"
      precision: PRECISION_INT8
      rule: "int8.contraction"
      reason: "conv"
      sqnr_alone_db: 40.25
    }
    decisions { node: "pool" op: "max_pool" precision: PRECISION_INT8 rule: "int8.between" reason: "max_pool" }
    decisions {
      node: "fc\n"
      op: "matmul"
      precision: PRECISION_FP32
      rule: "int8.accuracy"
      reason: "raised"
      sqnr_alone_db: 12.5
    }
    decisions {
      node: "d"
      op: "conv"
      precision: PRECISION_INT8
      rule: "int8.contraction"
      reason: "conv"
      sqnr_alone_db: 999
    }
    saturation { node: "conv_1" saturation: "safe" most: 30000 least: -1200 }
    saturation { node: "d" saturation: "safe" }
    saturation { node: "e" saturation: "7 bits" most: 31000 least: -31500 }
  }
)pb";

TEST(SaturationNote, CountsAndSaysWhatItMeansHere) {
  v1::Report report = Parse(kReport);
  v1::Variant& int8 = *report.mutable_variants(1);
  EXPECT_EQ(SaturationNote(report.variants(0), report.environment()), "");
  EXPECT_EQ(SaturationNote(int8, report.environment()),
            "int16 saturation: 2 safe, 1 safe with 7-bit weights; on CPUs without VNNI all run in int8");
  EXPECT_THAT(Details(report), Contains(HasSubstr("int8: int16 saturation: 2 safe")));
  int8.mutable_saturation(0)->set_saturation("may saturate");
  int8.mutable_saturation(1)->set_saturation("s8 activations");
  report.mutable_environment()->set_native_int8(false);
  EXPECT_EQ(SaturationNote(int8, report.environment()),
            "int16 saturation: 1 safe with 7-bit weights, 1 may saturate, 1 with s8 activations; on this CPU, without "
            "VNNI, 2 "
            "run in fp32");
}

TEST(SaturationTable, OneLinePerLayer) {
  EXPECT_EQ(SaturationTable(v1::Variant()), "");
  const v1::Report report = Parse(kReport);
  const std::string text = SaturationTable(report.variants(1));
  EXPECT_EQ(text, R"(int16 sums of two u8 x s8 products in int8; CPUs without VNNI saturate outside -32768 .. 32767:
  safe    conv_1  -1200 .. 30000
  safe    d       0 .. 0
  7 bits  e       -31500 .. 31000
)");
  EXPECT_THAT(ExplainPrecision(report), HasSubstr(text));
}

TEST(ExplainPrecision, OfInt8WithRangesAndSqnr) {
  v1::Report report = Parse(kReport);
  report.mutable_variants(1)->mutable_decisions(0)->set_result_min(-1.25);
  report.mutable_variants(1)->mutable_decisions(0)->set_result_max(6);
  report.mutable_variants(1)->clear_saturation();
  EXPECT_EQ(ExplainPrecision(report),
            R"(precision of each node of int8:
  precision  node    op        range       SQNR if only this is int8  rule              reason
  int8       conv_1  conv      [-1.25, 6]  40.2 dB                    int8.contraction  conv
  int8       pool    max_pool  -           -                          int8.between      max_pool
  fp32       fc\x0a  matmul    -           12.5 dB                    int8.accuracy     raised
  int8       d       conv      -           exact                      int8.contraction  conv
)");
}

TEST(ConfigTable, OneLinePerConfigInTheOrderOfTheSearch) {
  EXPECT_EQ(ConfigTable(v1::Report()), "");
  v1::Report report = Parse(R"pb(
    variants {
      precision: PRECISION_INT8
      int8_share: -1
      goal {
        met: true
        text: "20.5 dB (at least 20.0)"
        config: "percentile, smooth-quant"
        configs { config: "min-max" sqnr_db: 12.5 top1_drop: 0.25 cosine: 0.75 }
        configs { config: "percentile, smooth-quant" sqnr_db: 20.5 top1_drop: 0 cosine: 0.9995 met: true }
      }
    }
  )pb");
  EXPECT_EQ(ConfigTable(report),
            R"(quantization configurations tried for the accuracy goal (*: chosen):
      12.5 dB  top-1 drop  0.2500  cosine 0.750000  missed  min-max
  *   20.5 dB  top-1 drop  0.0000  cosine 0.999500  met     percentile, smooth-quant
)");
  EXPECT_THAT(Notes(report),
              Contains("int8: accuracy goal reached: 20.5 dB (at least 20.0); configuration percentile, smooth-quant"));
  report.mutable_variants(0)->mutable_goal()->mutable_configs()->DeleteSubrange(1, 1);
  EXPECT_EQ(ConfigTable(report), "") << "the user's own alone";
  EXPECT_THAT(Notes(report), Contains("int8: accuracy goal reached: 20.5 dB (at least 20.0)"));
}

TEST(SensitivityTable, TheWorstFirst) {
  EXPECT_EQ(SensitivityTable(v1::Report(), 10), "") << "not measured";
  v1::Report report = Parse(kReport);
  EXPECT_EQ(
      SensitivityTable(report, 10),
      R"(per-layer sensitivity: SQNR of the model when only this node is int8, worst first (3 of 3); precision in the file:
    12.5 dB  fp32  fc\x0a  matmul
    40.2 dB  int8  conv_1  conv
      exact  int8  d       conv
)");
  report.mutable_variants(1)->mutable_decisions(0)->set_sqnr_alone_db(std::nan(""));
  EXPECT_THAT(SensitivityTable(report, 1), HasSubstr("(1 of 3); precision in the file:\n     nan dB"));
}

}  // namespace
}  // namespace halftone::report
