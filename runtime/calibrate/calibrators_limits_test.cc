// SPDX-License-Identifier: Apache-2.0
// The calibrators that choose nothing, tensors that are hostile, options that are wrong.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/calibrate/calibrators.h"

namespace halftone {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<float>;

constexpr DataType kU8 = DataType::kUInt8, kS8 = DataType::kInt8;

ValueRange RangeFor(const Numbers& numbers, Calibrator calibrator, DataType type, bool symmetric) {
  TensorStatistics statistics;
  EXPECT_EQ(statistics.Add(numbers), std::nullopt);
  const absl::StatusOr<ValueRange> range = MakeValueRange(statistics, {calibrator, {type, symmetric}});
  EXPECT_TRUE(range.ok()) << range.status();
  EXPECT_EQ(range->count, numbers.size());
  return *range;
}

TEST(Calibrators, MinMaxAndMovingAverage) {
  TensorStatistics statistics;
  for (const float x : {1.0f, 2.0f, 3.0f}) ASSERT_EQ(statistics.Add(Numbers{-x, 2 * x}), std::nullopt);
  const Range all = ChooseRange(statistics, {Calibrator::kMinMax}).value();
  EXPECT_EQ(all.min, -3);
  EXPECT_EQ(all.max, 6);
  const Range average = ChooseRange(statistics, {Calibrator::kMovingAverage}).value();
  EXPECT_NEAR(average.min, -(1.01 + 0.01 * (3 - 1.01)), 1e-12);
  EXPECT_NEAR(average.max, 2 * (1.01 + 0.01 * (3 - 1.01)), 1e-12);
}

// Nothing that comes out is NaN, inside out or beyond what was seen, and it can be quantized to.
TEST(Calibrators, HostileTensors) {
  const float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  const Numbers tensors[] = {{},
                             {0},
                             {0, -0.0f, 0, 0},
                             Numbers(5000, 3.5f),
                             Numbers(5000, -2.0f),
                             {tiny},
                             {-tiny, tiny},
                             {huge},
                             {-huge, huge},
                             {huge, tiny, 0},
                             {1, 1e-30f, -1e30f},
                             {5, 6, 7},
                             Numbers(3000, -huge),
                             {-8, -9},
                             Numbers(3000, tiny),
                             {0, 1}};
  for (const Numbers& numbers : tensors) {
    for (int calibrator = 0; calibrator < static_cast<int>(Calibrator::kLog); ++calibrator) {
      for (const DataType type : {kU8, kS8}) {
        for (const bool symmetric : {false, true}) {
          SCOPED_TRACE(testing::Message() << numbers.size() << " numbers " << (numbers.empty() ? 0 : numbers[0]) << " "
                                          << CalibratorName(static_cast<Calibrator>(calibrator)) << symmetric);
          const ValueRange range = RangeFor(numbers, static_cast<Calibrator>(calibrator), type, symmetric);
          EXPECT_GE(range.min, std::min(range.observed_min, 0.0f));
          EXPECT_LE(range.max, std::max(range.observed_max, 0.0f));
          EXPECT_LE(range.min, range.max);
          EXPECT_TRUE(QuantizationFor(range.min, range.max, {type, symmetric}).ok());
        }
      }
    }
  }
  for (const float constant : {3.5f, -2.0f, 1e-30f, 1e30f}) {  // kept whole by every calibrator
    for (int calibrator = 0; calibrator < static_cast<int>(Calibrator::kLog); ++calibrator) {
      const ValueRange range = RangeFor(Numbers(5000, constant), static_cast<Calibrator>(calibrator), kU8, false);
      EXPECT_NEAR((constant > 0 ? range.max : range.min) / constant, 1, 0.002) << calibrator;
    }
  }
}

TEST(Calibrators, Refusals) {
  TensorStatistics statistics;
  EXPECT_THAT(ChooseRange(statistics, {.percentile = 50}).status().message(), HasSubstr("percentile is 50"));
  EXPECT_THAT(ChooseRange(statistics, {.percentile = 101}).status().message(), HasSubstr("at most 100"));
  EXPECT_THAT(ChooseRange(statistics, {.percentile = std::nan("")}).status().message(), HasSubstr("percentile"));
  EXPECT_THAT(ChooseRange(statistics, {.integers = {DataType::kInt32}}).status().message(), HasSubstr("not s32"));
  EXPECT_THAT(ChooseRange(statistics, {Calibrator::kLog}).status().message(), HasSubstr("'log'"));
}

}  // namespace
}  // namespace halftone
