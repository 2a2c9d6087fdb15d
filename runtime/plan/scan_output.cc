// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/scan_output.h"

#include <cstring>
#include <utility>

#include "base/strings.h"
#include "runtime/plan/memory.h"

namespace halftone {
namespace {

struct Around {
  int64_t outer = 1;  // product of the dimensions before the axis
  size_t inner = 1;   // bytes from the axis on, without it
};

Around AroundAxis(const std::vector<int64_t>& dims_without, int axis, size_t element) {
  Around around{.inner = element};
  for (int i = 0; i < static_cast<int>(dims_without.size()); ++i) {
    if (i < axis)
      around.outer *= dims_without[i];
    else
      around.inner *= static_cast<size_t>(dims_without[i]);
  }
  return around;
}

}  // namespace

void CopySlice(const Tensor& tensor, int axis, int64_t index, std::byte* to) {
  std::vector<int64_t> rest = tensor.dims();
  const int64_t length = rest[axis];
  rest.erase(rest.begin() + axis);
  const Around around = AroundAxis(rest, axis, ElementSize(tensor.type()));
  if (around.inner == 0 || around.outer == 0) return;
  const std::byte* from = tensor.raw() + static_cast<size_t>(index) * around.inner;
  for (int64_t i = 0; i < around.outer; ++i) {
    std::memcpy(to, from, around.inner);
    to += around.inner;
    from += static_cast<size_t>(length) * around.inner;
  }
}

absl::Status ScanOutput::Add(const std::vector<int64_t>& dims, const std::byte* data) {
  if (count_ == 0) {
    dims_ = dims;
    value_bytes_ = ElementSize(type_);
    for (const int64_t dim : dims) value_bytes_ *= static_cast<size_t>(dim);
  } else if (dims != dims_) {
    return absl::InvalidArgumentError(Concat("run ", count_, " of the body gives ", Shape::Of(dims).ToString(),
                                             " where the runs before gave ", Shape::Of(dims_).ToString()));
  }
  if (bytes_.size() + value_bytes_ > MemoryLimit() / 8) {
    return absl::ResourceExhaustedError(
        Concat("what ", count_, " runs of the body gave is more than an eighth of this machine's memory"));
  }
  if (value_bytes_ > 0) bytes_.insert(bytes_.end(), data, data + value_bytes_);
  ++count_;
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ScanOutput::Finish(int64_t axis, bool reversed, std::vector<int64_t> dims_if_none) {
  std::vector<int64_t> value_dims = count_ > 0 ? std::move(dims_) : std::move(dims_if_none);
  const int64_t rank = static_cast<int64_t>(value_dims.size()) + 1;
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(Concat("scan output axis ", axis, " is not in [", -rank, ", ", rank, ")"));
  }
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  const Around around = AroundAxis(value_dims, at, ElementSize(type_));
  std::vector<int64_t> dims = value_dims;
  dims.insert(dims.begin() + at, count_);
  Tensor result(type_, std::move(dims));
  if (!bytes_.empty()) {
    for (int64_t run = 0; run < count_; ++run) {
      const std::byte* from = bytes_.data() + static_cast<size_t>(run) * value_bytes_;
      const int64_t index = reversed ? count_ - 1 - run : run;
      for (int64_t i = 0; i < around.outer; ++i) {
        std::memcpy(result.mutable_raw() + static_cast<size_t>(i * count_ + index) * around.inner,
                    from + static_cast<size_t>(i) * around.inner, around.inner);
      }
    }
  }
  *this = ScanOutput(type_);
  return result;
}

}  // namespace halftone
