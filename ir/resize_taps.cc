// SPDX-License-Identifier: Apache-2.0
#include "ir/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "ir/shape.h"

namespace halftone {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 31;
constexpr int64_t kMaxLength = int64_t{1} << 24;  // of an axis that is resized: each position has its taps

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

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
  bool antialias = false;  // where an axis gets smaller, the filter gets wider by the same factor
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
  o.antialias = attributes.Int("antialias", 0) != 0;
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic")
    return Error("mode is '", o.mode, "', need nearest, linear or cubic");
  if (o.antialias && o.mode == "nearest") return Error("antialias is for the modes linear and cubic");
  return o;
}

// Where output position `i` lies on the input's axis.
absl::StatusOr<float> SourceOf(const Options& o, const AxisPlan& p, int64_t i) {
  const float x = static_cast<float>(i), in = static_cast<float>(p.in), out = static_cast<float>(p.out);
  if (o.coordinates == "asymmetric") return x / p.scale;
  if (o.coordinates == "half_pixel") return (x + 0.5f) / p.scale - 0.5f;
  if (o.coordinates == "pytorch_half_pixel") return p.out > 1 ? (x + 0.5f) / p.scale - 0.5f : 0.0f;
  if (o.coordinates == "align_corners") return p.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
  if (o.coordinates == "tf_half_pixel_for_nn") return (x + 0.5f) / p.scale;
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

// The weight of an element at this distance, in units of the filter.
double Weight(const Options& o, double distance) {
  const double d = std::abs(distance), a = o.cubic_a;
  if (o.mode == "linear") return std::max(1 - d, 0.0);
  if (d >= 2) return 0;
  return d > 1 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : ((a + 2) * d - (a + 3)) * d * d + 1;
}

// Elements on both sides of x as far as the filter reaches. Those outside the input stand for the border, or do not
// count with exclude_outside.
ResizeTaps FilterTaps(const Options& o, float x, int64_t size, float scale) {
  const double shrink = o.antialias ? std::min(static_cast<double>(scale), 1.0) : 1.0;
  const double below = std::floor(x), part = x - below;
  const int64_t reach = static_cast<int64_t>(std::ceil((o.mode == "linear" ? 1 : 2) / shrink));
  ResizeTaps taps;
  double sum = 0;
  for (int64_t k = 1 - reach; k <= reach; ++k) {
    const double position = below + static_cast<double>(k);
    const bool inside = position >= 0 && position < static_cast<double>(size);
    double weight = Weight(o, (static_cast<double>(k) - part) * shrink);
    if (o.exclude_outside && !inside) weight = 0;
    if (weight == 0) continue;
    taps.from.push_back(static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(size - 1))));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (o.exclude_outside || o.antialias) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

absl::StatusOr<ResizeTaps> TapsOf(const Options& o, const AxisPlan& p, int64_t i) {
  HALFTONE_ASSIGN_OR_RETURN(const float x, SourceOf(o, p, i));
  if (!(std::abs(x) < 1e15f)) return Error("an output position lies at ", x, " on the input's axis");
  const float last = static_cast<float>(p.in - 1);
  ResizeTaps taps;
  if (o.mode == "nearest") {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t nearest, NearestOf(o.nearest, x));
    taps = {{std::clamp<int64_t>(nearest, 0, p.in - 1)}, {1.0}};
  } else if (o.mode == "linear" && !o.antialias) {
    const float clamped = std::clamp(x, 0.0f, last);
    const int64_t below = std::min(static_cast<int64_t>(clamped), p.in - 1);
    const double part = clamped - static_cast<float>(below);
    taps = {{below, std::min(below + 1, p.in - 1)}, {1 - part, part}};
  } else {
    taps = FilterTaps(o, x, p.in, p.scale);
  }
  taps.outside = o.coordinates == "tf_crop_and_resize" && (x < 0 || x > last);
  return taps;
}

bool IsGiven(const Tensor* tensor) { return tensor != nullptr && tensor->num_elements() > 0; }

absl::StatusOr<std::vector<int>> AxesOf(const Attributes& attributes, int rank) {
  std::vector<int64_t> written = attributes.Ints("axes");
  if (written.empty()) {
    for (int i = 0; i < rank; ++i) written.push_back(i);
  }
  std::vector<int> axes;
  for (const int64_t axis : written) {
    if (axis < -rank || axis >= rank) return Error("axis ", axis, " is out of range for rank ", rank);
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) return Error("axis ", axis, " is given twice");
  }
  return axes;
}

// One scale for all axes, so that none gets larger (or smaller) than its size says.
absl::Status KeepAspectRatio(const std::string& policy, std::vector<AxisPlan>& plans) {
  if (policy == "stretch" || plans.empty()) return absl::OkStatus();
  if (policy != "not_larger" && policy != "not_smaller")
    return Error("keep_aspect_ratio_policy is '", policy, "', need stretch, not_larger or not_smaller");
  float scale = plans[0].scale;
  for (const AxisPlan& p : plans) scale = policy == "not_larger" ? std::min(scale, p.scale) : std::max(scale, p.scale);
  for (AxisPlan& p : plans) {
    p.scale = scale;
    p.out = static_cast<int64_t>(std::floor(scale * static_cast<float>(p.in) + 0.5f));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AxisPlan>> PlanAxes(const Attributes& attributes, const Options& o,
                                               const std::vector<int64_t>& x, const Tensor* roi, const Tensor* scales,
                                               const Tensor* sizes) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int> axes, AxesOf(attributes, static_cast<int>(x.size())));
  const bool by_sizes = IsGiven(sizes);
  if (!by_sizes && !IsGiven(scales)) return Error("resize needs scales or sizes");
  const std::vector<double> targets = (by_sizes ? sizes : scales)->ToDoubles();
  if (targets.size() != axes.size())
    return Error(by_sizes ? "sizes" : "scales", " holds ", targets.size(), " numbers, need ", axes.size());
  const bool crop = o.coordinates == "tf_crop_and_resize";
  const std::vector<float> corners = crop && IsGiven(roi) ? roi->ToFloats() : std::vector<float>{};
  if (crop && corners.size() != 2 * axes.size())
    return Error("roi holds ", corners.size(), " numbers, need ", 2 * axes.size());
  std::vector<AxisPlan> plans;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisPlan p{.axis = axes[i], .in = x[axes[i]]};
    if (p.in == 0 && by_sizes && targets[i] != 0) return Error("x is empty: ", Shape::Of(x).ToString());
    if (!(targets[i] >= 0 && targets[i] < 1e9)) return Error(by_sizes ? "a size is " : "a scale is ", targets[i]);
    p.scale = by_sizes ? static_cast<float>(targets[i]) / static_cast<float>(std::max<int64_t>(p.in, 1))
                       : static_cast<float>(targets[i]);
    p.out = static_cast<int64_t>(by_sizes ? targets[i] : std::floor(p.scale * static_cast<float>(p.in)));
    if (crop) {
      p.roi_start = corners[i];
      p.roi_end = corners[i + axes.size()];
    }
    plans.push_back(p);
  }
  if (by_sizes)
    HALFTONE_RETURN_IF_ERROR(KeepAspectRatio(attributes.String("keep_aspect_ratio_policy", "stretch"), plans));
  return plans;
}

}  // namespace

absl::StatusOr<ResizePlan> PlanResize(const Attributes& attributes, const std::vector<int64_t>& x, const Tensor* roi,
                                      const Tensor* scales, const Tensor* sizes) {
  HALFTONE_ASSIGN_OR_RETURN(const Options options, ReadOptions(attributes));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<AxisPlan> plans, PlanAxes(attributes, options, x, roi, scales, sizes));
  ResizePlan plan{.dims = x, .extrapolation = options.extrapolation};
  for (const AxisPlan& p : plans) plan.dims[p.axis] = p.out;
  const std::optional<int64_t> count = CheckedProduct(plan.dims);
  if (!count.has_value() || *count > kMaxElements)
    return absl::ResourceExhaustedError(Concat("a tensor of ", Shape::Of(plan.dims).ToString(), " is too large"));
  for (const AxisPlan& p : plans) {
    if (p.in == p.out && p.scale == 1 && options.coordinates != "tf_crop_and_resize") continue;
    if (p.out > kMaxLength)
      return absl::ResourceExhaustedError(Concat("axis ", p.axis, " would get ", p.out, " elements"));
    ResizedAxis axis{.axis = p.axis, .in = p.in};
    for (int64_t i = 0; i < p.out && *count > 0; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(ResizeTaps here, TapsOf(options, p, i));
      axis.taps.push_back(std::move(here));
    }
    plan.axes.push_back(std::move(axis));
  }
  return plan;
}

}  // namespace halftone
