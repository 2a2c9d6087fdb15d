// SPDX-License-Identifier: Apache-2.0
#include "formats/ranges/ranges_json.h"

#include <bit>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RangesFile Example() {
  RangesFile file{.tool_version = "0.1.0",
                  .model_sha256 = std::string(64, 'a'),
                  .samples_sha256 = std::string(64, '0'),
                  .calibrator = Calibrator::kEntropy,
                  .integers = {DataType::kInt8, true, true},
                  .percentile = 99.9};
  file.ranges.samples = 50;
  file.ranges.values["conv1/Relu6"] = {.min = 0,
                                       .max = 5.9f,
                                       .calibrator = Calibrator::kEntropy,
                                       .observed_max = 6,
                                       .count = 1204224ull * 50,
                                       .zeros = 7,
                                       .bin_width = 0.00390625,
                                       .channel_axis = 1,
                                       .channel_magnitudes = {0, 6, 0.1f},
                                       .channel_means = {0, 2.5f, -0.05f},
                                       .still_widening = true};
  file.ranges.values["a \"name\" \n:0"] = {.min = -1e-40f, .max = 0.1f, .observed_min = -0.5f, .observed_max = 0.1f};
  return file;
}

TEST(RangesJson, ReadsBackExactly) {
  RangesFile file = Example();
  std::mt19937 random(3);
  std::uniform_int_distribution<uint32_t> bits(0, 0x7f7fffff);
  for (int i = 0; i < 300; ++i) {  // any f32
    ValueRange& range = file.ranges.values["v" + std::to_string(i)];
    range.max = std::bit_cast<float>(bits(random));
    range.min = -std::bit_cast<float>(bits(random));
    range.channel_magnitudes = {range.max, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()};
    range.channel_means = {range.min, -0.5f, std::numeric_limits<float>::lowest()};
    range.count = std::numeric_limits<uint64_t>::max();
  }
  const std::string text = WriteRanges(file);
  const absl::StatusOr<RangesFile> read = ReadRanges(text, "ranges.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, file);
  EXPECT_EQ(WriteRanges(*read), text);
}

TEST(RangesJson, NoValues) {
  const RangesFile file;
  const absl::StatusOr<RangesFile> read = ReadRanges(WriteRanges(file), "x");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, file);
}

TEST(RangesJson, ShortNumbersInStableOrder) {
  const std::string text = WriteRanges(Example());
  EXPECT_THAT(text, HasSubstr("\"max\":5.9,"));
  EXPECT_LT(text.find("\"format\""), text.find("\"model_sha256\""));
  EXPECT_LT(text.find("\"model_sha256\""), text.find("\"values\""));
  EXPECT_LT(text.find("a \\\"name\\\""), text.find("conv1/Relu6"));
}

TEST(RangesJson, SyntheticSamplesAreSaidLoudly) {
  RangesFile file = Example();
  EXPECT_THAT(WriteRanges(file), Not(HasSubstr("warning")));
  file.ranges.synthetic = true;
  EXPECT_THAT(WriteRanges(file), HasSubstr("\"warning\": \"These ranges come from random numbers"));
  EXPECT_TRUE(ReadRanges(WriteRanges(file), "x")->ranges.synthetic);
}

TEST(RangesJson, ErrorsNameFileAndField) {
  struct Row {
    std::string from, to, error;
  };
  const Row rows[] = {
      {"\"format\": \"halftone-ranges\"", "\"format\": \"other\"", "field 'format' is 'other'"},
      {"\"version\": 2", "\"version\": 1", "field 'version' is 1; this program reads version 2"},
      {"\"version\": 2,", "", "field 'version' is missing"},
      {"\"version\": 2", "\"version\": 2, \"extra\": 3", "field 'extra' is not known"},
      {"\"calibration_method\": \"entropy\"", "\"calibration_method\": \"kl\"",
       "field 'calibration_method' is 'kl', must be one of min-max, moving"},
      {"\"type\": \"s8\"", "\"type\": \"s32\"", "field 'type' is 's32', must be u8 or s8"},
      {"\"symmetric\": true", "\"symmetric\": 1", "field 'symmetric' must be true or false"},
      {"\"samples\": 50", "\"samples\": -1", "field 'samples' must be an integer from 0"},
      {std::string(64, 'a'), "AB", "field 'model_sha256' must be empty or 64"},
      {"\"max\":5.9", "\"max\":\"6\"", "field 'values.conv1/Relu6.max' must be a number"},
      {"\"max\":5.9", "\"max\":1e39", "field 'values.conv1/Relu6.max' is 1e+39, which is no f32"},
      {"\"max\":5.9", "\"max\":-1", "field 'values.conv1/Relu6.min' is 0, above the max -1"},
      {"\"max\":5.9", "\"mux\":5.9", "field 'values.conv1/Relu6.max' is missing"},
      {"\"zeros\":7", "\"zeros\":7.5", "field 'values.conv1/Relu6.zeros' must be an integer of at least 0"},
      {"\"zeros\":7", "\"zeros\":99999999999", "field 'values.conv1/Relu6.zeros' is above count"},
      {"[0.0,6.0,0.1]", "[0.0,null,0.1]", "field 'values.conv1/Relu6.channel_magnitudes[1]' must be a number"},
      {"[0.0,6.0,0.1]", "6", "field 'values.conv1/Relu6.channel_magnitudes' must be a list"},
      {"[0.0,2.5,-0.05]", "[0.0,2.5]",
       "field 'values.conv1/Relu6.channel_means' has 2 numbers, channel_magnitudes has 3"},
      {"\"channel_axis\":1", "\"channel_axis\":1e30",
       "field 'values.conv1/Relu6.channel_axis' must be an integer from -1 to 63"},
      {"\"max\":5.9", "\"max\":NaN", "the file is not JSON"},
      {"\"max\":5.9", "\"max\":1e999", "the file is not JSON"},
  };
  const std::string text = WriteRanges(Example());
  for (const Row& row : rows) {
    std::string changed = text;
    ASSERT_NE(changed.find(row.from), std::string::npos) << row.from;
    changed.replace(changed.find(row.from), row.from.size(), row.to);
    const absl::Status status = ReadRanges(changed, "my/ranges.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("my/ranges.json: "), HasSubstr(row.error)));
  }
}

TEST(RangesJson, OtherFiles) {
  for (const std::string text : {"", "[]", "7", "{", "null", "{\"values\": 3}"}) {
    EXPECT_EQ(ReadRanges(text, "x").status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(std::string(ReadRanges("[]", "x").status().message()), HasSubstr("must be an object"));
}

}  // namespace
}  // namespace halftone
