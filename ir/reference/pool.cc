// SPDX-License-Identifier: Apache-2.0
// Pooling over 1 to 3 spatial dimensions, in both layouts: converted to channels first, then one loop over windows.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/transposed_window.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

// x as planes of three spatial dimensions (missing leading ones are 1), and the windows over them.
struct Planes {
  std::vector<double> x;
  Dims output_dims;  // channels first
  int64_t count = 0;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::array<int64_t, 3> pad_begin{0, 0, 0}, pad_end{0, 0, 0};
};

absl::StatusOr<Planes> Describe(const Call& call) {
  const Tensor& x = call.in(0);
  const int rank = x.rank();
  if (rank < 3 || rank > 5)
    return absl::UnimplementedError(Concat("x is ", x.shape().ToString(), ", need 1 to 3 spatial dimensions"));
  const std::vector<int64_t> kernel = call.attributes().Ints("kernel");
  const bool channels_last = IsChannelsLast(call.attributes());
  const Dims dims = channels_last ? PermuteDims(x.dims(), ToChannelsFirst(rank)) : x.dims();
  HALFTONE_ASSIGN_OR_RETURN(const Window window, ResolveWindow(call.attributes(), std::span(dims).subspan(2), kernel));
  Planes p;
  p.x = x.ToDoubles();
  if (channels_last) p.x = Permute(p.x, x.dims(), ToChannelsFirst(rank));
  p.count = dims[0] * dims[1];
  p.output_dims = {dims[0], dims[1]};
  for (int i = 0; i < rank - 2; ++i) {
    const int d = 5 - rank + i;
    p.in[d] = dims[2 + i];
    p.out[d] = window.output[i];
    p.kernel[d] = window.kernel[i];
    p.stride[d] = window.strides[i];
    p.dilation[d] = window.dilations[i];
    p.pad_begin[d] = window.pads_begin[i];
    p.pad_end[d] = window.pads_end[i];
    p.output_dims.push_back(window.output[i]);
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(p.output_dims));
  return p;
}

// Taps [begin, end) of window `output` along d that lie in [-before, size + after).
struct Taps {
  int64_t first;       // position of tap 0
  int64_t begin, end;  // taps
};
Taps TapsWithin(const Planes& p, int d, int64_t output, int64_t before, int64_t after) {
  Taps taps{output * p.stride[d] - p.pad_begin[d], 0, 0};
  const int64_t step = p.dilation[d];
  const int64_t missing = -before - taps.first;
  taps.begin = missing <= 0 ? 0 : (missing + step - 1) / step;
  const int64_t last = p.in[d] + after - 1 - taps.first;
  taps.end = std::min(p.kernel[d], last < 0 ? 0 : last / step + 1);
  taps.begin = std::min(taps.begin, taps.end);
  return taps;
}

// visit(value, position in the plane) for each element of the window that is not padding.
template <typename Visit>
void VisitWindow(const Planes& p, const double* plane, const std::array<int64_t, 3>& output, Visit visit) {
  const Taps td = TapsWithin(p, 0, output[0], 0, 0), th = TapsWithin(p, 1, output[1], 0, 0),
             tw = TapsWithin(p, 2, output[2], 0, 0);
  for (int64_t d = td.begin; d < td.end; ++d) {
    for (int64_t h = th.begin; h < th.end; ++h) {
      const int64_t row = (td.first + d * p.dilation[0]) * p.in[1] + th.first + h * p.dilation[1];
      for (int64_t w = tw.begin; w < tw.end; ++w) {
        const int64_t at = row * p.in[2] + tw.first + w * p.dilation[2];
        visit(plane[at], at);
      }
    }
  }
}

// result[i] = pool(plane, window) for every window of every plane, in order.
template <typename Pool>
void ForEachWindow(const Planes& p, Pool pool) {
  for (int64_t n = 0; n < p.count; ++n) {
    const double* plane = p.x.data() + n * Count(p.in);
    for (int64_t d = 0; d < p.out[0]; ++d) {
      for (int64_t h = 0; h < p.out[1]; ++h) {
        for (int64_t w = 0; w < p.out[2]; ++w) pool(n, plane, std::array<int64_t, 3>{d, h, w});
      }
    }
  }
}

Tensor InLayout(const Call& call, const Planes& p, std::vector<double> y) {
  Dims dims = p.output_dims;
  if (IsChannelsLast(call.attributes())) {
    const std::vector<int> perm = ToChannelsLast(static_cast<int>(dims.size()));
    y = Permute(y, dims, perm);
    dims = PermuteDims(dims, perm);
  }
  return FromDoubles(call.type(), std::move(dims), y);
}

// The index in x of the element at `at` of plane n. NCHW: "storage_order" 1 counts the spatial dimensions in
// column-major order. NHWC: in memory order.
int64_t IndexInX(const Call& call, const Planes& p, int64_t n, int64_t at) {
  if (IsChannelsLast(call.attributes())) {
    const int64_t channels = p.output_dims[1];
    return (n / channels * Count(p.in) + at) * channels + n % channels;
  }
  if (call.attributes().Int("storage_order", 0) == 0) return n * Count(p.in) + at;
  const int64_t w = at % p.in[2], h = at / p.in[2] % p.in[1], d = at / p.in[2] / p.in[1];
  return n * Count(p.in) + d + (h + w * p.in[1]) * p.in[0];
}

}  // namespace

// The largest element; the first of equal ones gives the index. NaN counts as the largest.
Outputs MaxPool(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Planes p, Describe(call));
  const int64_t order = call.attributes().Int("storage_order", 0);
  if (order != 0 && order != 1) return Error("storage_order is ", order, ", need 0 or 1");
  std::vector<double> y;
  std::vector<int64_t> indices;
  ForEachWindow(p, [&](int64_t n, const double* plane, const std::array<int64_t, 3>& output) {
    double best = -std::numeric_limits<double>::infinity();
    int64_t index = -1;
    VisitWindow(p, plane, output, [&](double value, int64_t at) {
      if (index >= 0 && !(value > best) && !(std::isnan(value) && !std::isnan(best))) return;
      best = value;
      index = IndexInX(call, p, n, at);
    });
    y.push_back(best);
    indices.push_back(std::max<int64_t>(index, 0));
  });
  std::vector<Tensor> outputs{InLayout(call, p, std::move(y))};
  if (call.wants(1)) {
    if (IsChannelsLast(call.attributes()))
      indices = Permute(indices, p.output_dims, ToChannelsLast(static_cast<int>(p.output_dims.size())));
    outputs.push_back(FromInts(call.types[1], outputs[0].dims(), indices));
  }
  return outputs;
}

// The p-norm of the window's elements.
Outputs LpPool(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Planes p, Describe(call));
  const double power = static_cast<double>(call.attributes().Int("p", 2));
  if (power < 1) return Error("p is ", power, ", need at least 1");
  std::vector<double> y;
  ForEachWindow(p, [&](int64_t, const double* plane, const std::array<int64_t, 3>& output) {
    double sum = 0;
    VisitWindow(p, plane, output, [&](double value, int64_t) { sum += std::pow(std::abs(value), power); });
    y.push_back(std::pow(sum, 1 / power));
  });
  return std::vector<Tensor>{InLayout(call, p, std::move(y))};
}

// The mean of the window's elements; with count_include_pad padding counts as zeros, but not the positions beyond it
// (ceil_mode).
Outputs AveragePool(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Planes p, Describe(call));
  const bool include_pad = call.attributes().Bool("count_include_pad", false);
  std::vector<double> y;
  ForEachWindow(p, [&](int64_t, const double* plane, const std::array<int64_t, 3>& output) {
    double sum = 0;
    int64_t count = 0;
    VisitWindow(p, plane, output, [&](double value, int64_t) {
      sum += value;
      ++count;
    });
    if (include_pad) {
      count = 1;
      for (int d = 0; d < 3; ++d) {
        const Taps taps = TapsWithin(p, d, output[d], p.pad_begin[d], p.pad_end[d]);
        count *= taps.end - taps.begin;
      }
    }
    y.push_back(sum / static_cast<double>(count));
  });
  return std::vector<Tensor>{InLayout(call, p, std::move(y))};
}

// The mean, the largest element or the p-norm of each channel of each image.
Outputs GlobalPool(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() < 3) return Error("x is ", x.shape().ToString(), ", need at least one spatial dimension");
  const double power = static_cast<double>(call.attributes().Int("p", 2));
  if (power < 1) return Error("p is ", power, ", need at least 1");
  Dims dims = x.dims();
  const int first = FirstSpatialAxis(call.attributes());
  for (int i = 0; i < x.rank() - 2; ++i) dims[first + i] = 1;
  const bool max = call.node.op == OpKind::kGlobalMaxPool, lp = call.node.op == OpKind::kGlobalLpPool;
  const std::vector<double> elements = x.ToDoubles();
  const std::vector<int64_t> into = Offsets(x.dims(), BroadcastStrides(dims, x.dims()));
  std::vector<double> y(Count(dims), max ? -std::numeric_limits<double>::infinity() : 0.0);
  for (size_t i = 0; i < elements.size(); ++i) {
    double& pooled = y[into[i]];
    if (max) {
      if (elements[i] > pooled || std::isnan(elements[i])) pooled = elements[i];
    } else {
      pooled += lp ? std::pow(std::abs(elements[i]), power) : elements[i];
    }
  }
  for (double& pooled : y) {
    if (lp) pooled = std::pow(pooled, 1 / power);
    if (!lp && !max) pooled /= static_cast<double>(x.num_elements()) / static_cast<double>(y.size());
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

// Writes each element to its index in the unpooled tensor; other elements are 0. The indices refer to a tensor of the
// size that the windows cover; a larger output_shape pads it at the end of each dimension.
Outputs MaxUnpool(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& indices = call.in(1);
  const std::vector<int64_t> kernel = call.attributes().Ints("kernel");
  if (x.rank() < 3 || static_cast<int>(kernel.size()) != x.rank() - 2 || indices.dims() != x.dims()) {
    return Error("x is ", x.shape().ToString(), ", indices ", indices.shape().ToString(), ", need the same shape with ",
                 kernel.size(), " spatial dimensions");
  }
  HALFTONE_ASSIGN_OR_RETURN(const TransposedWindow window,
                            ResolveTransposedWindow(call.attributes(), std::span(x.dims()).subspan(2), kernel));
  Dims pooled_from{x.dims()[0], x.dims()[1]};
  pooled_from.insert(pooled_from.end(), window.output.begin(), window.output.end());
  const Dims dims = call.has(2) ? call.in(2).ToInts() : pooled_from;
  HALFTONE_RETURN_IF_ERROR(CheckDims(pooled_from));
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  bool holds = dims.size() == pooled_from.size();
  for (size_t i = 0; holds && i < dims.size(); ++i) holds = dims[i] >= pooled_from[i];
  if (!holds)
    return Error("output_shape is ", Shape::Of(dims).ToString(), ", need at least ", Shape::Of(pooled_from).ToString());
  const std::vector<int64_t> from = indices.ToInts();
  const Dims strides = RowMajorStrides(dims);
  const int64_t count = Count(pooled_from);
  const std::vector<double> elements = x.ToDoubles();
  std::vector<double> y(Count(dims), 0.0);
  for (size_t i = 0; i < elements.size(); ++i) {
    int64_t rest = from[i], place = 0;
    if (rest < 0 || rest >= count) return Error("indices[", i, "] is ", rest, ", must be in [0, ", count, ")");
    for (size_t d = dims.size(); d-- > 0; rest /= pooled_from[d]) place += rest % pooled_from[d] * strides[d];
    y[place] = elements[i];
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

}  // namespace halftone::reference
