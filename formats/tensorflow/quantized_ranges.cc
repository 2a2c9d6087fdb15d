// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/quantized_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::graphdef {
namespace {

constexpr float kLastStep = 255;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The next number below, unless the quotient is not above `scale`, as real numbers.
float HighestWithin(float scale, double highest) {
  auto high = static_cast<float>(scale * highest);
  while (high / highest > scale) high = std::nextafter(high, 0.0f);
  return high;
}

}  // namespace

float EndOfSteps(float scale, float steps) {
  float end = scale * steps;
  for (const float candidate : {std::nextafter(end, 0.0f), std::nextafter(end, kInfinity)}) {
    if (end / steps != scale && candidate / steps == scale) end = candidate;
  }
  return end;
}

std::optional<QuantizationParameters> FakeQuantParameters(EndsOfRange ends, bool narrow) {
  const float first = narrow ? 1.0f : 0.0f;
  const float scale = (ends.high - ends.low) / (kLastStep - first);
  if (!std::isfinite(ends.low) || !std::isfinite(ends.high) || !std::isnormal(scale) || scale < 0) return std::nullopt;
  const float from_low = first - ends.low / scale;
  const float zero = from_low < first ? first : from_low > kLastStep ? kLastStep : std::round(from_low);
  return QuantizationParameters{scale, static_cast<int32_t>(zero)};
}

std::optional<EndsOfRange> FakeQuantRange(const QuantizationParameters& parameters) {
  const float width = EndOfSteps(parameters.scale, kLastStep);
  if (!std::isfinite(width)) return std::nullopt;
  // Both ends are multiples of the width's last bit, so that their difference is the width exactly.
  const double bit = static_cast<double>(std::nextafter(width, kInfinity)) - width;
  const double low = -std::nearbyint(static_cast<double>(parameters.zero_point) * parameters.scale / bit) * bit;
  const EndsOfRange ends{static_cast<float>(low), static_cast<float>(low + width)};
  return std::isfinite(ends.high) ? std::optional(ends) : std::nullopt;
}

std::optional<float> DequantizeScale(EndsOfRange ends, DataType type, bool narrow) {
  const std::optional<IntegerRange> range = QuantizedRange(type);
  if (!range.has_value()) return std::nullopt;
  const float by_high = ends.high / static_cast<float>(range->high);
  const float by_low = range->low == 0 ? by_high : ends.low / static_cast<float>(range->low + (narrow ? 1 : 0));
  const float scale = std::max(by_low, by_high);
  return std::isnormal(scale) && scale > 0 ? std::optional(scale) : std::nullopt;
}

std::optional<EndsOfRange> DequantizeRangeOf(float scale, DataType type) {
  const std::optional<IntegerRange> range = QuantizedRange(type);
  if (!range.has_value()) return std::nullopt;
  if (range->low == 0) {
    const float high = EndOfSteps(scale, kLastStep);
    return high / kLastStep == scale && std::isfinite(high) ? std::optional(EndsOfRange{0, high}) : std::nullopt;
  }
  const float low = scale * static_cast<float>(range->low);
  if (!std::isfinite(low)) return std::nullopt;
  return EndsOfRange{low, HighestWithin(scale, static_cast<double>(range->high))};
}

bool SameButForRounding(const QuantizationParameters& a, const QuantizationParameters& b) {
  constexpr float kRounding = 1e-6f;
  return a.zero_point == b.zero_point && std::abs(a.scale - b.scale) <= kRounding * std::max(a.scale, b.scale);
}

}  // namespace halftone::graphdef
