// SPDX-License-Identifier: Apache-2.0
// Convolution of 1, 2 or 3 spatial dimensions in every layout: converted to NCHW and OIHW first, then one loop.

#include <algorithm>
#include <array>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

// Always three spatial dimensions: missing leading ones are 1 with stride 1 and no padding.
struct Geometry {
  int64_t batch = 0, groups = 0;
  int64_t inputs = 0, outputs = 0;  // channels of one group
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
};

// Output positions [begin, end) along dimension d at which tap `tap` reads inside the input.
struct Range {
  int64_t begin, end;
};
Range Inside(const Geometry& g, int d, int64_t tap) {
  const int64_t shift = g.pad[d] - tap * g.dilation[d];  // input = output * stride - shift
  const int64_t begin = shift <= 0 ? 0 : (shift + g.stride[d] - 1) / g.stride[d];
  const int64_t last = g.in[d] - 1 + shift;
  const int64_t end = last < 0 ? 0 : last / g.stride[d] + 1;
  return {begin, std::min(end, g.out[d])};
}

// Adds weight * x to a plane of sums, for one tap of the kernel: the inner loops.
template <typename T, typename Acc>
void AddTap(const Geometry& g, const std::array<int64_t, 3>& tap, Acc weight, const T* x, Acc* sums) {
  const Range d = Inside(g, 0, tap[0]), h = Inside(g, 1, tap[1]), w = Inside(g, 2, tap[2]);
  if (w.begin >= w.end) return;
  const int64_t step = g.stride[2];
  for (int64_t od = d.begin; od < d.end; ++od) {
    const int64_t id = od * g.stride[0] - g.pad[0] + tap[0] * g.dilation[0];
    for (int64_t oh = h.begin; oh < h.end; ++oh) {
      const int64_t ih = oh * g.stride[1] - g.pad[1] + tap[1] * g.dilation[1];
      const int64_t first = w.begin * step - g.pad[2] + tap[2] * g.dilation[2];
      const T* in = x + (id * g.in[1] + ih) * g.in[2] + first;
      Acc* out = sums + (od * g.out[1] + oh) * g.out[2] + w.begin;
      const int64_t count = w.end - w.begin;
      if (step == 1) {
        for (int64_t i = 0; i < count; ++i) out[i] += weight * static_cast<Acc>(in[i]);
      } else {
        for (int64_t i = 0; i < count; ++i) out[i] += weight * static_cast<Acc>(in[i * step]);
      }
    }
  }
}

// x: [batch, groups * inputs, in...], weights: [groups * outputs, inputs, kernel...] -> [batch, groups * outputs,
// out...]
template <typename Acc, typename T>
std::vector<Acc> Convolve(const Geometry& g, const std::vector<T>& x, const std::vector<T>& weights) {
  const int64_t in_size = Count(g.in), out_size = Count(g.out), taps = Count(g.kernel);
  std::vector<Acc> y(g.batch * g.groups * g.outputs * out_size, Acc{0});
  Acc* sums = y.data();
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t o = 0; o < g.groups * g.outputs; ++o, sums += out_size) {
      const int64_t group = o / g.outputs;
      for (int64_t i = 0; i < g.inputs; ++i) {
        const T* plane = x.data() + ((n * g.groups + group) * g.inputs + i) * in_size;
        const T* w = weights.data() + (o * g.inputs + i) * taps;
        for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
          for (int64_t kh = 0; kh < g.kernel[1]; ++kh) {
            for (int64_t kw = 0; kw < g.kernel[2]; ++kw) AddTap(g, {kd, kh, kw}, static_cast<Acc>(*w++), plane, sums);
          }
        }
      }
    }
  }
  return y;
}

// The permutation of weights to OIHW. HWCM is a grouped convolution with one channel per group, whose output channels
// are c * M + m.
struct WeightsOrder {
  std::vector<int> perm;
  Dims dims;  // after the permutation, M merged into the output channels
};

absl::StatusOr<WeightsOrder> OrderOfWeights(const Dims& dims, const std::string& layout) {
  const int rank = static_cast<int>(dims.size());
  WeightsOrder result;
  if (layout == "OIHW") {
    for (int i = 0; i < rank; ++i) result.perm.push_back(i);
    result.dims = dims;
    return result;
  }
  if (layout != "HWIO" && layout != "HWCM") return Error("weights_layout '", layout, "' is unknown");
  result.perm = layout == "HWIO" ? std::vector<int>{rank - 1, rank - 2} : std::vector<int>{rank - 2, rank - 1};
  for (int i = 0; i < rank - 2; ++i) result.perm.push_back(i);
  result.dims = PermuteDims(dims, result.perm);
  if (layout == "HWCM") {
    result.dims[0] *= result.dims[1];
    result.dims[1] = 1;
  }
  return result;
}

struct Problem {
  Geometry geometry;
  Dims output_dims;  // channels first
};

absl::StatusOr<Problem> Describe(const Call& call, const Dims& x, const Dims& weights) {
  const int spatial = static_cast<int>(x.size()) - 2;
  const bool depthwise = call.attributes().String("weights_layout", "OIHW") == "HWCM";
  const int64_t groups = depthwise ? x[1] : call.attributes().Int("group", 1);
  if (groups < 1 || x[1] % groups != 0 || x[1] / groups != weights[1] || weights[0] % groups != 0) {
    return Error("x has ", x[1], " channels, the weights are for ", groups, " groups of ", weights[1], " and make ",
                 weights[0]);
  }
  HALFTONE_ASSIGN_OR_RETURN(const Window window,
                            ResolveWindow(call.attributes(), std::span(x).subspan(2), std::span(weights).subspan(2)));
  Problem problem;
  Geometry& g = problem.geometry;
  g.batch = x[0];
  g.groups = groups;
  g.inputs = weights[1];
  g.outputs = weights[0] / groups;
  for (int i = 0; i < spatial; ++i) {
    const int d = 3 - spatial + i;
    g.in[d] = x[2 + i];
    g.out[d] = window.output[i];
    g.kernel[d] = window.kernel[i];
    g.stride[d] = window.strides[i];
    g.dilation[d] = window.dilations[i];
    g.pad[d] = window.pads_begin[i];
  }
  problem.output_dims = {x[0], weights[0]};
  problem.output_dims.insert(problem.output_dims.end(), window.output.begin(), window.output.end());
  HALFTONE_RETURN_IF_ERROR(CheckDims(problem.output_dims));
  return problem;
}

template <typename T, typename Acc>
std::vector<Acc> Run(const Geometry& g, const Tensor& x, bool channels_last, const Tensor& weights,
                     const std::vector<int>& perm) {
  std::vector<T> elements = Elements<T>(x);
  if (channels_last) elements = Permute(elements, x.dims(), ToChannelsFirst(x.rank()));
  return Convolve<Acc>(g, elements, Permute(Elements<T>(weights), weights.dims(), perm));
}

// Exact; sums wrap around (two's complement).
Outputs ConvolveIntegers(const Call& call, const Problem& problem, bool channels_last, const std::vector<int>& perm) {
  const std::vector<uint64_t> sums =
      Run<int64_t, uint64_t>(problem.geometry, call.in(0), channels_last, call.in(1), perm);
  std::vector<int64_t> y(sums.begin(), sums.end());
  Dims dims = problem.output_dims;
  if (channels_last) {
    const std::vector<int> back = ToChannelsLast(static_cast<int>(dims.size()));
    y = Permute(y, dims, back);
    dims = PermuteDims(dims, back);
  }
  return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
}

}  // namespace

Outputs Conv(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Tensor x, OperandOf(call, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Tensor weights, OperandOf(call, 1));
  const int rank = x.rank();
  if (rank < 3 || rank > 5)
    return absl::UnimplementedError(Concat("x is ", x.shape().ToString(), ", need 1 to 3 spatial dimensions"));
  if (weights.rank() != rank) return Error("weights are ", weights.shape().ToString(), ", need rank ", rank);
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  HALFTONE_ASSIGN_OR_RETURN(const WeightsOrder order,
                            OrderOfWeights(weights.dims(), call.attributes().String("weights_layout", "OIHW")));
  const bool channels_last = IsChannelsLast(call.attributes());
  const Dims x_dims = channels_last ? PermuteDims(x.dims(), ToChannelsFirst(rank)) : x.dims();
  HALFTONE_ASSIGN_OR_RETURN(Problem problem, Describe(call, x_dims, order.dims));
  if (IsInteger(x.type()) && !call.has(2) && !call.has(3) && activation.kind == Activation::kNone) {
    return ConvolveIntegers(call, problem, channels_last, order.perm);
  }
  const bool wide = x.type() == DataType::kFloat64 || IsInteger(x.type());
  std::vector<double> y =
      (wide ? Run<double, double> : Run<float, double>)(problem.geometry, x, channels_last, weights, order.perm);
  const int64_t channels = problem.output_dims[1], plane = Count(problem.geometry.out);
  if (call.has(2)) {
    const std::vector<double> bias = call.in(2).ToDoubles();
    if (call.in(2).rank() != 1 || static_cast<int64_t>(bias.size()) != channels)
      return Error("bias is ", call.in(2).shape().ToString(), ", need [", channels, "]");
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[static_cast<int64_t>(i) / plane % channels];
  }
  Dims dims = problem.output_dims;
  if (channels_last) {
    y = Permute(y, dims, ToChannelsLast(rank));
    dims = PermuteDims(dims, ToChannelsLast(rank));
  }
  if (call.has(3) && call.in(3).dims() != dims)
    return Error("residual is ", call.in(3).shape().ToString(), ", need y's ", Shape::Of(dims).ToString());
  Finish(call.attributes(), activation, call.has(3) ? call.in(3).ToDoubles() : std::vector<double>(), y);
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
