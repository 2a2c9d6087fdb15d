// SPDX-License-Identifier: Apache-2.0
// Ops that split x into blocks or combine blocks: strided_slice, space_to_batch, batch_to_space, center_crop_pad,
// dynamic_stitch, dynamic_partition.

#include <algorithm>
#include <cstring>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/strided_slice.h"

namespace halftone::reference {

Outputs StridedSlice(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> begin = call.in(1).ToInts(), end = call.in(2).ToInts(), strides = call.in(3).ToInts();
  if (end.size() != begin.size() || strides.size() != begin.size()) {
    return Error("begin holds ", begin.size(), " numbers, end ", end.size(), ", strides ", strides.size(),
                 ": need the same");
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StridedSliceEntry> entries,
                            StridedSliceEntries(call.attributes(), static_cast<int>(begin.size()), x.rank()));
  const Dims x_strides = RowMajorStrides(x.dims());
  Dims dims, steps;
  int64_t start = 0;
  for (const StridedSliceEntry& entry : entries) {
    SliceRange range{.size = 1};
    int64_t unit = 0;
    if (entry.dim >= 0) {
      unit = x_strides[entry.dim];
      range.size = x.dims()[entry.dim];
    }
    if (entry.index >= 0) {
      HALFTONE_ASSIGN_OR_RETURN(
          range, RangeOf(entry, x.dims()[entry.dim], begin[entry.index], end[entry.index], strides[entry.index]));
    }
    start += range.begin * unit;
    if (entry.shrink) continue;
    dims.push_back(range.size);
    steps.push_back(range.stride * unit);
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<int64_t> offsets = Offsets(dims, steps, start);
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

namespace {

// For dimension d: the index in the source for each index i; -1: none.
using Places = std::vector<std::vector<int64_t>>;

// Combines the dimensions in row-major order to offsets of elements; -1 if any dimension has no source.
std::vector<int64_t> CombinePlaces(const Places& places, const Dims& strides) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < places.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * places[d].size());
    for (const int64_t offset : offsets) {
      for (const int64_t place : places[d]) {
        next.push_back(offset < 0 || place < 0 ? -1 : offset + place * strides[d]);
      }
    }
    offsets = std::move(next);
  }
  return offsets;
}

struct Blocks {
  std::vector<int64_t> sizes, begins, ends;  // of dimensions 1, 2, ...
  int64_t count = 1;                         // product of sizes
};

absl::StatusOr<Blocks> ReadBlocks(const Call& call) {
  Blocks blocks;
  blocks.sizes = call.in(1).ToInts();
  const std::vector<int64_t> pads = call.in(2).ToInts();
  if (pads.size() != 2 * blocks.sizes.size()) {
    return Error("pads holds ", pads.size(), " numbers, need ", 2 * blocks.sizes.size());
  }
  if (blocks.sizes.size() + 1 > call.in(0).dims().size()) {
    return Error("block_shape holds ", blocks.sizes.size(), " numbers, x is ", call.in(0).shape().ToString());
  }
  for (size_t i = 0; i < blocks.sizes.size(); ++i) {
    if (blocks.sizes[i] < 1 || __builtin_mul_overflow(blocks.count, blocks.sizes[i], &blocks.count)) {
      return Error("block_shape holds ", blocks.sizes[i]);
    }
    blocks.begins.push_back(pads[2 * i]);
    blocks.ends.push_back(pads[2 * i + 1]);
    if (pads[2 * i] < 0 || pads[2 * i + 1] < 0 || std::max(pads[2 * i], pads[2 * i + 1]) > (int64_t{1} << 40)) {
      return Error("pads holds ", pads[2 * i], " and ", pads[2 * i + 1]);
    }
  }
  return blocks;
}

}  // namespace

// Pads dimensions 1.., splits them into blocks, and moves the position in the block before the batch.
Outputs SpaceToBatch(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(call));
  const size_t count = blocks.sizes.size();
  Dims dims = x.dims();
  for (size_t i = 0; i < count; ++i) {
    const int64_t padded = dims[i + 1] + blocks.begins[i] + blocks.ends[i];
    if (padded % blocks.sizes[i] != 0) {
      return Error("dimension ", i + 1, " is ", padded, " with its pads: no multiple of ", blocks.sizes[i]);
    }
    dims[i + 1] = padded / blocks.sizes[i];
  }
  if (__builtin_mul_overflow(dims[0], blocks.count, &dims[0])) return Error("block_shape is too large");
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const Dims strides = RowMajorStrides(x.dims());
  std::vector<int64_t> offsets;
  for (int64_t block = 0; block < blocks.count && Count(dims) > 0; ++block) {
    Places places;
    for (size_t d = 0; d < dims.size(); ++d) {
      const bool cut = d >= 1 && d <= count;
      int64_t phase = 0, step = 1, before = 0;
      if (cut) {
        int64_t below = 1;
        for (size_t i = d; i < count; ++i) below *= blocks.sizes[i];
        step = blocks.sizes[d - 1];
        phase = block / below % step;
        before = blocks.begins[d - 1];
      }
      const int64_t size = d == 0 ? x.dims()[0] : dims[d];
      std::vector<int64_t>& row = places.emplace_back();
      for (int64_t i = 0; i < size; ++i) {
        const int64_t from = i * step + phase - before;
        row.push_back(from < 0 || from >= x.dims()[d] ? -1 : from);
      }
    }
    const std::vector<int64_t> part = CombinePlaces(places, strides);
    offsets.insert(offsets.end(), part.begin(), part.end());
  }
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

// The inverse: removes `pads`.
Outputs BatchToSpace(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(call));
  const size_t count = blocks.sizes.size();
  Dims dims = x.dims();
  if (dims[0] % blocks.count != 0) return Error("the batch is ", dims[0], ": no multiple of ", blocks.count);
  dims[0] /= blocks.count;
  for (size_t i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(dims[i + 1], blocks.sizes[i], &dims[i + 1])) return Error("block_shape is too large");
    dims[i + 1] -= blocks.begins[i] + blocks.ends[i];
    if (dims[i + 1] < 0) {
      return Error("crops of ", blocks.begins[i], " and ", blocks.ends[i], " exceed dimension ", i + 1);
    }
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const Dims strides = RowMajorStrides(x.dims());
  // Index b of y in dimension d is index b / block of batch part b % block.
  Places places;
  Dims steps;
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<int64_t>& row = places.emplace_back();
    int64_t below = dims[0] * strides[0];  // stride of the block's position in the batch
    for (size_t i = d; i < count; ++i) below *= blocks.sizes[i];
    for (int64_t i = 0; i < dims[d]; ++i) {
      if (d == 0 || d > count) {
        row.push_back(i * strides[d]);
      } else {
        const int64_t at = i + blocks.begins[d - 1], block = blocks.sizes[d - 1];
        row.push_back(at / block * strides[d] + at % block * below);
      }
    }
    steps.push_back(1);
  }
  const std::vector<int64_t> offsets = CombinePlaces(places, steps);
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

Outputs CenterCropPad(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> shape = call.in(1).ToInts();
  std::vector<int64_t> axes = call.attributes().Ints("axes");
  if (!call.attributes().has("axes")) {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, x.rank()).status());
  if (shape.size() != axes.size()) return Error("shape holds ", shape.size(), " numbers for ", axes.size(), " axes");
  Dims dims = x.dims();
  for (size_t i = 0; i < axes.size(); ++i) dims[axes[i] < 0 ? axes[i] + x.rank() : axes[i]] = shape[i];
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  Places places(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t from = x.dims()[d], to = dims[d];
    const int64_t shift = to <= from ? (from - to) / 2 : -((to - from) / 2);
    for (int64_t i = 0; i < to; ++i) {
      const int64_t at = i + shift;
      places[d].push_back(at < 0 || at >= from ? -1 : at);
    }
  }
  const std::vector<int64_t> offsets = CombinePlaces(places, RowMajorStrides(x.dims()));
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

// y[indices_k[i]] = x_k[i]; the last one wins.
Outputs DynamicStitch(const Call& call) {
  const size_t count = call.inputs.size() / 2;
  if (call.inputs.size() % 2 != 0) return Error("it has ", call.inputs.size(), " inputs, need as many indices as data");
  int64_t rows = 0;
  const Tensor& first_indices = call.in(0);
  const Tensor& first = call.in(count);
  if (first.rank() < first_indices.rank()) return Error("data 0 has a lower rank than its indices");
  const Dims slice(first.dims().begin() + first_indices.rank(), first.dims().end());
  for (size_t k = 0; k < count; ++k) {
    Dims expected = call.in(k).dims();
    expected.insert(expected.end(), slice.begin(), slice.end());
    if (call.in(count + k).dims() != expected || call.in(count + k).type() != first.type()) {
      return Error("data ", k, " is ", call.in(count + k).shape().ToString(), ", need ", Shape::Of(expected).ToString(),
                   " of ", DataTypeName(first.type()));
    }
    for (const int64_t index : call.in(k).ToInts()) {
      if (index < 0 || index > INT32_MAX) return Error("index ", index, " is out of range: need 0 to ", INT32_MAX);
      rows = std::max(rows, index + 1);
    }
  }
  Dims dims = slice;
  dims.insert(dims.begin(), rows);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  Tensor y(first.type(), std::move(dims));
  const size_t bytes = Count(slice) * ElementSize(first.type());
  for (size_t k = 0; k < count && bytes > 0; ++k) {
    const std::vector<int64_t> indices = call.in(k).ToInts();
    for (size_t i = 0; i < indices.size(); ++i) {
      std::memcpy(y.mutable_raw() + indices[i] * bytes, call.in(count + k).raw() + i * bytes, bytes);
    }
  }
  return std::vector<Tensor>{std::move(y)};
}

// Slice i of x goes to output partitions[i].
Outputs DynamicPartition(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& partitions = call.in(1);
  if (partitions.rank() > x.rank() ||
      partitions.dims() != Dims(x.dims().begin(), x.dims().begin() + partitions.rank())) {
    return Error("partitions is ", partitions.shape().ToString(), ", x ", x.shape().ToString(),
                 ": x must begin with the dimensions of partitions");
  }
  const Dims slice(x.dims().begin() + partitions.rank(), x.dims().end());
  const int64_t inner = Count(slice), parts = static_cast<int64_t>(call.types.size());
  std::vector<std::vector<int64_t>> offsets(parts);
  std::vector<int64_t> counts(parts, 0);
  const std::vector<int64_t> targets = partitions.ToInts();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= parts) {
      return Error("partition ", targets[i], " is out of range: need 0 to ", parts - 1);
    }
    ++counts[targets[i]];
    for (int64_t j = 0; j < inner; ++j) offsets[targets[i]].push_back(static_cast<int64_t>(i) * inner + j);
  }
  std::vector<Tensor> outputs;
  for (int64_t p = 0; p < parts; ++p) {
    Dims dims = slice;
    dims.insert(dims.begin(), counts[p]);
    outputs.push_back(TakeElements(x, std::move(dims), offsets[p]));
  }
  return outputs;
}

}  // namespace halftone::reference
