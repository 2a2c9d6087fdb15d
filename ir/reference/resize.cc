// ONNX's Resize: nearest, linear and cubic, one dimension after the other.
//
// Coordinates are computed in f32, as runtimes do: in f64 some would fall on the other side of a whole number.

#include <algorithm>
#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// One dimension to be resized.
struct AxisPlan {
  int axis = 0;
  int64_t in = 0, out = 0;
  float scale = 1;
  float roi_start = 0, roi_end = 1;
};

struct Options {
  std::string mode, coordinates, nearest;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  double extrapolation = 0;
};

absl::StatusOr<Options> ReadOptions(const Attributes& attributes) {
  Options o;
  o.mode = attributes.String("mode", "nearest");
  o.coordinates = attributes.String("coordinate_transformation_mode", "half_pixel");
  o.nearest = attributes.String("nearest_mode", "round_prefer_floor");
  o.cubic_a = attributes.Float("cubic_coeff_a", -0.75f);
  o.exclude_outside = attributes.Int("exclude_outside", 0) != 0;
  o.extrapolation = attributes.Float("extrapolation_value", 0);
  if (attributes.Int("antialias", 0) != 0) return absl::UnimplementedError("resize with antialias");
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic")
    return Error("mode is '", o.mode, "', need nearest, linear or cubic");
  return o;
}

// Where output position `i` lies on the input's axis.
absl::StatusOr<float> SourceOf(const Options& o, const AxisPlan& p, int64_t i) {
  const float x = static_cast<float>(i), in = static_cast<float>(p.in), out = static_cast<float>(p.out);
  if (o.coordinates == "asymmetric") return x / p.scale;
  if (o.coordinates == "half_pixel") return (x + 0.5f) / p.scale - 0.5f;
  if (o.coordinates == "pytorch_half_pixel") return p.out > 1 ? (x + 0.5f) / p.scale - 0.5f : 0.0f;
  if (o.coordinates == "align_corners") return p.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
  if (o.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (p.scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5f) / p.scale - 0.5f;
  }
  if (o.coordinates == "tf_crop_and_resize") {
    return p.out > 1 ? p.roi_start * (in - 1) + x * (p.roi_end - p.roi_start) * (in - 1) / (out - 1)
                     : 0.5f * (p.roi_start + p.roi_end) * (in - 1);
  }
  return Error("coordinate_transformation_mode '", o.coordinates, "' is unknown");
}

absl::StatusOr<int64_t> NearestOf(const std::string& mode, float x) {
  const float below = std::floor(x);
  if (mode == "round_prefer_floor") return static_cast<int64_t>(x - below <= 0.5f ? below : below + 1);
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(x - below < 0.5f ? below : below + 1);
  if (mode == "floor") return static_cast<int64_t>(below);
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  return Error("nearest_mode '", mode, "' is unknown");
}

// One output position: which inputs it reads, and how much of each.
struct Taps {
  std::vector<int64_t> from;
  std::vector<double> weights;
  bool outside = false;  // gets the extrapolation value
};

Taps CubicTaps(const Options& o, float x, int64_t size) {
  Taps taps;
  const double a = o.cubic_a, t = x - std::floor(x);
  const int64_t first = static_cast<int64_t>(std::floor(x)) - 1;
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };  // 1 < d < 2
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };       // d <= 1
  taps.weights = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  double sum = 0;
  for (int64_t k = 0; k < 4; ++k) {
    const bool inside = first + k >= 0 && first + k < size;
    if (o.exclude_outside && !inside) taps.weights[k] = 0;
    taps.from.push_back(std::clamp<int64_t>(first + k, 0, size - 1));
    sum += taps.weights[k];
  }
  if (o.exclude_outside) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

absl::StatusOr<Taps> TapsOf(const Options& o, const AxisPlan& p, int64_t i) {
  HALFTONE_ASSIGN_OR_RETURN(const float x, SourceOf(o, p, i));
  const float last = static_cast<float>(p.in - 1);
  Taps taps;
  if (o.mode == "nearest") {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t nearest, NearestOf(o.nearest, x));
    taps = {{std::clamp<int64_t>(nearest, 0, p.in - 1)}, {1.0}};
  } else if (o.mode == "linear") {
    const float clamped = std::clamp(x, 0.0f, last);
    const int64_t below = std::min(static_cast<int64_t>(clamped), p.in - 1);
    const double part = clamped - static_cast<float>(below);
    taps = {{below, std::min(below + 1, p.in - 1)}, {1 - part, part}};
  } else {
    taps = CubicTaps(o, x, p.in);
  }
  taps.outside = o.coordinates == "tf_crop_and_resize" && (x < 0 || x > last);
  return taps;
}

bool IsGiven(const Call& call, size_t i) { return call.has(i) && call.in(i).num_elements() > 0; }

absl::StatusOr<std::vector<AxisPlan>> PlanAxes(const Call& call, const Options& o) {
  const Tensor& x = call.in(0);
  std::vector<int64_t> axes = call.attributes().Ints("axes");
  if (axes.empty()) {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, x.rank()).status());
  const bool by_sizes = IsGiven(call, 3);
  if (!by_sizes && !IsGiven(call, 2)) return Error("resize needs scales or sizes");
  const std::vector<double> targets = call.in(by_sizes ? 3 : 2).ToDoubles();
  if (targets.size() != axes.size())
    return Error(by_sizes ? "sizes" : "scales", " holds ", targets.size(), " numbers, need ", axes.size());
  const std::vector<float> roi = IsGiven(call, 1) ? call.in(1).ToFloats() : std::vector<float>{};
  if (o.coordinates == "tf_crop_and_resize" && roi.size() != 2 * axes.size())
    return Error("roi holds ", roi.size(), " numbers, need ", 2 * axes.size());
  std::vector<AxisPlan> plans;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisPlan p;
    p.axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    p.in = x.dims()[p.axis];
    if (p.in == 0 && by_sizes && targets[i] != 0) return Error("x is empty: ", x.shape().ToString());
    if (!(targets[i] >= 0 && targets[i] < 1e9)) return Error(by_sizes ? "a size is " : "a scale is ", targets[i]);
    p.scale = by_sizes ? static_cast<float>(targets[i]) / static_cast<float>(std::max<int64_t>(p.in, 1))
                       : static_cast<float>(targets[i]);
    p.out = static_cast<int64_t>(by_sizes ? targets[i] : std::floor(p.scale * static_cast<float>(p.in)));
    if (o.coordinates == "tf_crop_and_resize") {
      p.roi_start = roi[i];
      p.roi_end = roi[i + axes.size()];
    }
    plans.push_back(p);
  }
  const std::string policy = call.attributes().String("keep_aspect_ratio_policy", "stretch");
  if (by_sizes && policy != "stretch") {
    float scale = plans[0].scale;
    for (const AxisPlan& p : plans)
      scale = policy == "not_larger" ? std::min(scale, p.scale) : std::max(scale, p.scale);
    for (AxisPlan& p : plans) {
      p.scale = scale;
      p.out = static_cast<int64_t>(std::floor(scale * static_cast<float>(p.in) + 0.5f));
    }
  }
  return plans;
}

// Every line along the axis replaced by its resized one.
std::vector<double> ResizeAxis(const std::vector<double>& x, const Dims& dims, const AxisPlan& p,
                               const std::vector<Taps>& taps, double extrapolation) {
  const int64_t outer = Count(Dims(dims.begin(), dims.begin() + p.axis));
  const int64_t inner = Count(Dims(dims.begin() + p.axis + 1, dims.end()));
  std::vector<double> y(outer * p.out * inner, 0.0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < p.out; ++i) {
      double* out = y.data() + (o * p.out + i) * inner;
      if (taps[i].outside) {
        std::fill(out, out + inner, extrapolation);
        continue;
      }
      for (size_t t = 0; t < taps[i].from.size(); ++t) {
        const double* in = x.data() + (o * p.in + taps[i].from[t]) * inner;
        const double weight = taps[i].weights[t];
        if (weight == 0) continue;  // what is not read must not spread its NaN
        for (int64_t k = 0; k < inner; ++k) out[k] += weight * in[k];
      }
    }
  }
  return y;
}

}  // namespace

Outputs Resize(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Options options, ReadOptions(call.attributes()));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<AxisPlan> plans, PlanAxes(call, options));
  Dims dims = call.in(0).dims();
  Dims final_dims = dims;
  for (const AxisPlan& p : plans) final_dims[p.axis] = p.out;
  HALFTONE_RETURN_IF_ERROR(CheckDims(final_dims));
  if (Count(final_dims) == 0) return std::vector<Tensor>{Tensor(call.type(), final_dims)};
  std::vector<double> y = call.in(0).ToDoubles();
  for (const AxisPlan& p : plans) {
    if (p.in == p.out && p.scale == 1 && options.coordinates != "tf_crop_and_resize") continue;
    std::vector<Taps> taps;
    for (int64_t i = 0; i < p.out; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(Taps here, TapsOf(options, p, i));
      taps.push_back(std::move(here));
    }
    y = ResizeAxis(y, dims, p, taps, options.extrapolation);
    dims[p.axis] = p.out;
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
