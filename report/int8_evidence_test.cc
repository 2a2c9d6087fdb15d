#include "report/int8_evidence.h"

#include <cmath>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "report/explain.h"
#include "report/table.h"

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
  variants { precision: FP32 }
  variants {
    precision: INT8
    int8_share: 1
    decisions { node: "conv_1" op: "conv" precision: INT8 rule: "int8.contraction" reason: "conv" sqnr_alone_db: 40.25 }
    decisions { node: "pool" op: "max_pool" precision: INT8 rule: "int8.between" reason: "max_pool" }
    decisions { node: "fc\n" op: "matmul" precision: FP32 rule: "int8.accuracy" reason: "raised" sqnr_alone_db: 12.5 }
    decisions { node: "d" op: "conv" precision: INT8 rule: "int8.contraction" reason: "conv" sqnr_alone_db: 999 }
    saturation { node: "conv_1" saturation: "proved" most: 30000 least: -1200 }
    saturation { node: "d" saturation: "proved" }
    saturation { node: "e" saturation: "7 bits" most: 31000 least: -31500 }
  }
)pb";

TEST(SaturationNote, CountsAndSaysWhatItMeansHere) {
  v1::Report report = Parse(kReport);
  v1::Variant& int8 = *report.mutable_variants(1);
  EXPECT_EQ(SaturationNote(report.variants(0), report.environment()), "");
  EXPECT_EQ(
      SaturationNote(int8, report.environment()),
      "saturation: 2 layers proved, 1 with 7 bits; this CPU sums in 32 bits, one without VNNI computes all of them "
      "in int8");
  EXPECT_THAT(Notes(report), Contains(HasSubstr("int8: saturation: 2 layers proved")));
  int8.mutable_saturation(0)->set_saturation("may saturate");
  int8.mutable_saturation(1)->set_saturation("s8 activations");
  report.mutable_environment()->set_native_int8(false);
  EXPECT_EQ(
      SaturationNote(int8, report.environment()),
      "saturation: 1 layer with 7 bits, 1 may saturate, 1 with s8 activations; this CPU has no VNNI and computes 2 "
      "of them in fp32");
}

TEST(SaturationText, ALineALayer) {
  EXPECT_EQ(SaturationText(v1::Variant()), "");
  const v1::Report report = Parse(kReport);
  const std::string text = SaturationText(report.variants(1));
  EXPECT_EQ(text, R"(sums of pairs of products of bytes in int8; without VNNI they have to lie in -32768 .. 32767:
  proved  conv_1  -1200 .. 30000
  proved  d       0 .. 0
  7 bits  e       -31500 .. 31000
)");
  EXPECT_THAT(ExplainText(report), HasSubstr(text));
}

TEST(ExplainText, OfInt8WithRangesAndSqnr) {
  v1::Report report = Parse(kReport);
  report.mutable_variants(1)->mutable_decisions(0)->set_result_min(-1.25);
  report.mutable_variants(1)->mutable_decisions(0)->set_result_max(6);
  report.mutable_variants(1)->clear_saturation();
  EXPECT_EQ(
      ExplainText(report),
      R"(why each node of int8 is what it is; with the range of its result, and the SQNR where it alone is int8 (-: not known):
  int8  conv_1  conv      [-1.25, 6]  40.2 dB  int8.contraction  conv
  int8  pool    max_pool  -           -        int8.between      max_pool
  fp32  fc\x0a  matmul    -           12.5 dB  int8.accuracy     raised
  int8  d       conv      -           exact    int8.contraction  conv
)");
}

TEST(ConfigTable, ALineAConfigInTheOrderOfTheSearch) {
  EXPECT_EQ(ConfigTable(v1::Report()), "");
  v1::Report report = Parse(R"pb(
    variants {
      precision: INT8
      int8_share: -1
      goal {
        met: true
        text: "20.5 dB (at least 20.0)"
        config: "percentile, smooth"
        configs { config: "min-max" sqnr_db: 12.5 top1_drop: 0.25 cosine: 0.75 }
        configs { config: "percentile, smooth" sqnr_db: 20.5 top1_drop: 0 cosine: 0.9995 met: true }
      }
    }
  )pb");
  EXPECT_EQ(ConfigTable(report),
            R"(configs tried for the goal with everything in int8, * is taken:
      12.5 dB  top-1 drop  25.00 points  cosine 0.750000  missed  min-max
  *   20.5 dB  top-1 drop   0.00 points  cosine 0.999500  met     percentile, smooth
)");
  EXPECT_THAT(Notes(report), Contains("int8: goal reached: 20.5 dB (at least 20.0); config percentile, smooth"));
  report.mutable_variants(0)->mutable_goal()->mutable_configs()->DeleteSubrange(1, 1);
  EXPECT_EQ(ConfigTable(report), "") << "the user's own alone";
  EXPECT_THAT(Notes(report), Contains("int8: goal reached: 20.5 dB (at least 20.0)"));
}

TEST(SensitivityTable, TheWorstFirst) {
  EXPECT_EQ(SensitivityTable(v1::Report(), 10), "") << "not measured";
  v1::Report report = Parse(kReport);
  EXPECT_EQ(SensitivityTable(report, 10),
            R"(SQNR where one node alone is int8, worst first (3 of 3), and what the node is in the file:
    12.5 dB  fp32  fc\x0a  matmul
    40.2 dB  int8  conv_1  conv
      exact  int8  d       conv
)");
  report.mutable_variants(1)->mutable_decisions(0)->set_sqnr_alone_db(std::nan(""));
  EXPECT_THAT(SensitivityTable(report, 1), HasSubstr("(1 of 3), and what the node is in the file:\n     nan dB"));
}

}  // namespace
}  // namespace halftone::report
