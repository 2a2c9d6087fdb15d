// SPDX-License-Identifier: Apache-2.0
#include "ir/roi_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr int64_t kMaxRatio = 1024;

// Samples along one side of a bin: number, and the range of those on the image (one pixel around it included).
struct Side {
  double start = 0, step = 0, count = 0;  // sample i lies at start + (i + 0.5) * step
  double first = 0, end = 0;
};

Side SideOf(double origin, double bin_size, int64_t bin, int64_t ratio, int64_t extent) {
  Side side;
  side.count = ratio > 0 ? static_cast<double>(ratio) : std::max(std::ceil(bin_size), 0.0);
  if (side.count == 0) return side;
  side.start = origin + static_cast<double>(bin) * bin_size;
  side.step = bin_size / side.count;
  side.end = side.count;
  if (side.step <= 0 || ratio > 0) return side;  // few
  side.first = std::clamp(std::floor((-1 - side.start) / side.step - 1), 0.0, side.count);
  side.end = std::clamp(std::ceil((static_cast<double>(extent) - side.start) / side.step + 1), 0.0, side.count);
  return side;
}

// The two elements around a position, and the part of the way to the second. False if it lies outside.
struct Pair {
  int64_t below = 0, above = 0;
  double part = 0;
};
bool Around(double at, int64_t extent, Pair& pair) {
  if (!(at >= -1 && at <= static_cast<double>(extent))) return false;
  at = std::max(at, 0.0);
  pair.below = static_cast<int64_t>(at);
  if (pair.below >= extent - 1) {
    pair = {extent - 1, extent - 1, 0};
  } else {
    pair = {pair.below, pair.below + 1, at - static_cast<double>(pair.below)};
  }
  return true;
}

}  // namespace

absl::StatusOr<RoiOptions> ReadRoiOptions(const Attributes& attributes) {
  const auto error = [](const auto&... parts) { return absl::InvalidArgumentError(Concat(parts...)); };
  RoiOptions o;
  const std::string mode = attributes.String("mode", "avg");
  if (mode != "avg" && mode != "max") return error("mode is '", mode, "', need avg or max");
  o.max = mode == "max";
  const std::string coordinates = attributes.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return error("coordinate_transformation_mode is '", coordinates, "', need half_pixel or output_half_pixel");
  o.half_pixel = coordinates == "half_pixel";
  o.rows = attributes.Int("output_height", 1);
  o.columns = attributes.Int("output_width", 1);
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (o.rows < 1 || o.columns < 1 || o.rows > kLargest || o.columns > kLargest)
    return error("output_height is ", o.rows, ", output_width ", o.columns, ", need at least 1");
  o.ratio = attributes.Int("sampling_ratio", 0);
  if (o.ratio < 0 || o.ratio > kMaxRatio)
    return error("sampling_ratio is ", o.ratio, ", must be in [0, ", kMaxRatio, "]");
  o.scale = attributes.Float("spatial_scale", 1);
  return o;
}

Roi::Roi(const RoiOptions& options, const double box[4], int64_t height, int64_t width)
    : options_(options), height_(height), width_(width) {
  const double shift = options.half_pixel ? 0.5 : 0;
  left_ = box[0] * options.scale - shift;
  top_ = box[1] * options.scale - shift;
  double roi_width = box[2] * options.scale - shift - left_, roi_height = box[3] * options.scale - shift - top_;
  if (!options.half_pixel) {
    roi_width = std::max(roi_width, 1.0);
    roi_height = std::max(roi_height, 1.0);
  }
  bin_width_ = roi_width / static_cast<double>(options.columns);
  bin_height_ = roi_height / static_cast<double>(options.rows);
}

bool Roi::finite() const {
  return std::isfinite(left_) && std::isfinite(top_) && std::isfinite(bin_width_) && std::isfinite(bin_height_);
}

void Roi::SamplesOf(int64_t index, RoiBin& bin) const {
  const Side rows = SideOf(top_, bin_height_, index / options_.columns, options_.ratio, height_);
  const Side columns = SideOf(left_, bin_width_, index % options_.columns, options_.ratio, width_);
  bin.samples.clear();
  bin.count = rows.count * columns.count;
  for (double i = rows.first; i < rows.end; ++i) {
    Pair y, x;
    if (!Around(rows.start + (i + 0.5) * rows.step, height_, y)) continue;
    for (double j = columns.first; j < columns.end; ++j) {
      if (!Around(columns.start + (j + 0.5) * columns.step, width_, x)) continue;
      bin.samples.push_back(
          {{y.below * width_ + x.below, y.below * width_ + x.above, y.above * width_ + x.below,
            y.above * width_ + x.above},
           {(1 - y.part) * (1 - x.part), (1 - y.part) * x.part, y.part * (1 - x.part), y.part * x.part}});
    }
  }
}

}  // namespace halftone
