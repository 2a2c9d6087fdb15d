// Sampling of images at given points, and the points of an affine map.

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

constexpr double kCubicA = -0.75;

enum class Padding { kZeros, kBorder, kReflection };

struct Options {
  std::string mode;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

absl::StatusOr<Options> ReadOptions(const Attributes& attributes) {
  Options o;
  o.mode = attributes.String("mode", "linear");
  if (o.mode != "linear" && o.mode != "nearest" && o.mode != "cubic")
    return Error("mode is '", o.mode, "', need linear, nearest or cubic");
  const std::string padding = attributes.String("padding_mode", "zeros");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return Error("padding_mode is '", padding, "', need zeros, border or reflection");
  o.padding = padding == "zeros" ? Padding::kZeros : padding == "border" ? Padding::kBorder : Padding::kReflection;
  o.align_corners = attributes.Bool("align_corners", false);
  return o;
}

// Mirrored at both ends until it is in [low, high].
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (!(range > 0)) return low;
  const double distance = std::fmod(std::abs(x - low), 2 * range);
  return low + (distance > range ? 2 * range - distance : distance);
}

// One dimension of the image.
struct Axis1D {
  int64_t size = 0, stride = 0;
  double low = 0, high = 0;  // mirrors of reflection
};

// What one point reads along one dimension: positions (-1: outside, reads 0) and weights.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> from{};
  std::array<double, 4> weights{};
};

int64_t Inside(const Options& o, const Axis1D& axis, double position) {
  const double last = static_cast<double>(axis.size - 1);
  if (o.padding == Padding::kBorder) position = std::clamp(position, 0.0, last);
  if (o.padding == Padding::kReflection && (position < 0 || position > last))
    position = std::trunc(Reflect(position, axis.low, axis.high));
  return position >= 0 && position <= last ? static_cast<int64_t>(position) : -1;
}

void Add(const Options& o, const Axis1D& axis, Taps& taps, double position, double weight) {
  taps.from[taps.count] = Inside(o, axis, position);
  taps.weights[taps.count++] = weight;
}

Taps TapsOf(const Options& o, const Axis1D& axis, double normalized, bool f64) {
  const double size = static_cast<double>(axis.size);
  double x = o.align_corners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
  if (!f64) x = static_cast<float>(x);
  if (std::isnan(x)) x = -1;
  x = std::clamp(x, -1e15, 1e15);
  if (o.mode == "nearest") x = std::nearbyint(x);
  const bool outside = x < axis.low || x > axis.high;
  if (outside && o.padding == Padding::kBorder) x = std::clamp(x, 0.0, size - 1);
  if (outside && o.padding == Padding::kReflection) x = Reflect(x, axis.low, axis.high);
  Taps taps;
  if (o.mode == "nearest") {
    Add(o, axis, taps, x, 1);
    return taps;
  }
  const double below = std::floor(x), t = x - below;
  if (o.mode == "linear") {
    Add(o, axis, taps, below, 1 - t);
    Add(o, axis, taps, below + 1, t);
    return taps;
  }
  const auto far = [](double d) { return ((kCubicA * d - 5 * kCubicA) * d + 8 * kCubicA) * d - 4 * kCubicA; };
  const auto near = [](double d) { return ((kCubicA + 2) * d - (kCubicA + 3)) * d * d + 1; };
  Add(o, axis, taps, below - 1, far(t + 1));
  Add(o, axis, taps, below, near(t));
  Add(o, axis, taps, below + 1, near(1 - t));
  Add(o, axis, taps, below + 2, far(2 - t));
  return taps;
}

// An element of the image and its weight.
struct Source {
  int64_t offset;
  double weight;
};

// All elements that the point reads: the product of the taps of its dimensions.
std::vector<Source> SourcesOf(const std::vector<Taps>& taps, const std::vector<Axis1D>& axes) {
  std::vector<Source> sources{{0, 1}};
  for (size_t d = 0; d < axes.size(); ++d) {
    std::vector<Source> next;
    for (const Source& source : sources) {
      for (int t = 0; t < taps[d].count; ++t) {
        if (taps[d].from[t] < 0) continue;
        next.push_back({source.offset + taps[d].from[t] * axes[d].stride, source.weight * taps[d].weights[t]});
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
  HALFTONE_ASSIGN_OR_RETURN(const Options o, ReadOptions(call.attributes()));
  const int spatial = x.rank() - 2;
  if (spatial < 1 || spatial > 3 || grid.rank() != x.rank() || grid.dims().back() != spatial ||
      grid.dims()[0] != x.dims()[0]) {
    return Error("x is ", x.shape().ToString(), ", grid ", grid.shape().ToString(),
                 ": need [n, c, 1 to 3 dimensions] and [n, as many, one coordinate each]");
  }
  std::vector<Axis1D> axes(spatial);
  const Dims strides = RowMajorStrides(x.dims());
  for (int d = 0; d < spatial; ++d) {
    const double size = static_cast<double>(x.dims()[2 + d]);
    axes[d] = {x.dims()[2 + d], strides[2 + d], o.align_corners ? 0 : -0.5, o.align_corners ? size - 1 : size - 0.5};
  }
  Dims dims{x.dims()[0], x.dims()[1]};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t channels = dims[1], points = Count(std::span(dims).subspan(2));
  const int64_t plane = Count(std::span(x.dims()).subspan(2));
  if (plane == 0 && Count(dims) > 0) return Error("x is ", x.shape().ToString(), ": nothing to sample");
  const std::vector<double> in = x.ToDoubles(), coordinates = grid.ToDoubles();
  const bool f64 = grid.type() == DataType::kFloat64;
  std::vector<double> y(Count(dims), 0.0);
  std::vector<Taps> taps(spatial);
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      const double* point = coordinates.data() + (n * points + p) * spatial;
      for (int d = 0; d < spatial; ++d) taps[d] = TapsOf(o, axes[d], point[spatial - 1 - d], f64);
      const std::vector<Source> sources = SourcesOf(taps, axes);
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (const Source& s : sources) sum += s.weight * in[(n * channels + c) * plane + s.offset];
        y[(n * channels + c) * points + p] = sum;
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

// theta: [n, 2, 3] or [n, 3, 4]; size: [n, c, h, w] or [n, c, d, h, w]. Each pixel's place in [-1, 1], mapped.
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
