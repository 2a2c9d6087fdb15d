// SPDX-License-Identifier: Apache-2.0
// Shapes as elements, and ops that read and write known elements by index. An unknown index makes its elements unknown.

#include <algorithm>

#include "ir/shape_values_internal.h"

namespace halftone::shape_values {
namespace {

KnownElement OfDim(const Graph& graph, ValueId value, int axis) {
  const Dim& dim = graph.shape(value).dim(axis);
  if (dim.known()) return Number(dim.value);
  return {.symbol = dim.symbol.empty() ? UnnamedDimension(value, axis) : dim.symbol};
}

// -1: not known, or out of range (an error of the model, which others report).
int64_t PlaceOf(const KnownElement& index, int64_t size) {
  const int64_t i = index.integer < 0 ? index.integer + size : index.integer;
  return index.known && i >= 0 && i < size ? i : -1;
}

int64_t Count(const std::vector<int64_t>& dims, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

}  // namespace

Result OfShape(const Operands& node) {
  const ValueId x = node.node.inputs[0];
  const Shape& shape = node.graph.shape(x);
  if (!shape.has_rank()) return std::nullopt;
  const int64_t rank = shape.rank();
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(node.node.attributes.Int("start", 0));
  const int64_t end = clamp(node.node.attributes.Int("end", rank));
  std::vector<KnownElement> elements;
  for (int64_t i = start; i < end; ++i) elements.push_back(OfDim(node.graph, x, static_cast<int>(i)));
  return Vector(std::move(elements));
}

Result OfSize(const Operands& node) {
  const ValueId x = node.node.inputs[0];
  const Shape& shape = node.graph.shape(x);
  if (!shape.has_rank()) return std::nullopt;
  KnownElement total = Number(1);
  for (int i = 0; i < shape.rank(); ++i) {
    const KnownElement dim = OfDim(node.graph, x, i);
    int64_t product = 0;
    if (total.known && dim.known && !__builtin_mul_overflow(total.integer, dim.integer, &product)) {
      total.integer = product;
    } else {
      total = total.known && total.integer == 1 ? dim : dim.known && dim.integer == 1 ? total : KnownElement{};
    }
  }
  return KnownTensor{.elements = {total}};
}

Result OfRank(const Operands& node) {
  const Shape& shape = node.graph.shape(node.node.inputs[0]);
  if (!shape.has_rank()) return std::nullopt;
  return KnownTensor{.elements = {Number(shape.rank())}};
}

Result OfFill(const Operands& node) {
  const std::optional<std::vector<int64_t>> dims = AllInts(node.in(0));
  if (!dims.has_value() || !SmallCount(*dims).has_value()) return std::nullopt;
  KnownTensor zero{.floating = IsFloatingPoint(node.type()), .elements = {{.known = true}}};
  const KnownTensor* value = node.has(1) ? node.in(1) : &zero;
  if (value == nullptr || value->elements.size() != 1) return std::nullopt;
  return Taken(*value, *dims, std::vector<int64_t>(dims->size(), 0));
}

Result OfGather(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const KnownTensor* indices = node.in(1);
  const std::optional<int64_t> written = node.has(2) ? OnlyInt(node.in(2)) : 0;
  if (x == nullptr || indices == nullptr || indices->floating || !written.has_value()) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(x->dims.size()), axis = *written < 0 ? *written + rank : *written;
  if (axis < 0 || axis >= rank || node.node.attributes.Int("batch_dims", 0) != 0) return std::nullopt;
  const int64_t size = x->dims[axis], outer = Count(x->dims, 0, axis), inner = Count(x->dims, axis + 1, rank);
  KnownTensor result{.floating = x->floating, .dims = {x->dims.begin(), x->dims.begin() + axis}};
  result.dims.insert(result.dims.end(), indices->dims.begin(), indices->dims.end());
  result.dims.insert(result.dims.end(), x->dims.begin() + axis + 1, x->dims.end());
  if (!SmallCount(result.dims).has_value()) return std::nullopt;
  for (int64_t o = 0; o < outer; ++o) {
    for (const KnownElement& index : indices->elements) {
      const int64_t place = PlaceOf(index, size);
      for (int64_t i = 0; i < inner; ++i) {
        result.elements.push_back(place < 0 ? KnownElement{} : x->elements[(o * size + place) * inner + i]);
      }
    }
  }
  return result;
}

namespace {

// For each index of gather_elements and scatter_elements its place in an array of `dims`, -1 where it is not known.
std::optional<std::vector<int64_t>> ElementPlaces(const std::vector<int64_t>& dims, const KnownTensor& indices,
                                                  int64_t written) {
  const int64_t rank = static_cast<int64_t>(dims.size()), axis = written < 0 ? written + rank : written;
  if (axis < 0 || axis >= rank || indices.floating || indices.dims.size() != dims.size()) return std::nullopt;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis && indices.dims[i] > dims[i]) return std::nullopt;
  }
  const std::vector<int64_t> strides = StridesOf(dims), own = StridesOf(indices.dims);
  std::vector<int64_t> places;
  for (size_t i = 0; i < indices.elements.size(); ++i) {
    int64_t place = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis) place += static_cast<int64_t>(i) / own[d] % indices.dims[d] * strides[d];
    }
    const int64_t index = PlaceOf(indices.elements[i], dims[axis]);
    places.push_back(index < 0 ? -1 : place + index * strides[axis]);
  }
  return places;
}

// For each tuple of gather_nd and scatter_nd the place of its slice, -1 where it is not known.
std::optional<std::vector<int64_t>> TuplePlaces(const std::vector<int64_t>& dims, const KnownTensor& indices) {
  if (indices.floating || indices.dims.empty()) return std::nullopt;
  const int64_t length = indices.dims.back();
  if (length == 0 || length > static_cast<int64_t>(dims.size())) return std::nullopt;
  const std::vector<int64_t> strides = StridesOf(dims);
  std::vector<int64_t> places;
  for (size_t t = 0; t < indices.elements.size(); t += length) {
    int64_t place = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t index = PlaceOf(indices.elements[t + i], dims[i]);
      place = index < 0 || place < 0 ? -1 : place + index * strides[i];
    }
    places.push_back(place);
  }
  return places;
}

// x with blocks of updates at known places; nothing is known of x where a place is not.
Result Written(const KnownTensor& x, const KnownTensor& updates, const std::vector<int64_t>& places, int64_t block) {
  if (updates.floating != x.floating || updates.elements.size() != places.size() * block) return std::nullopt;
  KnownTensor result = x;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) return std::nullopt;
    for (int64_t j = 0; j < block; ++j) result.elements[places[i] + j] = updates.elements[i * block + j];
  }
  return result;
}

}  // namespace

Result OfGatherElements(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const KnownTensor* indices = node.in(1);
  if (x == nullptr || indices == nullptr) return std::nullopt;
  const auto places = ElementPlaces(x->dims, *indices, node.node.attributes.Int("axis", 0));
  if (!places.has_value()) return std::nullopt;
  KnownTensor result{.floating = x->floating, .dims = indices->dims};
  for (const int64_t place : *places) result.elements.push_back(place < 0 ? KnownElement{} : x->elements[place]);
  return result;
}

Result OfGatherNd(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const KnownTensor* indices = node.in(1);
  if (x == nullptr || indices == nullptr || node.node.attributes.Int("batch_dims", 0) != 0) return std::nullopt;
  const auto places = TuplePlaces(x->dims, *indices);
  if (!places.has_value()) return std::nullopt;
  const int64_t length = indices->dims.back(), block = Count(x->dims, length, x->dims.size());
  KnownTensor result{.floating = x->floating, .dims = {indices->dims.begin(), indices->dims.end() - 1}};
  result.dims.insert(result.dims.end(), x->dims.begin() + length, x->dims.end());
  if (!SmallCount(result.dims).has_value()) return std::nullopt;
  for (const int64_t place : *places) {
    for (int64_t i = 0; i < block; ++i) {
      result.elements.push_back(place < 0 ? KnownElement{} : x->elements[place + i]);
    }
  }
  return result;
}

Result OfScatterElements(const Operands& node) {
  const KnownTensor* x = node.in(0);
  if (x == nullptr || node.in(1) == nullptr || node.in(2) == nullptr) return std::nullopt;
  if (node.node.attributes.String("reduction", "none") != "none" || node.in(2)->dims != node.in(1)->dims) {
    return std::nullopt;
  }
  const auto places = ElementPlaces(x->dims, *node.in(1), node.node.attributes.Int("axis", 0));
  return places.has_value() ? Written(*x, *node.in(2), *places, 1) : std::nullopt;
}

Result OfScatterNd(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const KnownTensor* indices = node.in(1);
  if (x == nullptr || indices == nullptr || node.in(2) == nullptr) return std::nullopt;
  if (node.node.attributes.String("reduction", "none") != "none") return std::nullopt;
  const auto places = TuplePlaces(x->dims, *indices);
  if (!places.has_value()) return std::nullopt;
  return Written(*x, *node.in(2), *places, Count(x->dims, indices->dims.back(), x->dims.size()));
}

// Old exporters count up by the positions of ones.
Result OfNonZero(const Operands& node) {
  const KnownTensor* x = node.in(0);
  if (x == nullptr || x->dims.empty()) return std::nullopt;
  const std::vector<int64_t> strides = StridesOf(x->dims);
  std::vector<int64_t> found;
  for (size_t i = 0; i < x->elements.size(); ++i) {
    const KnownElement& element = x->elements[i];
    if (!element.known) return std::nullopt;
    if (x->floating ? element.real != 0 : element.integer != 0) found.push_back(static_cast<int64_t>(i));
  }
  const int64_t rank = static_cast<int64_t>(x->dims.size()), count = static_cast<int64_t>(found.size());
  if (!SmallCount({rank, count}).has_value()) return std::nullopt;
  const bool rows = node.node.attributes.Bool("rows", false);
  KnownTensor result{.dims = rows ? std::vector<int64_t>{count, rank} : std::vector<int64_t>{rank, count}};
  result.elements.resize(found.size() * x->dims.size());
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < rank; ++d) {
      result.elements[rows ? i * rank + d : d * count + i] = Number(found[i] / strides[d] % x->dims[d]);
    }
  }
  return result;
}

Result OfInvertPermutation(const Operands& node) {
  const std::optional<std::vector<int64_t>> perm = AllInts(node.in(0));
  if (!perm.has_value() || node.in(0)->dims.size() != 1) return std::nullopt;
  std::vector<KnownElement> elements(perm->size());
  for (size_t i = 0; i < perm->size(); ++i) {
    const int64_t at = (*perm)[i];
    if (at < 0 || at >= static_cast<int64_t>(perm->size()) || elements[at].known) return std::nullopt;
    elements[at] = Number(static_cast<int64_t>(i));
  }
  return Vector(std::move(elements));
}

}  // namespace halftone::shape_values
