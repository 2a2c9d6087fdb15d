// SPDX-License-Identifier: Apache-2.0
#include "ir/shape.h"

#include <algorithm>

namespace halftone {

Shape Shape::Of(std::span<const int64_t> dims) {
  std::vector<Dim> result;
  result.reserve(dims.size());
  for (const int64_t dim : dims) result.push_back(dim >= 0 ? Dim::Of(dim) : Dim::Unknown());
  return Shape(std::move(result));
}

bool Shape::fully_known() const {
  return has_rank() && std::all_of(dims_->begin(), dims_->end(), [](const Dim& dim) { return dim.known(); });
}

std::vector<int64_t> Shape::values() const {
  std::vector<int64_t> result;
  result.reserve(dims_->size());
  for (const Dim& dim : *dims_) result.push_back(dim.value);
  return result;
}

std::optional<int64_t> Shape::num_elements() const {
  if (!fully_known()) return std::nullopt;
  return CheckedProduct(values());
}

std::string Shape::ToString() const {
  if (!has_rank()) return "[*]";
  std::string result = "[";
  for (size_t i = 0; i < dims_->size(); ++i) {
    if (i > 0) result += ",";
    const Dim& dim = (*dims_)[i];
    result += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return result + "]";
}

namespace {

// One dimension of a broadcast; nullopt if the two cannot match.
std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (a.value == 1) return b;
  if (b.value == 1) return a;
  if (a.known() && b.known()) return std::nullopt;
  if (a.known()) return a;  // b is a's number or 1
  if (b.known()) return b;
  return Dim::Unknown();
}

}  // namespace

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (int i = 1; i <= rank; ++i) {
    const Dim one = Dim::Of(1);
    const std::optional<Dim> dim = BroadcastDim(i <= a.rank() ? a.dim(-i) : one, i <= b.rank() ? b.dim(-i) : one);
    if (!dim.has_value()) return std::nullopt;
    dims[rank - i] = *dim;
  }
  return Shape(std::move(dims));
}

std::optional<int64_t> CheckedProduct(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace halftone
