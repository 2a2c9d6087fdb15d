// SPDX-License-Identifier: Apache-2.0
#include "formats/ranges/min_max_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(MinMaxLog, ReadsRecordsAmongOtherLines) {
  const absl::StatusOr<MinMaxLog> log = ParseMinMaxLog(
      "2026-01-01 Something; else\n"
      "[prefix] ;a/Conv2D_eightbit_requant_range__print__;__requant_min_max:[-2.5][10.25]\r\n"
      ";p_eightbit_max_in__print__;__max:[5.5];p_eightbit_min_in__print__;__min:[-0]\n"
      ";a/Conv2D_eightbit_requant_range__print__;__requant_min_max:[-3e-05][1.5e+10]\n"
      ";a/Conv2D_eightbit_requant_range__print__;__requant_min_max:[1][;b__print__\n"
      ";a/Conv2D_eightbit_requant_range;__requant_min_max:[1][2]\n"
      ";q__print__;__min:[1][2]\n"
      ";q__print__;[1][2]",
      "log");
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_EQ(log->nodes.size(), 3);
  EXPECT_EQ(log->nodes[0].name, "a/Conv2D_eightbit_requant_range");
  EXPECT_THAT(log->nodes[0].mins, ElementsAre(-2.5f, -3e-05f));
  EXPECT_THAT(log->nodes[0].maxs, ElementsAre(10.25f, 1.5e10f));
  EXPECT_EQ(log->nodes[1].name, "p_eightbit_max_in");
  EXPECT_THAT(log->nodes[1].maxs, ElementsAre(5.5f));
  EXPECT_TRUE(log->nodes[1].mins.empty());
  EXPECT_THAT(log->nodes[2].mins, ElementsAre(-0.0f));
  // Line 6 has no "__print__" at all.
  EXPECT_THAT(log->unread_lines, ElementsAre(5, 7));
}

TEST(MinMaxLog, Refusals) {
  EXPECT_THAT(std::string(ParseMinMaxLog("hello\n", "my.log").status().message()),
              AllOf(HasSubstr("my.log"), HasSubstr("no line has a range")));
  EXPECT_THAT(std::string(ParseMinMaxLog("", "my.log").status().message()), HasSubstr("no line has a range"));
  for (const std::string number : {"nan", "-nan", "inf", "-inf"}) {
    EXPECT_THAT(
        std::string(ParseMinMaxLog("\n;n__print__;__requant_min_max:[" + number + "][1]", "my.log").status().message()),
        AllOf(HasSubstr("my.log:2: node 'n' printed"), HasSubstr("no end of a range")));
  }
}

LoggedNode Records(int count) {
  LoggedNode node{"n", {}, {}};
  for (int i = 0; i < count; ++i) {  // 0, 1, ... in another order
    const int k = i * 7 % count;
    node.mins.push_back(static_cast<float>(k));
    node.maxs.push_back(static_cast<float>(100 + k));
  }
  return node;
}

// What freeze_requantization_ranges takes: indices in sorted records, halves away from zero, the last one at most.
TEST(MinMaxLog, TrimsAsTensorFlow) {
  struct Row {
    int count;
    float percentile;
    float min, max;
  };
  const Row rows[] = {{1, 5, 0, 100},   {10, 5, 1, 109},     {9, 5, 0, 108},  {20, 5, 1, 119}, {100, 5, 5, 195},
                      {100, 0, 0, 199}, {100, 100, 99, 100}, {31, 5, 2, 129}, {50, 5, 3, 148}, {50, 1, 1, 149}};
  for (const Row& row : rows) {
    const TrimmedRange range = Trim(Records(row.count), {row.percentile, row.percentile});
    EXPECT_EQ(range.min, row.min) << row.count << " " << row.percentile;
    EXPECT_EQ(range.max, row.max) << row.count << " " << row.percentile;
  }
}

Graph Model() {
  return ParseGraph(R"(graph (x: f32[1,8,8,3]) {
    w = const f32[3,3,3,4]  b = const f32[4]  v = const f32[1,1,4,4]
    c1: f32[1,6,6,4] = conv(x, w) {layout="NHWC", weights_layout="HWIO"} name="c1"
    bias1 = bias_add(c1, b) {layout="NHWC"} name="bias1"
    r1 = relu(bias1) name="r1"
    c2 = conv(r1, v) {layout="NHWC", weights_layout="HWIO"} name="c2"
    bias2 = bias_add(c2, b) {layout="NHWC"} name="bias2"
    sum2 = add(bias2, r1) name="sum2"
    r2 = relu6(sum2) name="r2"
    t = tanh(r2) name="t"
    return t
  })")
      .value();
}

ValueRanges RangesIn(const std::string& text) {
  const absl::StatusOr<MinMaxLog> log = ParseMinMaxLog(text, "log");
  EXPECT_TRUE(log.ok()) << log.status();
  const absl::StatusOr<ValueRanges> ranges = RangesOfLog(*log, Model(), {}, "log");
  EXPECT_TRUE(ranges.ok()) << ranges.status();
  return *ranges;
}

TEST(RangesOfLog, FindsTheEndOfFusions) {
  const ValueRanges ranges = RangesIn(
      ";c1_eightbit_requant_range__print__;__requant_min_max:[0][3]\n"
      ";c2_eightbit_requant_range__print__;__requant_min_max:[-1][5.5]\n"
      ";t_eightbit_requant_range__print__;__requant_min_max:[-0.5][0.5]\n");
  ASSERT_EQ(ranges.values.size(), 3);
  EXPECT_EQ(ranges.values.at("r1").max, 3);
  EXPECT_EQ(ranges.values.at("r2").min, -1);
  EXPECT_EQ(ranges.values.at("r2").max, 5.5);
  EXPECT_EQ(ranges.values.at("t").max, 0.5);
  EXPECT_EQ(ranges.values.at("t").calibrator, Calibrator::kLog);
}

// Stock quantize_graph.py prints for each op by itself.
TEST(RangesOfLog, StopsWhereTheNextNodeHasItsOwn) {
  const ValueRanges ranges = RangesIn(
      ";c1_eightbit_requant_range__print__;__requant_min_max:[-7][7]\n"
      ";bias1_eightbit_requant_range__print__;__requant_min_max:[-8][8]\n"
      ";r1_eightbit_requant_range__print__;__requant_min_max:[0][8]\n");
  EXPECT_EQ(ranges.values.at("c1").max, 7);
  EXPECT_EQ(ranges.values.at("bias1").min, -8);
  EXPECT_EQ(ranges.values.at("r1").min, 0);
}

TEST(RangesOfLog, MinAndMaxOfInputs) {
  const ValueRanges ranges = RangesIn(
      ";c1_eightbit_min_x__print__;__min:[-2]\n;c1_eightbit_max_x__print__;__max:[4]\n"
      ";t_eightbit_max_r2__port__0__print__;__max:[6];t_eightbit_min_r2__port__0__print__;__min:[0]\n");
  EXPECT_EQ(ranges.values.at("x").min, -2);
  EXPECT_EQ(ranges.values.at("x").max, 4);
  EXPECT_EQ(ranges.values.at("r2").max, 6);
}

TEST(RangesOfLog, Refusals) {
  struct Row {
    std::string text, error;
  };
  const Row rows[] = {
      {";gone_eightbit_requant_range__print__;__requant_min_max:[0][1]",
       "node 'gone_eightbit_requant_range' stands for no value"},
      {";c1__print__;__requant_min_max:[0][1]", "node 'c1' stands for no value"},
      {";t_eightbit_max_gone__print__;__max:[1]", "stands for no value"},
      {";t_eightbit_max_r2__port__3__print__;__max:[1]", "stands for no value"},
      {";t_eightbit_max_r2__print__;__max:[1]", "of value 'r2' there are 0 minima and 1 maxima"},
  };
  for (const Row& row : rows) {
    const MinMaxLog log = ParseMinMaxLog(row.text, "log").value();
    EXPECT_THAT(std::string(RangesOfLog(log, Model(), {}, "my.log").status().message()),
                AllOf(HasSubstr("my.log"), HasSubstr(row.error)));
  }
  const MinMaxLog log = ParseMinMaxLog(rows[0].text, "log").value();
  EXPECT_THAT(std::string(RangesOfLog(log, Model(), {101, 5}, "my.log").status().message()),
              HasSubstr("percentile is 101"));
}

}  // namespace
}  // namespace halftone
