// SPDX-License-Identifier: Apache-2.0
// Transposed convolution of 1, 2 or 3 spatial dimensions in every layout, and col2im, which is its last step: converted
// to NCHW and IOHW first, then each tap adds its contributions.

#include <algorithm>
#include <array>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/transposed_window.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

// Always three spatial dimensions: missing leading ones are 1 with stride 1 and no padding.
struct Geometry {
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
};

Geometry GeometryOf(const TransposedWindow& window, std::span<const int64_t> in) {
  Geometry g;
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t d = 3 - in.size() + i;
    g.in[d] = in[i];
    g.out[d] = window.output[i];
    g.kernel[d] = window.kernel[i];
    g.stride[d] = window.strides[i];
    g.dilation[d] = window.dilations[i];
    g.pad[d] = window.pads_begin[i];
  }
  return g;
}

// Input positions [begin, end) along dimension d whose tap `tap` writes inside the output.
struct Range {
  int64_t begin, end;
};
Range Inside(const Geometry& g, int d, int64_t tap) {
  const int64_t shift = tap * g.dilation[d] - g.pad[d];  // output = input * stride + shift
  const int64_t begin = shift >= 0 ? 0 : (-shift + g.stride[d] - 1) / g.stride[d];
  const int64_t last = g.out[d] - 1 - shift;
  return {begin, std::min(g.in[d], last < 0 ? 0 : last / g.stride[d] + 1)};
}

// Adds weight * x to the plane of results, for one tap of the kernel.
void AddTap(const Geometry& g, const std::array<int64_t, 3>& tap, double weight, const double* x, double* y) {
  const Range d = Inside(g, 0, tap[0]), h = Inside(g, 1, tap[1]), w = Inside(g, 2, tap[2]);
  for (int64_t id = d.begin; id < d.end; ++id) {
    const int64_t od = id * g.stride[0] + tap[0] * g.dilation[0] - g.pad[0];
    for (int64_t ih = h.begin; ih < h.end; ++ih) {
      const int64_t oh = ih * g.stride[1] + tap[1] * g.dilation[1] - g.pad[1];
      const double* in = x + (id * g.in[1] + ih) * g.in[2];
      const int64_t first = (od * g.out[1] + oh) * g.out[2] + tap[2] * g.dilation[2] - g.pad[2];
      for (int64_t iw = w.begin; iw < w.end; ++iw) y[first + iw * g.stride[2]] += weight * in[iw];
    }
  }
}

template <typename Visit>
void ForEachTap(const Geometry& g, Visit visit) {
  for (int64_t d = 0; d < g.kernel[0]; ++d) {
    for (int64_t h = 0; h < g.kernel[1]; ++h) {
      for (int64_t w = 0; w < g.kernel[2]; ++w) visit(std::array<int64_t, 3>{d, h, w});
    }
  }
}

// The permutation of the weights to [inputs, outputs per group, spatial...].
absl::StatusOr<std::vector<int>> OrderOfWeights(int rank, const std::string& layout) {
  if (layout != "IOHW" && layout != "HWOI") return Error("weights_layout '", layout, "' is unknown");
  std::vector<int> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (layout == "HWOI") {
    std::rotate(perm.begin(), perm.end() - 2, perm.end());
    std::swap(perm[0], perm[1]);
  }
  return perm;
}

absl::StatusOr<Dims> GivenOutput(const Call& call, int rank) {
  if (!call.has(3)) return Dims{};
  const Dims whole = call.in(3).ToInts();
  if (static_cast<int>(whole.size()) != rank)
    return Error("output_shape holds ", whole.size(), " numbers, need ", rank);
  const int first = FirstSpatialAxis(call.attributes());
  return Dims(whole.begin() + first, whole.begin() + first + rank - 2);
}

}  // namespace

Outputs ConvTranspose(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Tensor x, OperandOf(call, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Tensor weights, OperandOf(call, 1));
  const int rank = x.rank();
  if (rank < 3 || rank > 5)
    return absl::UnimplementedError(Concat("x is ", x.shape().ToString(), ", need 1 to 3 spatial dimensions"));
  if (weights.rank() != rank) return Error("weights are ", weights.shape().ToString(), ", need rank ", rank);
  const bool channels_last = IsChannelsLast(call.attributes());
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int> perm,
                            OrderOfWeights(rank, call.attributes().String("weights_layout", "IOHW")));
  const Dims in = channels_last ? PermuteDims(x.dims(), ToChannelsFirst(rank)) : x.dims();
  const Dims filter = PermuteDims(weights.dims(), perm);
  const int64_t groups = call.attributes().Int("group", 1);
  if (groups < 1 || in[1] % groups != 0 || filter[0] != in[1])
    return Error("x has ", in[1], " channels, the weights are for ", filter[0], " in ", groups, " groups");
  HALFTONE_ASSIGN_OR_RETURN(const Dims given, GivenOutput(call, rank));
  HALFTONE_ASSIGN_OR_RETURN(
      const TransposedWindow window,
      ResolveTransposedWindow(call.attributes(), std::span(in).subspan(2), std::span(filter).subspan(2), given));
  const Geometry g = GeometryOf(window, std::span(in).subspan(2));
  const int64_t inputs = in[1] / groups, outputs = filter[1];
  Dims dims{in[0]};
  const std::optional<int64_t> channels = CheckedProduct(Dims{outputs, groups});
  dims.push_back(channels.value_or(-1));
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  std::vector<double> elements = x.ToDoubles();
  if (channels_last) elements = Permute(elements, x.dims(), ToChannelsFirst(rank));
  const std::vector<double> taps = Permute(weights.ToDoubles(), weights.dims(), perm);
  const int64_t in_plane = Count(g.in), out_plane = Count(g.out), kernel = Count(g.kernel);
  std::vector<double> y(Count(dims), 0.0);
  for (int64_t n = 0; n < in[0]; ++n) {
    for (int64_t i = 0; i < in[1]; ++i) {
      for (int64_t o = 0; o < outputs; ++o) {
        const double* weight = taps.data() + (i * outputs + o) * kernel;
        double* plane = y.data() + (n * *channels + i / inputs * outputs + o) * out_plane;
        ForEachTap(g, [&](const std::array<int64_t, 3>& tap) {
          AddTap(g, tap, *weight++, elements.data() + (n * in[1] + i) * in_plane, plane);
        });
      }
    }
  }
  if (call.has(2)) {
    const std::vector<double> bias = call.in(2).ToDoubles();
    if (call.in(2).rank() != 1 || static_cast<int64_t>(bias.size()) != *channels)
      return Error("bias is ", call.in(2).shape().ToString(), ", need [", *channels, "]");
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[static_cast<int64_t>(i) / out_plane % *channels];
  }
  if (channels_last) {
    y = Permute(y, dims, ToChannelsLast(rank));
    dims = PermuteDims(dims, ToChannelsLast(rank));
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

// x: [n, channels * taps of a block, blocks]. Each block is added to the image at the position of a convolution window.
Outputs Col2Im(const Call& call) {
  const Tensor& x = call.in(0);
  const Dims image = call.in(1).ToInts(), block = call.in(2).ToInts();
  const size_t spatial = image.size();
  if (x.rank() != 3 || spatial < 1 || spatial > 3 || block.size() != spatial)
    return Error("x is ", x.shape().ToString(), ", image_shape has ", spatial, " and block_shape ", block.size(),
                 " numbers: need rank 3, and 1 to 3 numbers each");
  HALFTONE_RETURN_IF_ERROR(CheckDims(image));
  HALFTONE_ASSIGN_OR_RETURN(const Window window, ResolveWindow(call.attributes(), image, block));
  Geometry g;  // transposed: the blocks are the input, the image is the output
  for (size_t i = 0; i < spatial; ++i) {
    const size_t d = 3 - spatial + i;
    g.in[d] = window.output[i];
    g.out[d] = image[i];
    g.kernel[d] = block[i];
    g.stride[d] = window.strides[i];
    g.dilation[d] = window.dilations[i];
    g.pad[d] = window.pads_begin[i];
  }
  const std::optional<int64_t> kernel = CheckedProduct(g.kernel), blocks = CheckedProduct(g.in);
  if (!kernel.has_value() || !blocks.has_value() || x.dims()[1] % *kernel != 0 || x.dims()[2] != *blocks) {
    return Error("x is ", x.shape().ToString(), ", need [n, a multiple of ", kernel.value_or(-1), ", ",
                 blocks.value_or(-1), "]");
  }
  const int64_t channels = x.dims()[1] / *kernel, plane = Count(g.out);
  Dims dims{x.dims()[0], channels};
  dims.insert(dims.end(), image.begin(), image.end());
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<double> elements = x.ToDoubles();
  std::vector<double> y(Count(dims), 0.0);
  const double* column = elements.data();
  for (int64_t nc = 0; nc < dims[0] * channels; ++nc) {
    ForEachTap(g, [&](const std::array<int64_t, 3>& tap) {
      AddTap(g, tap, 1, column, y.data() + nc * plane);
      column += *blocks;
    });
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
