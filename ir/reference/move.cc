// SPDX-License-Identifier: Apache-2.0
// Ops that copy elements to other places. They copy bytes: every type of fixed size stays unchanged.

#include <algorithm>
#include <cstring>

#include "ir/pad_index.h"
#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/window.h"

namespace halftone::reference {

Outputs Transpose(const Call& call) {
  const Tensor& x = call.in(0);
  std::vector<int64_t> perm;
  if (call.has(1)) {
    perm = call.in(1).ToInts();
  } else {
    for (int i = x.rank() - 1; i >= 0; --i) perm.push_back(i);
  }
  if (static_cast<int>(perm.size()) != x.rank())
    return Error("perm holds ", perm.size(), " numbers, x is ", x.shape().ToString());
  HALFTONE_RETURN_IF_ERROR(AxisMarks(perm, x.rank()).status());
  const Dims strides = RowMajorStrides(x.dims());
  Dims dims, new_strides;
  for (const int64_t axis : perm) {
    const int64_t from = axis < 0 ? axis + x.rank() : axis;
    dims.push_back(x.dims()[from]);
    new_strides.push_back(strides[from]);
  }
  const std::vector<int64_t> offsets = Offsets(dims, new_strides);
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

Outputs ConcatAlong(const Call& call) {
  const size_t count = call.inputs.size() - 1;
  const Tensor& first = call.in(0);
  if (call.in(count).num_elements() != 1) return Error("axis must be one number");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.in(count).ToInts()[0], first.rank()));
  Dims dims = first.dims();
  dims[axis] = 0;
  for (size_t i = 0; i < count; ++i) {
    Dims others = call.in(i).dims();
    if (others.size() != dims.size() || call.in(i).type() != first.type())
      return Error("input ", i, " differs in rank or type");
    const int64_t along = others[axis];
    others[axis] = dims[axis];
    if (others != dims)
      return Error("input ", i, " is ", call.in(i).shape().ToString(), ", which does not fit ",
                   first.shape().ToString(), " along axis ", axis);
    dims[axis] += along;
    HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  }
  Tensor y(first.type(), dims);
  const int64_t outer = Count(Dims(dims.begin(), dims.begin() + axis));
  const size_t inner = Count(Dims(dims.begin() + axis + 1, dims.end())) * ElementSize(first.type());
  std::byte* out = y.mutable_raw();
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < count; ++i) {
      const size_t block = call.in(i).dims()[axis] * inner;
      if (block > 0) std::memcpy(out, call.in(i).raw() + o * block, block);
      out += block;
    }
  }
  return std::vector<Tensor>{std::move(y)};
}

namespace {

struct Padding {
  Dims begin, end;  // one per dimension; negative ones crop
};

absl::StatusOr<Padding> ReadPadding(const Call& call, int rank) {
  const std::vector<int64_t> pads = call.in(1).ToInts();
  std::vector<int64_t> axes;
  if (call.has(3)) {
    axes = call.in(3).ToInts();
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, rank).status());
  const bool pairs = call.in(1).rank() == 2;
  if (pads.size() != 2 * axes.size()) return Error("pads holds ", pads.size(), " numbers, need ", 2 * axes.size());
  Padding result{Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    result.begin[axis] = pads[pairs ? 2 * i : i];
    result.end[axis] = pads[pairs ? 2 * i + 1 : i + axes.size()];
    constexpr int64_t kMost = int64_t{1} << 48;
    if (std::max(result.begin[axis], result.end[axis]) > kMost ||
        std::min(result.begin[axis], result.end[axis]) < -kMost)
      return Error("pads of ", result.begin[axis], " and ", result.end[axis], " are too large");
  }
  return result;
}

}  // namespace

Outputs Pad(const Call& call) {
  const Tensor& x = call.in(0);
  const std::string mode = call.attributes().String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "symmetric" && mode != "edge" && mode != "wrap") {
    return absl::UnimplementedError(Concat("pad mode '", mode, "', need constant, reflect, symmetric, edge or wrap"));
  }
  HALFTONE_ASSIGN_OR_RETURN(const Padding padding, ReadPadding(call, x.rank()));
  if (call.has(2) && (call.in(2).num_elements() != 1 || call.in(2).type() != x.type()))
    return Error("value must be one element of x's type");
  const Dims strides = RowMajorStrides(x.dims());
  // For each dimension: the index in x for each index of y. Negative pads crop first; the remaining elements are
  // mirrored.
  std::vector<std::vector<int64_t>> reads(x.rank());
  Dims dims;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t cut = std::max<int64_t>(-padding.begin[d], 0);
    const int64_t left = x.dims()[d] + std::min<int64_t>(padding.begin[d], 0) + std::min<int64_t>(padding.end[d], 0);
    const int64_t size = x.dims()[d] + padding.begin[d] + padding.end[d];
    if (left < 0 || size < 0) return Error("pads exceed dimension ", d, " of x ", x.shape().ToString());
    if (mode != "constant" && left == 0 && size > 0) return Error("nothing to ", mode, " in dimension ", d);
    dims.push_back(size);
    HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
    for (int64_t i = 0; i < size; ++i) {
      const int64_t from = PadIndex(mode, i - std::max<int64_t>(padding.begin[d], 0), left);
      reads[d].push_back(from < 0 ? -1 : (from + cut) * strides[d]);
    }
  }
  std::vector<int64_t> offsets{0};
  for (int d = 0; d < x.rank(); ++d) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * reads[d].size());
    for (const int64_t offset : offsets) {
      for (const int64_t read : reads[d]) next.push_back(offset < 0 || read < 0 ? -1 : offset + read);
    }
    offsets = std::move(next);
  }
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets, call.has(2) ? &call.in(2) : nullptr)};
}

Outputs Slice(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> starts = call.in(1).ToInts(), ends = call.in(2).ToInts();
  std::vector<int64_t> axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (call.has(3)) axes = call.in(3).ToInts();
  if (call.has(4)) steps = call.in(4).ToInts();
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return Error("starts, ends, axes and steps differ in length");
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, x.rank()).status());
  Dims dims = x.dims(), strides = RowMajorStrides(x.dims());
  int64_t start_offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    const int64_t size = x.dims()[axis];
    if (steps[i] == 0) return Error("a step of 0");
    const int64_t step = std::clamp<int64_t>(steps[i], -size - 1, size + 1);  // longer steps select the same elements
    const auto clamp = [&](int64_t at) {
      if (at < 0) at += size;
      return step > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, std::max<int64_t>(size - 1, -1));
    };
    const int64_t from = clamp(starts[i]), to = clamp(ends[i]);
    const int64_t distance = step > 0 ? to - from : from - to;
    dims[axis] = distance <= 0 ? 0 : (distance - 1) / std::abs(step) + 1;
    start_offset += from * strides[axis];
    strides[axis] *= step;
  }
  const std::vector<int64_t> offsets = Offsets(dims, strides, start_offset);
  return std::vector<Tensor>{TakeElements(x, std::move(dims), offsets)};
}

// Channels become blocks of pixels. DCR: channel = (row in block, column in block, channel of y); CRD: (channel of y,
// row, column).
Outputs DepthToSpace(const Call& call) {
  const Tensor& x = call.in(0);
  const int64_t block = call.attributes().Int("block_size", 0);
  const bool channel_first = call.attributes().String("mode", "DCR") == "CRD";
  const bool channels_last = IsChannelsLast(call.attributes());
  if (x.rank() != 4 || block < 1 || block > (1 << 15))
    return Error("x is ", x.shape().ToString(), ", block_size ", block);
  const int channel_axis = channels_last ? 3 : 1, height_axis = channels_last ? 1 : 2;
  const int64_t channels = x.dims()[channel_axis] / (block * block);
  if (channels * block * block != x.dims()[channel_axis])
    return Error(x.dims()[channel_axis], " channels are no multiple of ", block * block);
  const int64_t batch = x.dims()[0], height = x.dims()[height_axis], width = x.dims()[height_axis + 1];
  const Dims strides = RowMajorStrides(x.dims());
  const int64_t stride_n = strides[0], stride_c = strides[channel_axis];
  const int64_t stride_h = strides[height_axis], stride_w = strides[height_axis + 1];
  const int64_t step_c = channel_first ? block * block * stride_c : stride_c;
  const int64_t step_row = channel_first ? block * stride_c : block * channels * stride_c;
  const int64_t step_column = channel_first ? stride_c : channels * stride_c;
  // y as [n, h, row in block, w, column in block] with the channel first or last.
  std::vector<int64_t> offsets = channels_last ? Offsets({batch, height, block, width, block, channels},
                                                         {stride_n, stride_h, step_row, stride_w, step_column, step_c})
                                               : Offsets({batch, channels, height, block, width, block},
                                                         {stride_n, step_c, stride_h, step_row, stride_w, step_column});
  const Dims dims = channels_last ? Dims{batch, height * block, width * block, channels}
                                  : Dims{batch, channels, height * block, width * block};
  return std::vector<Tensor>{TakeElements(x, dims, offsets)};
}

}  // namespace halftone::reference
