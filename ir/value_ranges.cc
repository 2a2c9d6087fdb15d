// SPDX-License-Identifier: Apache-2.0
#include "ir/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kCalibratorNames[] = {"min-max", "moving-average", "percentile", "entropy", "mse", "log"};
static_assert(std::size(kCalibratorNames) == static_cast<size_t>(Calibrator::kLog) + 1);

// TensorFlow's FakeQuant says a scale by both ends of its range, in f32: it is their difference divided by 255. About
// one number in 250 is no such quotient. Then its neighbour, which is one: a file can say it to the bit.
float NearestQuotient(float scale) {
  constexpr float kSteps = 255;
  const float width = scale * kSteps;
  if (!std::isfinite(width)) return scale;
  const float candidates[] = {width, std::nextafter(width, 0.0f),
                              std::nextafter(width, std::numeric_limits<float>::infinity())};
  const bool is_one = std::ranges::any_of(candidates, [&](float candidate) { return candidate / kSteps == scale; });
  return is_one ? scale : width / kSteps;
}

}  // namespace

std::string_view CalibratorName(Calibrator calibrator) { return kCalibratorNames[static_cast<int>(calibrator)]; }

std::optional<Calibrator> CalibratorFromName(std::string_view name) {
  const auto it = std::ranges::find(kCalibratorNames, name);
  if (it == std::end(kCalibratorNames)) return std::nullopt;
  return static_cast<Calibrator>(it - std::begin(kCalibratorNames));
}

std::vector<int64_t> ValueRange::AlwaysZeroChannels() const {
  std::vector<int64_t> channels;
  for (size_t i = 0; i < channel_magnitudes.size(); ++i) {
    if (channel_magnitudes[i] == 0) channels.push_back(static_cast<int64_t>(i));
  }
  return channels;
}

std::string RangeName(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  return v.name.empty() ? Concat(graph.Label(v.producer), ":", v.port) : v.name;
}

const ValueRange* ValueRanges::Find(const Graph& graph, ValueId value) const {
  const auto it = values.find(RangeName(graph, value));
  return it == values.end() ? nullptr : &it->second;
}

IntegerLimits LimitsOf(const QuantizationChoice& choice) {
  const int narrow = choice.narrow ? 1 : 0;
  return choice.type == DataType::kUInt8 ? IntegerLimits{narrow, 255} : IntegerLimits{-128 + narrow, 127};
}

absl::StatusOr<QuantizationParameters> QuantizationFor(float min, float max, const QuantizationChoice& choice) {
  if (choice.type != DataType::kUInt8 && choice.type != DataType::kInt8) {
    return absl::InvalidArgumentError(Concat("quantized types are u8 and s8, not ", DataTypeName(choice.type)));
  }
  if (!std::isfinite(min) || !std::isfinite(max) || min > max) {
    return absl::InvalidArgumentError(Concat("the range [", min, ", ", max, "] is none: both ends must be finite, ",
                                             "the first not above the second"));
  }
  const double low = std::min(min, 0.0f), high = std::max(max, 0.0f);
  const IntegerLimits limits = LimitsOf(choice);
  double zero = 0, scale = 0;
  if (choice.symmetric) {
    if (choice.type == DataType::kUInt8) zero = low < 0 ? 128 : limits.low;
    scale = high / (limits.high - zero);
    if (low < 0) scale = std::max(scale, low / (limits.low - zero));
  } else {
    scale = (high - low) / (limits.high - limits.low);
  }
  // As f32, before the zero point is found with it; its inverse is finite, too.
  float rounded = static_cast<float>(scale);
  if (low == 0 && high == 0) rounded = 1;
  rounded = std::max(rounded, std::numeric_limits<float>::min());
  if (!choice.narrow) rounded = NearestQuotient(rounded);  // narrow ones are weights, which no FakeQuant says
  if (!choice.symmetric) {
    zero = std::clamp<double>(std::nearbyint(limits.low - low / rounded), limits.low, limits.high);
  }
  return QuantizationParameters{rounded, static_cast<int32_t>(zero)};
}

}  // namespace halftone
