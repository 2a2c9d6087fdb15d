// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/log/check.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/arrays_internal.h"
#include "ir/round_to_odd.h"

namespace halftone::reference {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 31;

// Towards zero, out of range saturates, NaN is 0.
template <typename To>
To Saturate(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::lowest())) return std::numeric_limits<To>::lowest();
  if (value >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <typename To, typename From, typename Convert>
void Fill(Tensor& tensor, const std::vector<From>& numbers, Convert convert) {
  const std::span<To> out = tensor.mutable_data<To>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = convert(numbers[i]);
}

}  // namespace

absl::Status CheckDims(const Dims& dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) {
    return absl::InvalidArgumentError(Concat("no tensor can be [", absl::StrJoin(dims, ","), "]"));
  }
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count.has_value() || *count > kMaxElements) {
    return absl::ResourceExhaustedError(Concat("a tensor of [", absl::StrJoin(dims, ","), "] is too large"));
  }
  return absl::OkStatus();
}

Tensor FromDoubles(DataType type, Dims dims, const std::vector<double>& numbers) {
  Tensor result(type, std::move(dims));
  switch (type) {
    case DataType::kFloat32:
      Fill<float>(result, numbers, [](double v) { return static_cast<float>(v); });
      break;
    case DataType::kFloat64:
      Fill<double>(result, numbers, [](double v) { return v; });
      break;
    case DataType::kBFloat16:
      Fill<uint16_t>(result, numbers, [](double v) { return BFloat16FromFloat(RoundToOdd(v)); });
      break;
    case DataType::kFloat16:
      Fill<uint16_t>(result, numbers, [](double v) { return Float16FromFloat(RoundToOdd(v)); });
      break;
    case DataType::kInt8:
      Fill<int8_t>(result, numbers, Saturate<int8_t>);
      break;
    case DataType::kUInt8:
      Fill<uint8_t>(result, numbers, Saturate<uint8_t>);
      break;
    case DataType::kInt16:
      Fill<int16_t>(result, numbers, Saturate<int16_t>);
      break;
    case DataType::kUInt16:
      Fill<uint16_t>(result, numbers, Saturate<uint16_t>);
      break;
    case DataType::kInt32:
      Fill<int32_t>(result, numbers, Saturate<int32_t>);
      break;
    case DataType::kUInt32:
      Fill<uint32_t>(result, numbers, Saturate<uint32_t>);
      break;
    case DataType::kInt64:
      Fill<int64_t>(result, numbers, Saturate<int64_t>);
      break;
    case DataType::kUInt64:
      Fill<uint64_t>(result, numbers, Saturate<uint64_t>);
      break;
    case DataType::kBool:
      Fill<uint8_t>(result, numbers, [](double v) -> uint8_t { return v != 0; });
      break;
    case DataType::kUnknown:
    case DataType::kString:
    case DataType::kComplex64:
    case DataType::kComplex128:
    case DataType::kResource:
    case DataType::kVariant:
      CHECK(false) << DataTypeName(type);  // EvaluateNode calls this only for number types
  }
  return result;
}

Tensor FromInts(DataType type, Dims dims, const std::vector<int64_t>& numbers) {
  if (IsFloatingPoint(type)) {
    const std::vector<double> doubles(numbers.begin(), numbers.end());
    return FromDoubles(type, std::move(dims), doubles);
  }
  Tensor result(type, std::move(dims));
  if (type == DataType::kBool) {
    Fill<uint8_t>(result, numbers, [](int64_t v) -> uint8_t { return v != 0; });
    return result;
  }
  switch (ElementSize(type)) {  // two's complement: the low bytes
    case 1:
      Fill<uint8_t>(result, numbers, [](int64_t v) { return static_cast<uint8_t>(v); });
      break;
    case 2:
      Fill<uint16_t>(result, numbers, [](int64_t v) { return static_cast<uint16_t>(v); });
      break;
    case 4:
      Fill<uint32_t>(result, numbers, [](int64_t v) { return static_cast<uint32_t>(v); });
      break;
    default:
      Fill<uint64_t>(result, numbers, [](int64_t v) { return static_cast<uint64_t>(v); });
      break;
  }
  return result;
}

int64_t Count(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

Dims RowMajorStrides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::vector<int64_t> Offsets(const Dims& dims, const Dims& strides, int64_t start) {
  std::vector<int64_t> result;
  const int64_t count = Count(dims);
  if (count == 0) return result;
  result.reserve(count);
  const int64_t inner = dims.empty() ? 1 : dims.back();
  const int64_t inner_stride = dims.empty() ? 0 : strides.back();
  Dims index(dims.size(), 0);
  int64_t offset = start;
  while (true) {
    for (int64_t i = 0; i < inner; ++i) result.push_back(offset + i * inner_stride);
    int axis = static_cast<int>(dims.size()) - 2;  // count up, like an odometer
    for (; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
    if (axis < 0) return result;
  }
}

Dims BroadcastStrides(const Dims& from, const Dims& to) {
  const Dims strides = RowMajorStrides(from);
  Dims result(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) result[i + missing] = from[i] == 1 ? 0 : strides[i];
  return result;
}

absl::StatusOr<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  const std::optional<Shape> shape = BroadcastShapes(Shape::Of(a), Shape::Of(b));
  if (!shape.has_value()) {
    return absl::InvalidArgumentError(
        Concat("[", absl::StrJoin(a, ","), "] and [", absl::StrJoin(b, ","), "] do not broadcast"));
  }
  Dims dims = shape->values();
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  return dims;
}

Tensor TakeElements(const Tensor& x, Dims dims, const std::vector<int64_t>& offsets, const Tensor* fill) {
  Tensor result(x.type(), std::move(dims));
  const size_t size = ElementSize(x.type());
  std::byte* out = result.mutable_raw();
  const auto copy = [&]<size_t kSize>() {
    for (const int64_t offset : offsets) {
      if (offset >= 0) std::memcpy(out, x.raw() + offset * kSize, kSize);
      if (offset < 0 && fill != nullptr) std::memcpy(out, fill->raw(), kSize);
      out += kSize;
    }
  };
  switch (size) {
    case 1:
      copy.template operator()<1>();
      break;
    case 2:
      copy.template operator()<2>();
      break;
    case 4:
      copy.template operator()<4>();
      break;
    case 8:
      copy.template operator()<8>();
      break;
    default:
      copy.template operator()<16>();
      break;
  }
  return result;
}

std::vector<int> ToChannelsFirst(int rank) {
  std::vector<int> perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int> ToChannelsLast(int rank) {
  std::vector<int> perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

Dims PermuteDims(const Dims& dims, const std::vector<int>& perm) {
  Dims result;
  for (const int axis : perm) result.push_back(dims[axis]);
  return result;
}

absl::StatusOr<int> Axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(Concat("axis ", axis, " is out of range for rank ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<bool>> AxisMarks(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> marks(rank, false);
  for (const int64_t written : axes) {
    HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, rank));
    if (marks[axis]) return absl::InvalidArgumentError(Concat("axis ", written, " is given twice"));
    marks[axis] = true;
  }
  return marks;
}

}  // namespace halftone::reference
