// SPDX-License-Identifier: Apache-2.0
// Sampling of images at given points, and the points of an affine map.

#include <array>

#include "ir/grid_taps.h"
#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// An element of the image and its weight.
struct Source {
  int64_t offset;
  double weight;
};

// All elements that the point reads: every combination of the taps of its dimensions.
std::vector<Source> SourcesOf(const std::vector<GridTaps>& taps, std::span<const int64_t> strides) {
  std::vector<Source> sources{{0, 1}};
  for (size_t d = 0; d < taps.size(); ++d) {
    std::vector<Source> next;
    for (const Source& source : sources) {
      for (int t = 0; t < taps[d].count; ++t) {
        next.push_back({source.offset + taps[d].from[t] * strides[d], source.weight * taps[d].weights[t]});
      }
    }
    sources = std::move(next);
  }
  return sources;
}

}  // namespace

// x: [n, c, spatial...], grid: [n, out..., spatial rank], coordinates in [-1, 1], the last dimension's first.
Outputs GridSample(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& grid = call.in(1);
  HALFTONE_ASSIGN_OR_RETURN(const GridOptions options, ReadGridOptions(call.attributes()));
  const int spatial = x.rank() - 2;
  if (spatial < 1 || spatial > 3 || grid.rank() != x.rank() || grid.dims().back() != spatial ||
      grid.dims()[0] != x.dims()[0]) {
    return Error("x is ", x.shape().ToString(), ", grid ", grid.shape().ToString(),
                 ": need [n, c, 1 to 3 dimensions] and [n, as many, one coordinate each]");
  }
  const Dims strides = RowMajorStrides(x.dims());
  Dims dims{x.dims()[0], x.dims()[1]};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t channels = dims[1], points = Count(std::span(dims).subspan(2));
  const int64_t plane = Count(std::span(x.dims()).subspan(2));
  if (plane == 0 && Count(dims) > 0) return Error("x is ", x.shape().ToString(), ": nothing to sample");
  const std::vector<double> in = x.ToDoubles(), coordinates = grid.ToDoubles();
  const bool f64 = grid.type() == DataType::kFloat64;
  std::vector<double> y(Count(dims), 0.0);
  std::vector<GridTaps> taps(spatial);
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      const double* point = coordinates.data() + (n * points + p) * spatial;
      for (int d = 0; d < spatial; ++d) {
        taps[d] = TapsOfCoordinate(options, x.dims()[2 + d], point[spatial - 1 - d], f64);
      }
      const std::vector<Source> sources = SourcesOf(taps, std::span(strides).subspan(2));
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (const Source& s : sources) sum += s.weight * in[(n * channels + c) * plane + s.offset];
        y[(n * channels + c) * points + p] = sum;
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

// theta: [n, 2, 3] or [n, 3, 4]; size: [n, c, h, w] or [n, c, d, h, w]. Each pixel position in [-1, 1], mapped.
Outputs AffineGrid(const Call& call) {
  const Tensor& theta = call.in(0);
  const Dims size = call.in(1).ToInts();
  const int spatial = static_cast<int>(size.size()) - 2;
  if ((spatial != 2 && spatial != 3) || theta.dims() != Dims{size[0], spatial, spatial + 1}) {
    return Error("theta is ", theta.shape().ToString(), ", size holds ", size.size(),
                 " numbers: need [n, 2, 3] and 4 or [n, 3, 4] and 5");
  }
  Dims dims{size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(spatial);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const bool align = call.attributes().Bool("align_corners", false);
  const auto place = [align](int64_t i, int64_t count) {
    const double n = static_cast<double>(count), at = static_cast<double>(i);
    if (align) return count > 1 ? 2 * at / (n - 1) - 1 : 0.0;
    return (2 * at + 1) / n - 1;
  };
  const std::vector<double> map = theta.ToDoubles();
  std::vector<double> y;
  y.reserve(Count(dims));
  const int64_t points = Count(std::span(size).subspan(2));
  for (int64_t n = 0; n < size[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      std::array<double, 4> at{1, 1, 1, 1};  // x, y, (z,) 1
      int64_t rest = p;
      for (int k = 0; k < spatial; ++k) {
        const int64_t count = size[size.size() - 1 - k];
        at[k] = place(rest % count, count);
        rest /= count;
      }
      for (int row = 0; row < spatial; ++row) {
        const double* m = map.data() + (n * spatial + row) * (spatial + 1);
        double sum = m[spatial];
        for (int k = 0; k < spatial; ++k) sum += m[k] * at[k];
        y.push_back(sum);
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
