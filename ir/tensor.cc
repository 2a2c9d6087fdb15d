// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.h"

#include <cstdlib>
#include <cstring>

#include <xxhash.h>

#include "absl/log/check.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"
#include "ir/round_to_odd.h"

namespace halftone {
namespace {

constexpr size_t kAlignment = 64;

// Calls `visit` with a null pointer of the C++ type that holds an element of `type`; false for types without
// arithmetic. bf16 and f16 are told apart by the callers.
template <typename Visit>
bool VisitType(DataType type, Visit visit) {
  switch (type) {
    case DataType::kFloat32:
      visit(static_cast<float*>(nullptr));
      return true;
    case DataType::kFloat64:
      visit(static_cast<double*>(nullptr));
      return true;
    case DataType::kInt8:
      visit(static_cast<int8_t*>(nullptr));
      return true;
    case DataType::kUInt8:
      visit(static_cast<uint8_t*>(nullptr));
      return true;
    case DataType::kInt16:
      visit(static_cast<int16_t*>(nullptr));
      return true;
    case DataType::kUInt16:
      visit(static_cast<uint16_t*>(nullptr));
      return true;
    case DataType::kInt32:
      visit(static_cast<int32_t*>(nullptr));
      return true;
    case DataType::kUInt32:
      visit(static_cast<uint32_t*>(nullptr));
      return true;
    case DataType::kInt64:
      visit(static_cast<int64_t*>(nullptr));
      return true;
    case DataType::kUInt64:
      visit(static_cast<uint64_t*>(nullptr));
      return true;
    case DataType::kBool:
      visit(static_cast<uint8_t*>(nullptr));
      return true;
    case DataType::kUnknown:
    case DataType::kBFloat16:
    case DataType::kFloat16:
    case DataType::kString:
    case DataType::kComplex64:
    case DataType::kComplex128:
    case DataType::kResource:
    case DataType::kVariant:
      return false;
  }
  return false;
}

// A float or double as an integer type: towards zero, out of range saturates, NaN is 0 (C++ leaves both undefined).
template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value != value) return 0;
    if (value <= static_cast<From>(std::numeric_limits<To>::lowest())) return std::numeric_limits<To>::lowest();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename To>
std::vector<To> ConvertAll(const Tensor& tensor) {
  std::vector<To> result(tensor.num_elements());
  if (tensor.type() == DataType::kBFloat16 || tensor.type() == DataType::kFloat16) {
    const auto widen = tensor.type() == DataType::kBFloat16 ? FloatFromBFloat16 : FloatFromFloat16;
    const std::span<const uint16_t> bits = tensor.data<uint16_t>();
    for (size_t i = 0; i < result.size(); ++i) result[i] = ConvertElement<To>(widen(bits[i]));
    return result;
  }
  const bool known = VisitType(tensor.type(), [&]<typename From>(From*) {
    const std::span<const From> data = tensor.data<From>();
    for (size_t i = 0; i < result.size(); ++i) result[i] = ConvertElement<To>(data[i]);
  });
  CHECK(known) << "no numbers in a tensor of type " << DataTypeName(tensor.type());
  return result;
}

}  // namespace

std::shared_ptr<Buffer> Buffer::Allocate(size_t size) {
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment + kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  CHECK(memory != nullptr) << "out of memory: " << size << " bytes";
  std::memset(memory, 0, rounded);
  std::shared_ptr<Buffer> result(new Buffer());
  result->owner_ = std::shared_ptr<const void>(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  result->data_ = static_cast<std::byte*>(memory);
  result->size_ = size;
  return result;
}

std::shared_ptr<const Buffer> Buffer::CopyOf(const void* data, size_t size) {
  std::shared_ptr<Buffer> result = Allocate(size);
  if (size > 0) std::memcpy(result->data_, data, size);
  return result;
}

std::shared_ptr<const Buffer> Buffer::View(const void* data, size_t size, std::shared_ptr<const void> keep_alive) {
  if (reinterpret_cast<uintptr_t>(data) % alignof(double) != 0)
    return CopyOf(data, size);  // typed access must be aligned
  std::shared_ptr<Buffer> result(new Buffer());
  result->owner_ = std::move(keep_alive);
  result->data_ = static_cast<std::byte*>(const_cast<void*>(data));  // never written: shared as const
  result->size_ = size;
  return result;
}

Tensor::Tensor(DataType type, std::vector<int64_t> dims) : type_(type), dims_(std::move(dims)) {
  CHECK(ElementSize(type) > 0) << DataTypeName(type);
  buffer_ = Buffer::Allocate(byte_size());
}

Tensor::Tensor(DataType type, std::vector<int64_t> dims, std::shared_ptr<const Buffer> buffer)
    : type_(type), dims_(std::move(dims)), buffer_(std::move(buffer)) {
  CHECK(buffer_ != nullptr);
  CHECK_EQ(buffer_->size(), byte_size()) << DataTypeName(type) << Shape::Of(dims_).ToString();
}

Tensor Tensor::OfStrings(std::vector<int64_t> dims, std::vector<std::string> strings) {
  Tensor result;
  result.type_ = DataType::kString;
  result.dims_ = std::move(dims);
  result.strings_ = std::move(strings);
  CHECK_EQ(result.num_elements(), static_cast<int64_t>(result.strings_.size()));
  return result;
}

namespace {

template <typename T>
constexpr DataType kTypeOf = DataType::kUnknown;
template <>
constexpr DataType kTypeOf<float> = DataType::kFloat32;
template <>
constexpr DataType kTypeOf<double> = DataType::kFloat64;
template <>
constexpr DataType kTypeOf<int8_t> = DataType::kInt8;
template <>
constexpr DataType kTypeOf<uint8_t> = DataType::kUInt8;
template <>
constexpr DataType kTypeOf<int32_t> = DataType::kInt32;
template <>
constexpr DataType kTypeOf<int64_t> = DataType::kInt64;

}  // namespace

template <typename T>
Tensor Tensor::Of(std::vector<int64_t> dims, std::span<const T> values) {
  return Tensor(kTypeOf<T>, std::move(dims), Buffer::CopyOf(values.data(), values.size_bytes()));
}
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const float>);
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const double>);
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const int8_t>);
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const uint8_t>);
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const int32_t>);
template Tensor Tensor::Of(std::vector<int64_t>, std::span<const int64_t>);

Tensor Tensor::Scalar(float value) { return Of<float>({}, std::span<const float>(&value, 1)); }

Tensor Tensor::Ints(std::span<const int64_t> values, DataType type) {
  const int64_t size = static_cast<int64_t>(values.size());
  if (type == DataType::kInt64) return Of<int64_t>({size}, values);
  CHECK(type == DataType::kInt32) << DataTypeName(type);
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Of<int32_t>({size}, narrow);
}

Tensor Tensor::IntScalar(int64_t value, DataType type) { return Ints({&value, 1}, type).WithDims({}); }

int64_t Tensor::num_elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims_) product *= dim;
  return product;
}

Tensor Tensor::WithDims(std::vector<int64_t> dims) const {
  Tensor result = *this;
  result.dims_ = std::move(dims);
  CHECK_EQ(result.num_elements(), num_elements());
  return result;
}

std::vector<float> Tensor::ToFloats() const { return ConvertAll<float>(*this); }
std::vector<double> Tensor::ToDoubles() const { return ConvertAll<double>(*this); }
std::vector<int64_t> Tensor::ToInts() const { return ConvertAll<int64_t>(*this); }

absl::StatusOr<Tensor> Tensor::ConvertTo(DataType type) const {
  if (type == type_) return *this;
  const bool narrow = type == DataType::kBFloat16 || type == DataType::kFloat16;
  const bool source_is_narrow = type_ == DataType::kBFloat16 || type_ == DataType::kFloat16;
  const bool source_known = source_is_narrow || VisitType(type_, [](auto*) {});
  if (!source_known || (!narrow && !VisitType(type, [](auto*) {}))) {
    return absl::InvalidArgumentError(Concat("cannot convert ", DataTypeName(type_), " to ", DataTypeName(type)));
  }
  Tensor result(type, dims_);
  if (narrow) {
    const auto round = type == DataType::kBFloat16 ? BFloat16FromFloat : Float16FromFloat;
    const std::span<uint16_t> bits = result.mutable_data<uint16_t>();
    if (type_ == DataType::kFloat32) {
      const std::span<const float> floats = data<float>();
      for (size_t i = 0; i < floats.size(); ++i) bits[i] = round(floats[i]);
    } else {
      const std::vector<double> numbers = ToDoubles();
      for (size_t i = 0; i < numbers.size(); ++i) bits[i] = round(RoundToOdd(numbers[i]));
    }
    return result;
  }
  VisitType(type, [&]<typename To>(To*) {
    const std::span<To> out = result.mutable_data<To>();
    const auto fill = [&](const auto& values) {
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = type == DataType::kBool ? static_cast<To>(values[i] != 0) : ConvertElement<To>(values[i]);
      }
    };
    if (IsFloatingPoint(type_)) {
      fill(ToDoubles());
    } else {
      fill(ToInts());
    }
  });
  return result;
}

bool Tensor::SameBytes(const Tensor& other) const {
  if (type_ != other.type_ || dims_ != other.dims_) return false;
  if (type_ == DataType::kString) return strings_ == other.strings_;
  return byte_size() == 0 || raw() == other.raw() || std::memcmp(raw(), other.raw(), byte_size()) == 0;
}

std::string Tensor::Hash() const {
  uint64_t hash = XXH64(dims_.data(), dims_.size() * sizeof(int64_t), static_cast<uint64_t>(type_));
  for (const std::string& s : strings_) hash = XXH64(s.data(), s.size(), hash);
  if (raw() != nullptr) hash = XXH64(raw(), byte_size(), hash);
  return absl::StrFormat("%016x", hash);
}

}  // namespace halftone
