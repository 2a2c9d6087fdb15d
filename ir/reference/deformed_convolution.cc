// SPDX-License-Identifier: Apache-2.0
// Convolution whose taps are shifted by an offset input (ONNX DeformConv), with 1 to 3 spatial dimensions.

#include <array>
#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

// Always three spatial dimensions: missing leading ones are 1 with stride 1 and no padding.
struct Geometry {
  int spatial = 0;
  int64_t batch = 0, groups = 0, offset_groups = 0;
  int64_t inputs = 0, outputs = 0;  // channels of one group
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
};

// The interpolated value of the plane: linear in each dimension, 0 outside.
double Sample(const Geometry& g, const double* plane, const std::array<double, 3>& at) {
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    int64_t offset = 0;
    for (int d = 0; d < 3; ++d) {
      const double below = std::floor(at[d]), part = at[d] - below;
      const bool upper = (corner >> d & 1) != 0;
      const double position = upper ? below + 1 : below;
      weight *= upper ? part : 1 - part;
      const bool inside = position >= 0 && position < static_cast<double>(g.in[d]);  // false for NaN
      if (!inside) weight = 0;
      offset = offset * g.in[d] + (inside ? static_cast<int64_t>(position) : 0);
    }
    if (weight != 0) sum += weight * plane[offset];
  }
  return sum;
}

absl::StatusOr<Geometry> Describe(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& weights = call.in(1);
  const int rank = x.rank();
  if (rank < 3 || rank > 5)
    return absl::UnimplementedError(Concat("x is ", x.shape().ToString(), ", need 1 to 3 spatial dimensions"));
  if (weights.rank() != rank) return Error("weights are ", weights.shape().ToString(), ", need rank ", rank);
  Geometry g{.spatial = rank - 2, .batch = x.dims()[0]};
  g.groups = call.attributes().Int("group", 1);
  g.offset_groups = call.attributes().Int("offset_group", 1);
  const int64_t channels = x.dims()[1];
  if (g.groups < 1 || channels % g.groups != 0 || channels / g.groups != weights.dims()[1] ||
      weights.dims()[0] % g.groups != 0) {
    return Error("x has ", channels, " channels, the weights are ", weights.shape().ToString(), " in ", g.groups,
                 " groups");
  }
  if (g.offset_groups < 1 || channels % g.offset_groups != 0)
    return Error("offset_group is ", g.offset_groups, ", x has ", channels, " channels");
  g.inputs = weights.dims()[1];
  g.outputs = weights.dims()[0] / g.groups;
  HALFTONE_ASSIGN_OR_RETURN(const Window window, ResolveWindow(call.attributes(), std::span(x.dims()).subspan(2),
                                                               std::span(weights.dims()).subspan(2)));
  for (int i = 0; i < g.spatial; ++i) {
    const int d = 3 - g.spatial + i;
    g.in[d] = x.dims()[2 + i];
    g.out[d] = window.output[i];
    g.kernel[d] = window.kernel[i];
    g.stride[d] = window.strides[i];
    g.dilation[d] = window.dilations[i];
    g.pad[d] = window.pads_begin[i];
  }
  return g;
}

absl::Status CheckPlanes(const Call& call, size_t index, const Geometry& g, int64_t channels) {
  Dims expected{g.batch, channels};
  for (int d = 3 - g.spatial; d < 3; ++d) expected.push_back(g.out[d]);
  if (call.in(index).dims() == expected) return absl::OkStatus();
  return Error(index == 2 ? "offset" : "mask", " is ", call.in(index).shape().ToString(), ", need ",
               Shape::Of(expected).ToString());
}

}  // namespace

Outputs DeformConv(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Geometry g, Describe(call));
  const int64_t taps = Count(g.kernel), in_plane = Count(g.in), out_plane = Count(g.out);
  HALFTONE_RETURN_IF_ERROR(CheckPlanes(call, 2, g, g.offset_groups * taps * g.spatial));
  if (call.has(4)) HALFTONE_RETURN_IF_ERROR(CheckPlanes(call, 4, g, g.offset_groups * taps));
  const int64_t channels = g.groups * g.inputs, outputs = g.groups * g.outputs;
  Dims dims{g.batch, outputs};
  for (int d = 3 - g.spatial; d < 3; ++d) dims.push_back(g.out[d]);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  std::vector<double> bias(outputs, 0.0);
  if (call.has(3)) {
    bias = call.in(3).ToDoubles();
    if (static_cast<int64_t>(bias.size()) != outputs)
      return Error("bias is ", call.in(3).shape().ToString(), ", need [", outputs, "]");
  }
  const std::vector<double> x = call.in(0).ToDoubles(), weights = call.in(1).ToDoubles(),
                            offsets = call.in(2).ToDoubles();
  const std::vector<double> mask = call.has(4) ? call.in(4).ToDoubles() : std::vector<double>{};
  std::vector<double> y(Count(dims)), column(channels * taps);
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t o = 0; o < out_plane; ++o) {
      const std::array<int64_t, 3> output{o / (g.out[1] * g.out[2]), o / g.out[2] % g.out[1], o % g.out[2]};
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t offset_group = c / (channels / g.offset_groups);
        for (int64_t tap = 0; tap < taps; ++tap) {
          const std::array<int64_t, 3> k{tap / (g.kernel[1] * g.kernel[2]), tap / g.kernel[2] % g.kernel[1],
                                         tap % g.kernel[2]};
          const int64_t moved = (n * g.offset_groups + offset_group) * taps + tap;
          std::array<double, 3> at{0, 0, 0};
          for (int d = 3 - g.spatial; d < 3; ++d) {
            const int64_t plane = moved * g.spatial + d - (3 - g.spatial);
            at[d] = static_cast<double>(output[d] * g.stride[d] - g.pad[d] + k[d] * g.dilation[d]) +
                    offsets[plane * out_plane + o];
          }
          const double sample = Sample(g, x.data() + (n * channels + c) * in_plane, at);
          column[c * taps + tap] = sample * (mask.empty() ? 1.0 : mask[moved * out_plane + o]);
        }
      }
      for (int64_t oc = 0; oc < outputs; ++oc) {
        const double* from = column.data() + oc / g.outputs * g.inputs * taps;
        double sum = bias[oc];
        for (int64_t i = 0; i < g.inputs * taps; ++i) sum += weights[oc * g.inputs * taps + i] * from[i];
        y[(n * outputs + oc) * out_plane + o] = sum;
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
