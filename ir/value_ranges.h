// SPDX-License-Identifier: Apache-2.0
// Between which numbers the values of a graph lie: what a calibration found out, and what quantization is made of.
// Plain data; read from and written to files by formats/ranges.
#ifndef HALFTONE_IR_VALUE_RANGES_H_
#define HALFTONE_IR_VALUE_RANGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/types.h"

namespace halftone {

// How a range was chosen.
enum class Calibrator : uint8_t {
  kMinMax,            // all that was seen
  kMovingAverage,     // the extremes of the batches, averaged
  kPercentile,        // all but a small share of the numbers
  kEntropy,           // the smallest loss of information (Kullback-Leibler divergence)
  kMeanSquaredError,  // the smallest mean squared error
  kLog,               // the extremes of a log of TensorFlow's, trimmed
};

// "min-max", "moving-average", "percentile", "entropy", "mse", "log": the names in flags (--calibration-method), policies,
// files and reports.
std::string_view CalibratorName(Calibrator calibrator);
std::optional<Calibrator> CalibratorFromName(std::string_view name);

struct ValueRange {
  // What is to be represented; finite, min <= max.
  float min = 0;
  float max = 0;
  Calibrator calibrator = Calibrator::kMinMax;

  // What was seen.
  float observed_min = 0;
  float observed_max = 0;
  uint64_t count = 0;    // of numbers; 0: not known (a log, or the value had no elements)
  uint64_t zeros = 0;    // among them
  double bin_width = 0;  // of the histogram; 0: there was none
  // The value's dimension along which channels lie, and the largest magnitude seen in each; -1 and empty: not known.
  int channel_axis = -1;
  std::vector<float> channel_magnitudes = {};
  // The mean of each of these channels; empty: not known.
  std::vector<float> channel_means = {};
  // The range still grew notably at the last sample: more samples would widen it further.
  bool still_widening = false;

  // Channels in which no sample had anything but 0.
  std::vector<int64_t> AlwaysZeroChannels() const;
  bool operator==(const ValueRange&) const = default;
};

// Value type, thread-compatible.
struct ValueRanges {
  std::map<std::string, ValueRange> values;  // by RangeName
  int64_t samples = 0;
  bool synthetic = false;  // the samples were made up: ranges of real data will differ

  // nullptr if nothing is known of this value.
  const ValueRange* Find(const Graph& graph, ValueId value) const;
  bool operator==(const ValueRanges&) const = default;
};

// The name under which ranges of a value are kept: the value's own, else that of its node with the number of the output
// ("#12:0" where neither has a name).
std::string RangeName(const Graph& graph, ValueId value);

// Integers q stand for (q - zero_point) * scale.
struct QuantizationParameters {
  float scale = 1;
  int32_t zero_point = 0;
  bool operator==(const QuantizationParameters&) const = default;
};

struct QuantizationChoice {
  DataType type = DataType::kUInt8;  // kUInt8 or kInt8
  // The zero point is 0, of u8 that has to hold negative numbers 128.
  bool symmetric = false;
  bool narrow = false;  // without the smallest integer: s8 from -127 on, as weights have it; u8 from 1 on

  bool operator==(const QuantizationChoice&) const = default;
};

struct IntegerLimits {
  int low = 0;
  int high = 0;
};
IntegerLimits LimitsOf(const QuantizationChoice& choice);  // REQUIRES: kUInt8 or kInt8

// The parameters with which integers reach over [min, max] and 0, so that 0 is an integer exactly (padding and relu
// need it). The scale is a normal f32 whose inverse is one too: an all-zero range gets 1, one that is too small the
// smallest of those. The ends are held to half a step: zero points are rounded to nearest even. Errors:
// INVALID_ARGUMENT for NaN, infinities, min > max, another type.
absl::StatusOr<QuantizationParameters> QuantizationFor(float min, float max, const QuantizationChoice& choice);

}  // namespace halftone

#endif  // HALFTONE_IR_VALUE_RANGES_H_
