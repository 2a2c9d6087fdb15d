// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/weights_quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/value_ranges.h"

namespace halftone {
namespace {

// The largest magnitude at each index along `axis`; of the whole where that is -1. One that is not finite comes alone.
std::vector<float> Magnitudes(const Tensor& weights, int axis) {
  const std::vector<int64_t>& dims = weights.dims();
  int64_t inner = 1;
  for (size_t d = axis + 1; axis >= 0 && d < dims.size(); ++d) inner *= dims[d];
  const int64_t channels = axis < 0 ? 1 : dims[axis];
  std::vector<float> magnitudes(channels, 0.0f);
  const std::span<const float> elements = weights.data<float>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const float magnitude = std::abs(elements[i]);
    if (!std::isfinite(magnitude)) return {magnitude};
    float& largest = magnitudes[axis < 0 ? 0 : static_cast<int64_t>(i) / inner % channels];
    largest = std::max(largest, magnitude);
  }
  return magnitudes;
}

// Channels of zeros alone get the smallest scale of the others: any would do for them, but a bias counts in steps of it.
void FillScalesOfZeros(const std::vector<float>& magnitudes, std::vector<float>& scales) {
  std::optional<float> smallest;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (magnitudes[i] != 0 && (!smallest.has_value() || scales[i] < *smallest)) smallest = scales[i];
  }
  for (size_t i = 0; i < scales.size() && smallest.has_value(); ++i) {
    if (magnitudes[i] == 0) scales[i] = *smallest;
  }
}

}  // namespace

absl::StatusOr<Quantization> QuantizationOfWeights(const Tensor& weights, int axis, int limit,
                                                   std::span<const float> shares) {
  constexpr int kLargest = 127;
  Quantization result;
  const std::vector<float> magnitudes = Magnitudes(weights, axis);
  for (float magnitude : magnitudes) {
    if (!std::isfinite(magnitude)) return absl::InvalidArgumentError("weights are not finite");
    if (!shares.empty()) magnitude *= shares[result.scales.size()];
    const float range = limit == kLargest ? magnitude : magnitude / static_cast<float>(limit) * kLargest;
    const float reach = std::min(range, std::numeric_limits<float>::max());
    HALFTONE_ASSIGN_OR_RETURN(
        const QuantizationParameters parameters,
        QuantizationFor(-reach, reach, {.type = DataType::kInt8, .symmetric = true, .narrow = true}));
    result.scales.push_back(parameters.scale);
  }
  FillScalesOfZeros(magnitudes, result.scales);
  result.zero_points.resize(result.scales.size(), 0);
  result.axis = result.scales.size() == 1 ? 0 : axis;
  return result;
}

Tensor QuantizedWeights(const Tensor& weights, const Quantization& quantization, int limit) {
  Tensor integers = Quantized(weights, DataType::kInt8, quantization);
  for (int8_t& integer : integers.mutable_data<int8_t>())
    integer = static_cast<int8_t>(std::clamp<int>(integer, -limit, limit));
  return integers;
}

std::optional<QuantizedBias> QuantizeBias(const Tensor& bias, float input_scale, const Quantization& weights) {
  const size_t count = weights.scales.size();
  if (bias.type() != DataType::kFloat32 || bias.rank() != 1) return std::nullopt;
  if (count != 1 && static_cast<int64_t>(count) != bias.num_elements()) return std::nullopt;
  QuantizedBias result;
  for (const float scale : weights.scales) {
    const float step = scale * input_scale;
    if (!std::isnormal(step)) return std::nullopt;
    result.quantization.scales.push_back(step);
  }
  result.quantization.zero_points.resize(count, 0);
  const std::span<const float> elements = bias.data<float>();
  std::vector<int32_t> integers;
  for (size_t i = 0; i < elements.size(); ++i) {
    const double steps =
        std::nearbyint(static_cast<double>(elements[i]) / result.quantization.scales[count == 1 ? 0 : i]);
    if (!std::isfinite(steps) || std::abs(steps) > std::numeric_limits<int32_t>::max()) return std::nullopt;
    integers.push_back(static_cast<int32_t>(steps));
  }
  result.integers =
      Tensor(DataType::kInt32, bias.dims(), Buffer::CopyOf(integers.data(), integers.size() * sizeof(int32_t)));
  return result;
}

Tensor ScaleTensor(const Quantization& quantization) {
  const std::vector<int64_t> dims = quantization.per_tensor()
                                        ? std::vector<int64_t>{}
                                        : std::vector<int64_t>{static_cast<int64_t>(quantization.scales.size())};
  return Tensor::Of<float>(dims, quantization.scales);
}

namespace {

// Of the dimensions of ScaleTensor.
Tensor ZeroPointTensor(const Quantization& quantization, DataType type) {
  Tensor result(type, ScaleTensor(quantization).dims());
  for (size_t i = 0; i < quantization.zero_points.size(); ++i) {
    const int32_t zero = quantization.zero_points[i];  // two's complement: its low byte, in either type
    if (type == DataType::kInt32) {
      result.mutable_data<int32_t>()[i] = zero;
    } else {
      result.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(zero);
    }
  }
  return result;
}

}  // namespace

ValueId AddDequantized(GraphEditor& edit, Tensor integers, const Quantization& quantization) {
  const DataType type = integers.type();
  const Shape shape = integers.shape();
  std::vector<ValueId> inputs = {edit.AddConstant("", std::move(integers)),
                                 edit.AddConstant("", ScaleTensor(quantization))};
  if (type != DataType::kInt32) inputs.push_back(edit.AddConstant("", ZeroPointTensor(quantization, type)));
  Attributes attributes;
  if (!quantization.per_tensor()) attributes.Set("axis", static_cast<int64_t>(quantization.axis));
  return edit.graph().output(edit.Add(OpKind::kDequantizeLinear, "", std::move(inputs), {DataType::kFloat32, shape, ""},
                                      std::move(attributes)));
}

ValueId AddQuantizePair(GraphEditor& edit, ValueId value, DataType type, const Quantization& quantization) {
  const Graph& graph = edit.graph();
  const ValueId scale = edit.AddConstant("", ScaleTensor(quantization));
  const ValueId zero = edit.AddConstant("", ZeroPointTensor(quantization, type));
  const Shape shape = graph.shape(value);
  const ValueId integers = graph.output(edit.Add(OpKind::kQuantizeLinear, "", {value, scale, zero}, {type, shape, ""}));
  return graph.output(
      edit.Add(OpKind::kDequantizeLinear, "", {integers, scale, zero}, {DataType::kFloat32, shape, ""}));
}

}  // namespace halftone
