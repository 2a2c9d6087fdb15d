// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/quantized_chain.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone::graphdef {
namespace {

// One is a scalar.
std::vector<int64_t> DimsOf(size_t count) {
  return count == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{static_cast<int64_t>(count)};
}

}  // namespace

bool Says(const RuleInput& input, std::string_view word) {
  return input.row.tf_op.find(word) != std::string_view::npos;
}

Chain::Chain(const RuleInput& input, ConvertedNode& result) : input_(input), result_(result) {
  result_.is_composed = true;
  result_.node.spelling.clear();
  attributes_ = std::exchange(result_.node.attributes, {});
  out_type_ = result_.outputs[0].type;
}

absl::StatusOr<std::vector<EndsOfRange>> Chain::Ends(int low, int high) const {
  const Tensor* lows = input_.context.constant(low);
  const Tensor* highs = input_.context.constant(high);
  for (const auto& [k, tensor] : {std::pair(low, lows), std::pair(high, highs)}) {
    if (tensor == nullptr) {
      return absl::UnimplementedError(Concat("input ", k, " ('", input_.context.input_name(k),
                                             "'), the end of a range, is computed when the model runs; ranges must "
                                             "be constants (freeze_requantization_ranges makes them so)"));
    }
  }
  if (lows->type() != DataType::kFloat32 || highs->type() != DataType::kFloat32 || lows->num_elements() == 0 ||
      lows->num_elements() != highs->num_elements()) {
    return absl::InvalidArgumentError(Concat("inputs ", low, " and ", high, " are the ends of ranges; they must be ",
                                             "f32 and have as many elements, at least one"));
  }
  std::vector<EndsOfRange> ends;
  for (int64_t i = 0; i < lows->num_elements(); ++i) ends.push_back({lows->data<float>()[i], highs->data<float>()[i]});
  return ends;
}

absl::StatusOr<Steps> Chain::StepsOf(const std::vector<EndsOfRange>& ends, DataType type, Reading reading) const {
  Steps steps;
  for (const EndsOfRange& range : ends) {
    const bool is_signed = type == DataType::kInt8;
    if (type != DataType::kUInt8 && !is_signed)
      return absl::UnimplementedError(Concat("quantized tensors of ", DataTypeName(type), "; only of 8 bits"));
    const float magnitude = std::max(std::abs(range.low), std::abs(range.high));
    float scale = magnitude == 0 ? 1.0f : magnitude / (is_signed ? 127.0f : 255.0f);
    double zero = 0;
    if (reading == Reading::kAffine) {
      scale = (range.high - range.low) / 255.0f;
      zero = (is_signed ? -128 : 0) - std::round(static_cast<double>(range.low) / scale);
    }
    const IntegerRange limits = *QuantizedRange(type);
    const bool fits = zero >= static_cast<double>(limits.low) && zero <= static_cast<double>(limits.high);
    if (!std::isnormal(scale) || !fits)
      return absl::UnimplementedError(
          Concat("the range [", range.low, ", ", range.high, "]; it must hold 0 and be wide enough for steps in f32"));
    steps.scales.push_back(scale);
    steps.zeros.push_back(static_cast<int32_t>(zero));
  }
  return steps;
}

Steps Chain::AsMade(int k, Steps steps) const {
  const std::optional<QuantizationParameters> made = input_.context.quantized_as(k);
  if (made.has_value() && steps.scales.size() == 1 && SameButForRounding(*made, {steps.scales[0], steps.zeros[0]})) {
    steps.scales[0] = made->scale;
  }
  return steps;
}

int Chain::ScaleOf(const Steps& steps) {
  return result_.AddConstant(Tensor::Of<float>(DimsOf(steps.scales.size()), steps.scales));
}

int Chain::ZeroOf(const Steps& steps, DataType type) {
  Tensor zeros(type, DimsOf(steps.zeros.size()));
  for (size_t i = 0; i < steps.zeros.size(); ++i) {
    zeros.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(steps.zeros[i]);
  }
  return result_.AddConstant(std::move(zeros));
}

int Chain::Real(int k, const Steps& steps, int64_t axis) {
  if (IsReal(k)) {
    result_.input_types[k] = DataType::kUnknown;  // qint32 in the file
    return k;
  }
  Attributes attributes;
  if (steps.scales.size() > 1) attributes.Set("axis", axis);
  const int scale = ScaleOf(AsMade(k, steps)), zero = ZeroOf(steps, result_.input_types[k]);
  return result_.AddHelper(OpKind::kDequantizeLinear, {k, scale, zero}, DataType::kFloat32, std::move(attributes));
}

absl::StatusOr<int> Chain::Real(int k, int low, int high, Reading reading) {
  if (IsReal(k)) return Real(k, Steps());
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, Ends(low, high));
  if (ends.size() != 1) return absl::UnimplementedError(Concat("input ", k, " with a range for each channel"));
  HALFTONE_ASSIGN_OR_RETURN(const Steps steps, StepsOf(ends, result_.input_types[k], reading));
  return Real(k, steps);
}

void Chain::Then(OpKind op, std::vector<int> inputs, Attributes attributes) {
  if (!inputs_.empty()) {
    const int made = result_.AddHelper(result_.node.op, inputs_, DataType::kFloat32, result_.node.attributes);
    std::replace(inputs.begin(), inputs.end(), kPrevious, made);
  }
  result_.node.op = op;
  result_.node.attributes = std::move(attributes);
  inputs_ = std::move(inputs);
}

absl::StatusOr<bool> Chain::FinishQuantized(const std::vector<EndsOfRange>& ends, Reading reading) {
  if (ends.size() != 1) return absl::UnimplementedError("a range of the result for each channel");
  HALFTONE_ASSIGN_OR_RETURN(const Steps steps, StepsOf(ends, out_type_, reading));
  return FinishQuantized(ends, steps);
}

absl::StatusOr<bool> Chain::FinishQuantized(const std::vector<EndsOfRange>& ends, const Steps& steps) {
  const int scale = ScaleOf(steps), zero = ZeroOf(steps, out_type_);
  Then(OpKind::kQuantizeLinear, {kPrevious, scale, zero});
  return Finish(out_type_, ends);
}

absl::StatusOr<bool> Chain::FinishRounded(int low, int high) {
  result_.value_ports = {{1, low}, {2, high}};
  return Finish(DataType::kFloat32, {});
}

absl::StatusOr<bool> Chain::Finish(DataType type, const std::vector<EndsOfRange>& ends) {
  result_.inputs = inputs_;
  result_.outputs = {{type, Shape(), ""}};
  result_.output_ports = {0};
  if (ends.empty()) return true;
  std::vector<float> lows, highs;
  for (const EndsOfRange& range : ends) {
    lows.push_back(range.low);
    highs.push_back(range.high);
  }
  result_.constant_ports = {{1, Tensor::Of<float>(DimsOf(ends.size()), lows)},
                            {2, Tensor::Of<float>(DimsOf(ends.size()), highs)}};
  return true;
}

}  // namespace halftone::graphdef
