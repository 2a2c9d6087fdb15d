// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/log/check.h"

namespace halftone {
namespace {

template <size_t kBytes>
void CopyElements(const std::byte* from, std::byte* to, int64_t count, int64_t from_step, int64_t to_step) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

}  // namespace

StridedCopy::StridedCopy(std::span<const int64_t> dims, std::span<const int64_t> from_strides,
                         std::span<const int64_t> to_strides, size_t element_bytes)
    : element_bytes_(element_bytes) {
  CHECK(dims.size() == from_strides.size() && dims.size() == to_strides.size());
  const int64_t bytes = static_cast<int64_t>(element_bytes);
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) empty_ = true;
    if (dims[i] != 1) axes.push_back({dims[i], from_strides[i] * bytes, to_strides[i] * bytes});
  }
  // Writes go through memory in order.
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  for (const Axis& axis : axes) {
    if (!axes_.empty() && axes_.back().from == axis.from * axis.size && axes_.back().to == axis.to * axis.size) {
      axes_.back() = {axes_.back().size * axis.size, axis.from, axis.to};
    } else {
      axes_.push_back(axis);
    }
  }
  row_ = {1, bytes, bytes};
  if (!axes_.empty()) {
    row_ = axes_.back();
    axes_.pop_back();
  }
}

void StridedCopy::CopyRow(const std::byte* from, std::byte* to) const {
  const int64_t bytes = static_cast<int64_t>(element_bytes_);
  if (row_.from == bytes && row_.to == bytes) {
    std::memcpy(to, from, static_cast<size_t>(row_.size) * element_bytes_);
    return;
  }
  switch (element_bytes_) {
    case 1:
      return CopyElements<1>(from, to, row_.size, row_.from, row_.to);
    case 2:
      return CopyElements<2>(from, to, row_.size, row_.from, row_.to);
    case 4:
      return CopyElements<4>(from, to, row_.size, row_.from, row_.to);
    case 8:
      return CopyElements<8>(from, to, row_.size, row_.from, row_.to);
    default:
      CHECK_EQ(element_bytes_, 16u);
      return CopyElements<16>(from, to, row_.size, row_.from, row_.to);
  }
}

void StridedCopy::Run(const std::byte* from, std::byte* to) const {
  if (empty_) return;
  std::vector<int64_t> index(axes_.size(), 0);
  while (true) {
    CopyRow(from, to);
    size_t i = axes_.size();
    while (i > 0) {
      --i;
      from += axes_[i].from;
      to += axes_[i].to;
      if (++index[i] < axes_[i].size) break;
      from -= axes_[i].from * axes_[i].size;
      to -= axes_[i].to * axes_[i].size;
      index[i] = 0;
      if (i == 0) return;
    }
    if (axes_.empty()) return;
  }
}

}  // namespace halftone
