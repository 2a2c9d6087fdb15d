// SPDX-License-Identifier: Apache-2.0
#include "ir/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "ir/shape.h"
#include "ir/tensor.h"

namespace halftone {
namespace {

// Reads back to the same bits.
std::string FloatText(float value) {
  for (const int digits : {6, 7, 8}) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    if (std::strtof(text.c_str(), nullptr) == value) return text;
  }
  return absl::StrFormat("%.9g", value);
}

// Calls use(i, s) for each element of a tensor and the scale that is meant for it.
template <typename Use>
void ForEachElement(const std::vector<int64_t>& dims, const Quantization& quantization, Use use) {
  int64_t count = 1, inner = 1;
  for (const int64_t dim : dims) count *= dim;
  if (quantization.per_tensor()) {
    for (int64_t i = 0; i < count; ++i) use(i, 0);
    return;
  }
  for (size_t d = quantization.axis + 1; d < dims.size(); ++d) inner *= dims[d];
  const int64_t channels = dims[quantization.axis];
  for (int64_t i = 0; i < count; ++i) use(i, i / inner % channels);
}

template <typename T>
void Dequantize(const Tensor& integers, const Quantization& quantization, std::span<float> out) {
  const std::span<const T> in = integers.data<T>();
  ForEachElement(integers.dims(), quantization, [&](int64_t i, int64_t s) {
    const double steps = static_cast<double>(in[i]) - quantization.zero_points[s];
    out[i] = static_cast<float>(steps * quantization.scales[s]);
  });
}

template <typename T>
void Quantize(std::span<const float> numbers, const Quantization& quantization, IntegerRange range, Tensor& out) {
  const std::span<T> to = out.mutable_data<T>();
  ForEachElement(out.dims(), quantization, [&](int64_t i, int64_t s) {
    const double steps =
        static_cast<double>(std::nearbyint(numbers[i] / quantization.scales[s])) + quantization.zero_points[s];
    const bool number = !std::isnan(steps);  // NaN is no integer: 0, as conversions of floats have it
    to[i] = number ? static_cast<T>(std::clamp<double>(steps, range.low, range.high)) : T{0};
  });
}

}  // namespace

bool Quantization::symmetric() const {
  return std::all_of(zero_points.begin(), zero_points.end(), [](int32_t zero) { return zero == 0; });
}

bool SameQuantization(const Quantization* a, const Quantization* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

Quantization Quantization::PerTensor(float scale, int32_t zero_point) { return {{scale}, {zero_point}, 0}; }

std::string Quantization::ToString() const {
  if (per_tensor()) return Concat("{", FloatText(scales[0]), ", ", zero_points.empty() ? 0 : zero_points[0], "}");
  const std::string all = absl::StrJoin(scales, ", ", [](std::string* out, float scale) { *out += FloatText(scale); });
  const bool one_zero = !zero_points.empty() && std::count(zero_points.begin(), zero_points.end(), zero_points[0]) ==
                                                    static_cast<int64_t>(zero_points.size());
  const std::string zeros =
      one_zero ? std::to_string(zero_points[0]) : Concat("[", absl::StrJoin(zero_points, ", "), "]");
  return Concat("{[", all, "], ", zeros, ", axis=", axis, "}");
}

std::optional<IntegerRange> QuantizedRange(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return IntegerRange{0, 255};
    case DataType::kInt8:
      return IntegerRange{-128, 127};
    case DataType::kInt32:
      return IntegerRange{INT32_MIN, INT32_MAX};
    default:
      return std::nullopt;
  }
}

std::string WrongQuantization(const Quantization& quantization, DataType type, const Shape& shape) {
  const std::optional<IntegerRange> range = QuantizedRange(type);
  const size_t count = quantization.scales.size();
  if (!range.has_value()) return Concat(DataTypeName(type), " cannot have scales: u8, s8 and s32 can");
  if (count == 0) return "it has no scale";
  if (quantization.zero_points.size() != count) {
    return Concat(count, " scales but ", quantization.zero_points.size(), " zero points");
  }
  for (size_t i = 0; i < count; ++i) {
    const float scale = quantization.scales[i];
    if (!std::isfinite(scale) || scale <= 0)
      return Concat("scale ", i, " is ", FloatText(scale), ", need one that is finite and > 0");
    // What is divided by it may be infinite.
    if (!std::isnormal(scale)) return Concat("scale ", i, " is ", FloatText(scale), ", which is a denormal number");
    const int32_t zero = quantization.zero_points[i];
    if (zero < range->low || zero > range->high) {
      return Concat("zero point ", i, " is ", zero, ", need one of ", range->low, " to ", range->high, " for ",
                    DataTypeName(type));
    }
  }
  if (quantization.axis < 0) return Concat("axis is ", quantization.axis, ", need at least 0");
  if (!shape.has_rank()) return "";
  if (count == 1) return quantization.axis == 0 ? "" : Concat("axis is ", quantization.axis, " of one scale, need 0");
  if (quantization.axis >= shape.rank()) {
    return Concat("axis is ", quantization.axis, ", need less than the rank of ", shape.ToString());
  }
  const Dim& dim = shape.dim(quantization.axis);
  if (dim.known() && dim.value != static_cast<int64_t>(count)) {
    return Concat(count, " scales along axis ", quantization.axis, " of ", shape.ToString(), ", need ", dim.value);
  }
  return "";
}

bool PassesIntegers(OpKind op) {
  if (HasNestedGraphs(op) || Info(op).group == OpGroup::kStructural) return true;
  switch (op) {
    case OpKind::kInput:
    case OpKind::kConstant:
    case OpKind::kOpaque:
    case OpKind::kQuantizeLinear:
    case OpKind::kDequantizeLinear:
    case OpKind::kDynamicQuantizeLinear:
    case OpKind::kDequantizeRange:
    case OpKind::kConvInteger:
    case OpKind::kMatMulInteger:
    case OpKind::kMatMulIntegerToFloat:
    case OpKind::kShape:
    case OpKind::kSize:
    case OpKind::kRank:
      return true;
    default:
      return false;
  }
}

Tensor Dequantized(const Tensor& integers, const Quantization& quantization) {
  Tensor numbers(DataType::kFloat32, integers.dims());
  const std::span<float> out = numbers.mutable_data<float>();
  if (integers.type() == DataType::kUInt8) {
    Dequantize<uint8_t>(integers, quantization, out);
  } else if (integers.type() == DataType::kInt8) {
    Dequantize<int8_t>(integers, quantization, out);
  } else {
    CHECK(integers.type() == DataType::kInt32) << DataTypeName(integers.type());
    Dequantize<int32_t>(integers, quantization, out);
  }
  return numbers;
}

Tensor Quantized(const Tensor& numbers, DataType type, const Quantization& quantization) {
  const std::optional<IntegerRange> range = QuantizedRange(type);
  CHECK(range.has_value()) << DataTypeName(type);
  Tensor integers(type, numbers.dims());
  const std::vector<float> in = numbers.ToFloats();
  if (type == DataType::kUInt8) {
    Quantize<uint8_t>(in, quantization, *range, integers);
  } else if (type == DataType::kInt8) {
    Quantize<int8_t>(in, quantization, *range, integers);
  } else {
    Quantize<int32_t>(in, quantization, *range, integers);
  }
  return integers;
}

}  // namespace halftone
