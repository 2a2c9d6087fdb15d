// SPDX-License-Identifier: Apache-2.0
// Ranges that are constants, as scales and zero points.

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/quantized_ranges.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

constexpr int kLow = 1, kHigh = 2;  // inputs
constexpr int kHalfOfSteps = 128;   // between u8 and s8

// The ranges of the node by inputs 1 and 2; empty where they are no constants of f32 with one number each, or, of
// channels, one a channel.
std::vector<EndsOfRange> ConstantEnds(const RuleInput& input, bool of_channels) {
  const Tensor* low = input.context.constant(kLow);
  const Tensor* high = input.context.constant(kHigh);
  if (low == nullptr || high == nullptr || low->type() != DataType::kFloat32 || high->type() != DataType::kFloat32)
    return {};
  if (low->num_elements() != high->num_elements() || low->num_elements() == 0) return {};
  if (of_channels ? low->rank() != 1 || high->rank() != 1 : low->num_elements() != 1) return {};
  std::vector<EndsOfRange> ends;
  for (int64_t i = 0; i < low->num_elements(); ++i) ends.push_back({low->data<float>()[i], high->data<float>()[i]});
  return ends;
}

void KeepEnds(const RuleInput& input, const std::vector<EndsOfRange>& ends, Attributes& extra) {
  std::vector<float> numbers;
  for (const EndsOfRange& range : ends) numbers.push_back(range.low);
  for (const EndsOfRange& range : ends) numbers.push_back(range.high);
  extra.Set(std::string(kExtraRange), std::move(numbers));
  extra.Set(std::string(kExtraRangeNames),
            std::vector<std::string>{input.context.input_name(kLow), input.context.input_name(kHigh)});
}

// Scalars, or of rank 1 where they are of channels.
Tensor ScalesOf(const std::vector<float>& scales, bool of_channels) {
  const std::vector<int64_t> dims =
      of_channels ? std::vector<int64_t>{static_cast<int64_t>(scales.size())} : std::vector<int64_t>{};
  return Tensor::Of<float>(dims, scales);
}

Tensor ZeroPointsOf(const std::vector<int32_t>& zeros, DataType type, bool of_channels) {
  Tensor result(type, of_channels ? std::vector<int64_t>{static_cast<int64_t>(zeros.size())} : std::vector<int64_t>{});
  for (size_t i = 0; i < zeros.size(); ++i) result.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(zeros[i]);
  return result;
}

// Whether no number of the constant is saturated by its range, but by less than half a step.
bool LiesWithin(const Tensor& x, const std::vector<QuantizationParameters>& channels, float first) {
  if (x.type() != DataType::kFloat32 || x.num_elements() % static_cast<int64_t>(channels.size()) != 0) return false;
  const std::span<const float> numbers = x.data<float>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const QuantizationParameters& channel = channels[i % channels.size()];
    const float step = std::nearbyint(numbers[i] / channel.scale) + static_cast<float>(channel.zero_point);
    if (!(step >= first && step <= 255)) return false;
  }
  return true;
}

}  // namespace

// fake_quant(x, low, high)  =>  dequantize(quantize(x, scale, zero), scale, zero)
//
// of u8, and of s8 where x is a constant: weights. The scale is exactly TensorFlow's. Its own op rounds halves up, the
// pair to even: what lies just between two steps may be one step apart. Not read so: other than 8 bits, ranges that are
// no constants, and narrow ones (a pair has no step less) but of constants, which they hold.
absl::StatusOr<bool> ReadFakeQuant(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t bits, input.Int("num_bits", 8));
  HALFTONE_ASSIGN_OR_RETURN(const bool narrow, input.Bool("narrow_range", false));
  if (bits != 8) return false;
  const bool of_channels = input.row.tf_op.ends_with("PerChannel");
  std::vector<EndsOfRange> ends;
  if (input.row.tf_op.ends_with("Args")) {
    HALFTONE_ASSIGN_OR_RETURN(const float low, input.Float("min", -6));
    HALFTONE_ASSIGN_OR_RETURN(const float high, input.Float("max", 6));
    ends.push_back({low, high});
  } else {
    ends = ConstantEnds(input, of_channels);
    if (ends.empty()) return false;
    KeepEnds(input, ends, result.node.extra);
  }
  std::vector<QuantizationParameters> channels;
  for (const EndsOfRange& range : ends) {
    const std::optional<QuantizationParameters> parameters = FakeQuantParameters(range, narrow);
    if (!parameters.has_value()) return false;
    channels.push_back(*parameters);
  }
  const Tensor* weights = input.context.constant(0);
  const DataType type = weights == nullptr ? DataType::kUInt8 : DataType::kInt8;
  if (narrow && (weights == nullptr || !LiesWithin(*weights, channels, 1))) return false;
  std::vector<float> scales;
  std::vector<int32_t> zeros;
  for (const QuantizationParameters& channel : channels) {
    scales.push_back(channel.scale);
    zeros.push_back(channel.zero_point - (type == DataType::kInt8 ? kHalfOfSteps : 0));
  }
  const int scale = result.AddConstant(ScalesOf(scales, of_channels));
  const int zero = result.AddConstant(ZeroPointsOf(zeros, type, of_channels));
  Attributes attributes;
  if (of_channels) attributes.Set("axis", int64_t{-1});
  if (of_channels) result.node.attributes.Set("axis", int64_t{-1});
  const int integers = result.AddHelper(OpKind::kQuantizeLinear, {0, scale, zero}, type, std::move(attributes));
  result.inputs = {integers, scale, zero};
  return true;
}

namespace {

// q = x / scale + zero, of u8 and s8, where the step next to 0 stands for 0. nullopt: 0 lies between two steps (of mode
// MIN_COMBINED, which does not move them), or outside.
std::optional<QuantizationParameters> AffineParameters(EndsOfRange ends, DataType type, bool moves_steps) {
  const std::optional<IntegerRange> range = QuantizedRange(type);
  if (!range.has_value() || type == DataType::kInt32) return std::nullopt;
  const float scale = (ends.high - ends.low) / 255.0f;
  const double from_low = -static_cast<double>(ends.low) / scale;
  const double zero = std::round(from_low);
  if (!std::isnormal(scale) || !(zero >= 0 && zero <= 255)) return std::nullopt;
  if (!moves_steps && std::abs(from_low - zero) > 1e-3) return std::nullopt;
  return QuantizationParameters{scale, static_cast<int32_t>(zero) + static_cast<int32_t>(range->low)};
}

}  // namespace

// dequantize_range(q, low, high)  =>  dequantize_linear(q, scale, zero)
//
// with mode SCALED, and with the others where q is no constant, so that what computes with it has integers.
absl::StatusOr<bool> ReadDequantize(const RuleInput& input, ConvertedNode& result) {
  const tf::AttrValue* mode = input.Find("mode");
  HALFTONE_ASSIGN_OR_RETURN(const bool narrow, input.Bool("narrow_range", false));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t axis, input.Int("axis", -1));
  if (input.context.input_type(0) == DataType::kFloat32) {  // sums, which are floats (read_quantized.cc)
    result.is_composed = true;
    result.node.op = OpKind::kIdentity;
    result.node.spelling.clear();
    result.input_types[0] = DataType::kUnknown;
    result.inputs = {0};
    return true;
  }
  const bool scaled = mode != nullptr && mode->s() == "SCALED";
  const std::optional<QuantizationParameters> made = input.context.quantized_as(0);
  if (axis < -1 || (!scaled && (axis != -1 || !made.has_value()))) return false;
  const std::vector<EndsOfRange> ends = ConstantEnds(input, axis != -1);
  if (ends.empty()) return false;
  const DataType type = result.input_types[0];
  std::vector<float> scales;
  int32_t zero = 0;
  for (const EndsOfRange& range : ends) {
    const std::optional<float> scale = DequantizeScale(range, type, narrow);
    const bool moves_steps = mode != nullptr && mode->s() == "MIN_FIRST";
    const auto affine = scaled ? std::nullopt : AffineParameters(range, type, moves_steps);
    if (scaled ? !scale.has_value() : !affine.has_value()) return false;
    scales.push_back(scaled ? *scale : affine->scale);
    if (!scaled) zero = affine->zero_point;
    if (made.has_value() && SameButForRounding(*made, {scales.back(), zero})) scales.back() = made->scale;
  }
  result.inputs = {0, result.AddConstant(ScalesOf(scales, axis != -1))};
  if (axis != -1) result.node.attributes.Set("axis", axis);
  if (made.has_value()) result.inputs.push_back(result.AddConstant(ZeroPointsOf({zero}, type, false)));
  if (scaled) {
    KeepEnds(input, ends, result.node.extra);
  } else {
    result.is_composed = true;
    result.node.spelling.clear();
  }
  return true;
}

}  // namespace halftone::graphdef
