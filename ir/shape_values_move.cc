// SPDX-License-Identifier: Apache-2.0
// Ops that put known elements to other places: slices, repetitions, joins.

#include <algorithm>

#include "ir/shape_values_internal.h"
#include "ir/strided_slice.h"

namespace halftone::shape_values {
namespace {

std::optional<int64_t> AxisOf(int64_t written, size_t rank) {
  const int64_t size = static_cast<int64_t>(rank), axis = written < 0 ? written + size : written;
  return axis >= 0 && axis < size ? std::optional(axis) : std::nullopt;
}

// The parts concatenated along `axis`; nullopt where one is not known or their ranks differ.
Result Joined(const std::vector<const KnownTensor*>& parts, int64_t axis) {
  for (const KnownTensor* part : parts) {
    if (part == nullptr || part->dims.size() != parts[0]->dims.size()) return std::nullopt;
  }
  KnownTensor result;
  result.floating = parts[0]->floating;
  result.dims = parts[0]->dims;
  result.dims[axis] = 0;
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= result.dims[i];
  size_t total = 0;
  for (const KnownTensor* part : parts) {
    std::vector<int64_t> others = part->dims;
    others[axis] = result.dims[axis];
    if (others != result.dims || part->floating != result.floating) return std::nullopt;
    result.dims[axis] += part->dims[axis];
    total += part->elements.size();
  }
  if (total > kMaxElements) return std::nullopt;
  for (int64_t o = 0; o < outer; ++o) {
    for (const KnownTensor* part : parts) {
      const int64_t block = static_cast<int64_t>(part->elements.size()) / outer;
      const auto begin = part->elements.begin() + o * block;
      result.elements.insert(result.elements.end(), begin, begin + block);
    }
  }
  return result;
}

}  // namespace

Result OfIdentity(const Operands& node) { return node.in(0) == nullptr ? std::nullopt : Result(*node.in(0)); }

// The same elements under the dims of the output.
Result OfRearranged(const Operands& node) {
  const KnownTensor* x = node.in(0);
  if (x == nullptr) return std::nullopt;
  KnownTensor result = *x;
  const int64_t size = static_cast<int64_t>(x->elements.size());
  if (node.node.op == OpKind::kUnsqueeze && x->dims.empty()) {
    result.dims = {1};
  } else if (node.node.op == OpKind::kSqueeze && size == 1 && x->dims.size() == 1) {
    result.dims = {};
  } else {
    const Shape& shape = node.graph.shape(node.node.outputs[0]);
    if (!shape.has_rank()) return std::nullopt;
    if (shape.rank() == 1) {  // its number of elements may not be known, but can only be this
      result.dims = {size};
      return result;
    }
    if (shape.num_elements() != size) return std::nullopt;
    result.dims = shape.values();
  }
  return result;
}

// Exporters turn the order of paddings around by a reshape to two columns, a slice backwards and a transposition.
Result OfTranspose(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<std::vector<int64_t>> perm = AllInts(node.in(1));
  if (x == nullptr || !perm.has_value() || perm->size() != x->dims.size()) return std::nullopt;
  const std::vector<int64_t> from = StridesOf(x->dims);
  std::vector<int64_t> dims, strides;
  std::vector<bool> seen(perm->size(), false);
  for (const int64_t written : *perm) {
    const std::optional<int64_t> axis = AxisOf(written, perm->size());
    if (!axis.has_value() || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    dims.push_back(x->dims[*axis]);
    strides.push_back(from[*axis]);
  }
  return Taken(*x, std::move(dims), strides);
}

Result OfReverse(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<std::vector<int64_t>> axes = AllInts(node.in(1));
  if (x == nullptr || !axes.has_value() || x->elements.empty()) return std::nullopt;
  std::vector<int64_t> strides = StridesOf(x->dims);
  int64_t start = 0;
  for (const int64_t written : *axes) {
    const std::optional<int64_t> axis = AxisOf(written, x->dims.size());
    if (!axis.has_value() || strides[*axis] < 0) return std::nullopt;
    start += (x->dims[*axis] - 1) * strides[*axis];
    strides[*axis] = -strides[*axis];
  }
  return Taken(*x, x->dims, strides, start);
}

Result OfSlice(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<std::vector<int64_t>> starts = AllInts(node.in(1)), ends = AllInts(node.in(2));
  if (x == nullptr || !starts.has_value() || !ends.has_value()) return std::nullopt;
  std::vector<int64_t> all(starts->size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const std::vector<int64_t> ones(starts->size(), 1);
  const auto axes = node.has(3) ? AllInts(node.in(3)) : std::optional(all);
  const auto steps = node.has(4) ? AllInts(node.in(4)) : std::optional(ones);
  if (!axes.has_value() || !steps.has_value()) return std::nullopt;
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size()) {
    return std::nullopt;
  }
  std::vector<int64_t> dims = x->dims, strides = StridesOf(x->dims);
  int64_t start = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    const std::optional<int64_t> axis = AxisOf((*axes)[i], x->dims.size());
    if (!axis.has_value()) return std::nullopt;
    const StridedSliceEntry entry{.dim = static_cast<int>(*axis), .index = 0};
    const absl::StatusOr<SliceRange> range = RangeOf(entry, x->dims[*axis], (*starts)[i], (*ends)[i], (*steps)[i]);
    if (!range.ok()) return std::nullopt;
    dims[*axis] = range->size;
    start += range->begin * strides[*axis];
    strides[*axis] *= range->stride;
  }
  return Taken(*x, std::move(dims), strides, start);
}

Result OfStridedSlice(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const auto begin = AllInts(node.in(1)), end = AllInts(node.in(2)), steps = AllInts(node.in(3));
  if (x == nullptr || !begin.has_value() || !end.has_value() || !steps.has_value()) return std::nullopt;
  if (end->size() != begin->size() || steps->size() != begin->size()) return std::nullopt;
  const auto entries =
      StridedSliceEntries(node.node.attributes, static_cast<int>(begin->size()), static_cast<int>(x->dims.size()));
  if (!entries.ok()) return std::nullopt;
  const std::vector<int64_t> from = StridesOf(x->dims);
  std::vector<int64_t> dims, strides;
  int64_t start = 0;
  for (const StridedSliceEntry& entry : *entries) {
    SliceRange range{.size = entry.dim >= 0 ? x->dims[entry.dim] : 1};
    if (entry.index >= 0) {
      const absl::StatusOr<SliceRange> found =
          RangeOf(entry, x->dims[entry.dim], (*begin)[entry.index], (*end)[entry.index], (*steps)[entry.index]);
      if (!found.ok()) return std::nullopt;
      range = *found;
    }
    const int64_t unit = entry.dim >= 0 ? from[entry.dim] : 0;
    start += range.begin * unit;
    if (entry.shrink) continue;
    dims.push_back(range.size);
    strides.push_back(range.stride * unit);
  }
  return Taken(*x, std::move(dims), strides, start);
}

Result OfSplit(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<int64_t> written = node.has(2) ? OnlyInt(node.in(2)) : 0;
  if (x == nullptr || !written.has_value()) return std::nullopt;
  const std::optional<int64_t> axis = AxisOf(*written, x->dims.size());
  if (!axis.has_value()) return std::nullopt;
  const int64_t size = x->dims[*axis], count = static_cast<int64_t>(node.node.outputs.size());
  int64_t begin = 0, length = 0;
  if (node.has(1)) {
    const std::optional<std::vector<int64_t>> sizes = AllInts(node.in(1));
    if (!sizes.has_value() || static_cast<int64_t>(sizes->size()) != count) return std::nullopt;
    for (int i = 0; i <= node.output; ++i) {
      begin += length;
      length = (*sizes)[i];
      if (length < 0 || length > size - begin) return std::nullopt;
    }
  } else {
    const int64_t part = (size + count - 1) / count;
    begin = part * node.output;
    length = std::min(part, size - begin);
    if (length < 0) return std::nullopt;
  }
  std::vector<int64_t> dims = x->dims;
  const std::vector<int64_t> strides = StridesOf(dims);
  dims[*axis] = length;
  return Taken(*x, std::move(dims), strides, begin * strides[*axis]);
}

Result OfUnstack(const Operands& node) {
  const KnownTensor* x = node.in(0);
  if (x == nullptr) return std::nullopt;
  const std::optional<int64_t> axis = AxisOf(node.node.attributes.Int("axis", 0), x->dims.size());
  if (!axis.has_value() || node.output >= x->dims[*axis]) return std::nullopt;
  std::vector<int64_t> dims = x->dims, strides = StridesOf(dims);
  const int64_t start = node.output * strides[*axis];
  dims.erase(dims.begin() + *axis);
  strides.erase(strides.begin() + *axis);
  return Taken(*x, std::move(dims), strides, start);
}

Result OfExpand(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<std::vector<int64_t>> shape = AllInts(node.in(1));
  if (x == nullptr || !shape.has_value()) return std::nullopt;
  std::vector<int64_t> dims = *shape;
  if (dims.size() < x->dims.size()) dims.insert(dims.begin(), x->dims.size() - dims.size(), 1);
  for (size_t i = 1; i <= x->dims.size(); ++i) {
    int64_t& dim = dims[dims.size() - i];
    if (dim == 1) dim = x->dims[x->dims.size() - i];
  }
  const std::optional<std::vector<int64_t>> strides = BroadcastTo(*x, dims);
  return strides.has_value() ? Taken(*x, std::move(dims), *strides) : std::nullopt;
}

Result OfTile(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const std::optional<std::vector<int64_t>> repeats = AllInts(node.in(1));
  if (x == nullptr || !repeats.has_value() || repeats->size() != x->dims.size()) return std::nullopt;
  const std::vector<int64_t> from = StridesOf(x->dims);
  std::vector<int64_t> dims, cut, strides;
  for (size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0 || (*repeats)[i] > static_cast<int64_t>(kMaxElements)) return std::nullopt;
    dims.push_back((*repeats)[i] * x->dims[i]);
    cut.insert(cut.end(), {(*repeats)[i], x->dims[i]});
    strides.insert(strides.end(), {0, from[i]});
  }
  Result result = Taken(*x, std::move(cut), strides);
  if (result.has_value()) result->dims = std::move(dims);
  return result;
}

Result OfConcat(const Operands& node) {
  const std::optional<int64_t> written = node.inputs.empty() ? std::nullopt : OnlyInt(node.inputs.back());
  if (node.inputs.size() < 2 || !written.has_value() || node.in(0) == nullptr) return std::nullopt;
  const std::optional<int64_t> axis = AxisOf(*written, node.in(0)->dims.size());
  if (!axis.has_value()) return std::nullopt;
  return Joined({node.inputs.begin(), node.inputs.end() - 1}, *axis);
}

Result OfStack(const Operands& node) {
  std::vector<KnownTensor> parts;
  for (const KnownTensor* input : node.inputs) {
    if (input == nullptr) return std::nullopt;
    const std::optional<int64_t> axis = AxisOf(node.node.attributes.Int("axis", 0), input->dims.size() + 1);
    if (!axis.has_value()) return std::nullopt;
    parts.push_back(*input);
    parts.back().dims.insert(parts.back().dims.begin() + *axis, 1);
  }
  std::vector<const KnownTensor*> pointers;
  for (const KnownTensor& part : parts) pointers.push_back(&part);
  if (parts.empty()) return std::nullopt;
  return Joined(pointers, *AxisOf(node.node.attributes.Int("axis", 0), parts[0].dims.size()));
}

}  // namespace halftone::shape_values
