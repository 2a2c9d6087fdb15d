// SPDX-License-Identifier: Apache-2.0
// What may be changed about a config, and what it is called.

#include "optimizer/quantization_configs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangesFor, OnlyWhatTheUserLeftOpen) {
  Int8Options int8;
  EXPECT_THAT(ChangesFor(int8),
              ElementsAre(ConfigChange::kSmooth, ConfigChange::kMeanSquaredError, ConfigChange::kPercentile,
                          ConfigChange::kEntropy, ConfigChange::kClipWeights));
  int8.smooth = true;
  int8.calibrator_is_named = true;
  EXPECT_THAT(ChangesFor(int8), ElementsAre(ConfigChange::kClipWeights));
  int8.calibrator_is_named = false;
  int8.quantize.clip_weights = true;
  int8.ranges = SampleFile{"r.json", "r.json"};
  EXPECT_THAT(ChangesFor(int8), IsEmpty()) << "ranges that a file gave are not chosen again";
}

TEST(ChangesFor, NothingWithoutRangesOrWhereItIsSwitchedOff) {
  for (const Int8Mode mode : {Int8Mode::kDynamic, Int8Mode::kWeightOnly}) {
    Int8Options int8;
    int8.mode = mode;
    EXPECT_THAT(ChangesFor(int8), IsEmpty());
  }
  Int8Options switched_off;
  switched_off.search_configs = false;
  EXPECT_THAT(ChangesFor(switched_off), IsEmpty());
}

TEST(Changed, OneThingAtATime) {
  QuantizationConfig config;
  EXPECT_EQ(DescribeConfig(config), "min-max");
  config = Changed(config, ConfigChange::kSmooth);
  EXPECT_EQ(DescribeConfig(config), "min-max, smooth-quant");
  config = Changed(config, ConfigChange::kMeanSquaredError);
  EXPECT_EQ(DescribeConfig(config), "mse, smooth-quant");
  config = Changed(config, ConfigChange::kPercentile);
  config = Changed(config, ConfigChange::kClipWeights);
  EXPECT_EQ(DescribeConfig(config), "percentile, smooth-quant, clip-weights");
  EXPECT_EQ(Changed(config, ConfigChange::kEntropy), (QuantizationConfig{Calibrator::kEntropy, true, true}));
}

}  // namespace
}  // namespace halftone
