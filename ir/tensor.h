// SPDX-License-Identifier: Apache-2.0
// Tensors: constants of a graph, inputs and outputs of a run.
#ifndef HALFTONE_IR_TENSOR_H_
#define HALFTONE_IR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/shape.h"
#include "ir/types.h"

namespace halftone {

// Bytes that never change once shared. Aligned to 64. May be a view into something that `keep_alive` owns (a mapped file).
// Thread-safe when const.
class Buffer {
 public:
  static std::shared_ptr<Buffer> Allocate(size_t size);                  // zero-filled
  static std::shared_ptr<const Buffer> CopyOf(const void* data, size_t size);
  static std::shared_ptr<const Buffer> View(const void* data, size_t size, std::shared_ptr<const void> keep_alive);

  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return data_; }  // REQUIRES: made by Allocate and not yet shared
  size_t size() const { return size_; }

 private:
  Buffer() = default;
  std::shared_ptr<const void> owner_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// A dense row-major tensor with known dimensions. Copying copies the reference, not the bytes. kString tensors hold their
// elements in `strings`. Thread-compatible; the data of a shared tensor must not be written.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DataType type, std::vector<int64_t> dims);  // allocates, zero-filled; REQUIRES: ElementSize(type) > 0
  Tensor(DataType type, std::vector<int64_t> dims, std::shared_ptr<const Buffer> buffer);  // REQUIRES: size matches
  static Tensor OfStrings(std::vector<int64_t> dims, std::vector<std::string> strings);

  template <typename T>
  static Tensor Of(std::vector<int64_t> dims, std::span<const T> values);
  static Tensor Scalar(float value);
  static Tensor Ints(std::span<const int64_t> values, DataType type = DataType::kInt64);  // rank 1; type s64 or s32
  static Tensor IntScalar(int64_t value, DataType type = DataType::kInt64);

  DataType type() const { return type_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  Shape shape() const { return Shape::Of(dims_); }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t num_elements() const;
  size_t byte_size() const { return static_cast<size_t>(num_elements()) * ElementSize(type_); }

  const std::byte* raw() const { return buffer_ ? buffer_->data() : nullptr; }
  std::byte* mutable_raw() { return const_cast<Buffer&>(*buffer_).mutable_data(); }  // REQUIRES: freshly allocated, unshared
  const std::shared_ptr<const Buffer>& buffer() const { return buffer_; }
  const std::vector<std::string>& strings() const { return strings_; }

  // REQUIRES: sizeof(T) is the element size. No check of the type: see DataType.
  template <typename T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(raw()), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  std::span<T> mutable_data() {
    return {reinterpret_cast<T*>(mutable_raw()), static_cast<size_t>(num_elements())};
  }

  Tensor WithDims(std::vector<int64_t> dims) const;  // same bytes; REQUIRES: same number of elements

  // Any numeric or bool type, element by element, as float / int64 (rounding as the types do: see types.h).
  std::vector<float> ToFloats() const;
  std::vector<double> ToDoubles() const;
  std::vector<int64_t> ToInts() const;
  // Numeric conversion of all elements; floats to bf16 round to nearest even. Error for strings and unsized types.
  absl::StatusOr<Tensor> ConvertTo(DataType type) const;

  bool SameBytes(const Tensor& other) const;  // type, dims and every byte
  std::string Hash() const;                   // 16 hexadecimal digits over type, dims and bytes (xxhash64)

 private:
  DataType type_ = DataType::kUnknown;
  std::vector<int64_t> dims_;
  std::shared_ptr<const Buffer> buffer_;
  std::vector<std::string> strings_;
};

}  // namespace halftone

#endif  // HALFTONE_IR_TENSOR_H_
