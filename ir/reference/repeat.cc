// SPDX-License-Identifier: Apache-2.0
// Ops that repeat, split, concatenate and reverse: expand, tile, split, stack, unstack, reverse, reverse_sequence.

#include <algorithm>
#include <cstring>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {

// Broadcasts x to the shape as in numpy: ones in the shape keep the dimensions of x.
Outputs Expand(const Call& call) {
  const Tensor& x = call.in(0);
  const Dims shape = call.in(1).ToInts();
  HALFTONE_RETURN_IF_ERROR(CheckDims(shape));
  HALFTONE_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(x.dims(), shape));
  const std::vector<int64_t> offsets = Offsets(dims, BroadcastStrides(x.dims(), dims));
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

Outputs Tile(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> repeats = call.in(1).ToInts();
  if (repeats.size() != x.dims().size()) {
    return Error("repeats holds ", repeats.size(), " numbers, x is ", x.shape().ToString());
  }
  const Dims strides = RowMajorStrides(x.dims());
  Dims dims, cut, cut_strides;  // each dimension as [repeats, size]; the first has stride 0
  for (size_t i = 0; i < repeats.size(); ++i) {
    int64_t product = 0;
    if (repeats[i] < 0 || __builtin_mul_overflow(repeats[i], x.dims()[i], &product)) {
      return Error("repeats holds ", repeats[i], " for dimension ", i, " of x ", x.shape().ToString());
    }
    dims.push_back(product);
    cut.insert(cut.end(), {repeats[i], x.dims()[i]});
    cut_strides.insert(cut_strides.end(), {0, strides[i]});
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  return std::vector<Tensor>{TakeElements(x, std::move(dims), Offsets(cut, cut_strides))};
}

namespace {

// Part [begin, begin + size) of x along the axis.
Tensor Part(const Tensor& x, int axis, int64_t begin, int64_t size) {
  Dims dims = x.dims();
  dims[axis] = size;
  const Dims strides = RowMajorStrides(x.dims());
  const std::vector<int64_t> offsets = Offsets(dims, strides, begin * strides[axis]);
  return TakeElements(x, std::move(dims), offsets);
}

// The lengths of `count` parts of `total`.
absl::StatusOr<std::vector<int64_t>> PartSizes(const Call& call, int64_t total, int64_t count) {
  if (!call.has(1)) {
    const int64_t part = count == 0 ? 0 : (total + count - 1) / count;
    std::vector<int64_t> sizes(count, part);
    if (count > 0) sizes.back() = total - part * (count - 1);
    if (count > 0 && sizes.back() < 0) return Error(total, " elements cannot be split into ", count, " parts");
    return sizes;
  }
  std::vector<int64_t> sizes = call.in(1).ToInts();
  if (static_cast<int64_t>(sizes.size()) != count) {
    return Error("sizes holds ", sizes.size(), " numbers for ", count, " outputs");
  }
  int64_t sum = 0;
  int inferred = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && inferred < 0) {
      inferred = static_cast<int>(i);
      continue;
    }
    if (sizes[i] < 0 || sizes[i] > total - sum) return Error("sizes holds ", sizes[i], ", ", total - sum, " are left");
    sum += sizes[i];
  }
  if (inferred >= 0) {
    sizes[inferred] = total - sum;
  } else if (sum != total) {
    return Error("sizes sum up to ", sum, ", need ", total);
  }
  return sizes;
}

}  // namespace

Outputs Split(const Call& call) {
  const Tensor& x = call.in(0);
  if (call.has(2) && call.in(2).num_elements() != 1) return Error("axis must be one number");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.has(2) ? call.in(2).ToInts()[0] : 0, x.rank()));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                            PartSizes(call, x.dims()[axis], static_cast<int64_t>(call.types.size())));
  std::vector<Tensor> outputs;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    outputs.push_back(Part(x, axis, begin, size));
    begin += size;
  }
  return outputs;
}

Outputs Stack(const Call& call) {
  const Tensor& first = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", 0), first.rank() + 1));
  const int64_t count = static_cast<int64_t>(call.inputs.size());
  for (const Tensor& x : call.inputs) {
    if (x.dims() != first.dims() || x.type() != first.type()) {
      return Error("one input is ", x.shape().ToString(), ", another ", first.shape().ToString(), ": need the same");
    }
  }
  Dims dims = first.dims();
  dims.insert(dims.begin() + axis, count);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t outer = Count(Dims(dims.begin(), dims.begin() + axis));
  const size_t inner = Count(Dims(dims.begin() + axis + 1, dims.end())) * ElementSize(first.type());
  Tensor y(first.type(), std::move(dims));
  std::byte* out = y.mutable_raw();
  for (int64_t o = 0; o < outer && inner > 0; ++o) {
    for (const Tensor& x : call.inputs) {
      std::memcpy(out, x.raw() + o * inner, inner);
      out += inner;
    }
  }
  return std::vector<Tensor>{std::move(y)};
}

Outputs Unstack(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", 0), x.rank()));
  if (x.dims()[axis] != static_cast<int64_t>(call.types.size())) {
    return Error("x ", x.shape().ToString(), " has ", x.dims()[axis], " slices along axis ", axis, ", the node ",
                 call.types.size(), " outputs");
  }
  Dims dims = x.dims();
  dims.erase(dims.begin() + axis);
  std::vector<Tensor> outputs;
  for (int64_t i = 0; i < x.dims()[axis]; ++i) outputs.push_back(Part(x, axis, i, 1).WithDims(dims));
  return outputs;
}

Outputs Reverse(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> marks, AxisMarks(call.in(1).ToInts(), x.rank()));
  Dims strides = RowMajorStrides(x.dims());
  int64_t start = 0;
  for (int i = 0; i < x.rank(); ++i) {
    if (!marks[i]) continue;
    start += (x.dims()[i] - 1) * strides[i];
    strides[i] = -strides[i];
  }
  return std::vector<Tensor>{TakeElements(x, x.dims(), Offsets(x.dims(), strides, start))};
}

// Reverses the first lengths[b] steps of batch entry b; the others stay.
Outputs ReverseSequence(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int batch, Axis(call.attributes().Int("batch_axis", 1), x.rank()));
  HALFTONE_ASSIGN_OR_RETURN(const int time, Axis(call.attributes().Int("time_axis", 0), x.rank()));
  if (batch == time) return Error("batch_axis and time_axis are both ", batch);
  const std::vector<int64_t> lengths = call.in(1).ToInts();
  if (static_cast<int64_t>(lengths.size()) != x.dims()[batch]) {
    return Error("lengths holds ", lengths.size(), " numbers, the batch is ", x.dims()[batch]);
  }
  for (const int64_t length : lengths) {
    if (length < 0 || length > x.dims()[time]) return Error("a length of ", length, ", need 0 to ", x.dims()[time]);
  }
  const Dims strides = RowMajorStrides(x.dims());
  std::vector<int64_t> offsets = Offsets(x.dims(), strides);
  for (int64_t& offset : offsets) {
    const int64_t length = lengths[offset / strides[batch] % x.dims()[batch]];
    const int64_t step = offset / strides[time] % x.dims()[time];
    if (step < length) offset += (length - 1 - 2 * step) * strides[time];
  }
  return std::vector<Tensor>{TakeElements(x, x.dims(), offsets)};
}

}  // namespace halftone::reference
