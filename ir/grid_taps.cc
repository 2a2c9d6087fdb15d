// SPDX-License-Identifier: Apache-2.0
#include "ir/grid_taps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

using Mode = GridOptions::Mode;
using Padding = GridOptions::Padding;

constexpr double kCubicA = -0.75;

// Where positions are mirrored: the centres of the first and last element, or their outer borders.
struct Mirrors {
  double low = 0, high = 0;
};

double Reflect(double x, const Mirrors& mirrors) {
  const double range = mirrors.high - mirrors.low;
  if (!(range > 0)) return mirrors.low;
  const double distance = std::fmod(std::abs(x - mirrors.low), 2 * range);
  return mirrors.low + (distance > range ? 2 * range - distance : distance);
}

void Add(const GridOptions& o, int64_t size, const Mirrors& mirrors, double position, double weight, GridTaps& taps) {
  const double last = static_cast<double>(size - 1);
  if (o.padding == Padding::kBorder) position = std::clamp(position, 0.0, last);
  if (o.padding == Padding::kReflection && (position < 0 || position > last))
    position = std::trunc(Reflect(position, mirrors));
  if (!(position >= 0 && position <= last)) return;
  taps.from[taps.count] = static_cast<int64_t>(position);
  taps.weights[taps.count++] = weight;
}

}  // namespace

absl::StatusOr<GridOptions> ReadGridOptions(const Attributes& attributes) {
  GridOptions o;
  const std::string mode = attributes.String("mode", "linear");
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return absl::InvalidArgumentError(Concat("mode is '", mode, "', need linear, nearest or cubic"));
  o.mode = mode == "linear" ? Mode::kLinear : mode == "nearest" ? Mode::kNearest : Mode::kCubic;
  const std::string padding = attributes.String("padding_mode", "zeros");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return absl::InvalidArgumentError(Concat("padding_mode is '", padding, "', need zeros, border or reflection"));
  o.padding = padding == "zeros" ? Padding::kZeros : padding == "border" ? Padding::kBorder : Padding::kReflection;
  o.align_corners = attributes.Bool("align_corners", false);
  return o;
}

GridTaps TapsOfCoordinate(const GridOptions& o, int64_t count, double coordinate, bool f64) {
  const double size = static_cast<double>(count);
  const Mirrors mirrors = o.align_corners ? Mirrors{0, size - 1} : Mirrors{-0.5, size - 0.5};
  double x = o.align_corners ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  if (!f64) x = static_cast<float>(x);
  if (std::isnan(x)) x = -1;
  x = std::clamp(x, -1e15, 1e15);
  if (o.mode == Mode::kNearest) x = std::nearbyint(x);
  const bool outside = x < mirrors.low || x > mirrors.high;
  // With cubic each tap is brought to the border by itself, as PyTorch and ONNX Runtime do.
  if (outside && o.padding == Padding::kBorder && o.mode != Mode::kCubic) x = std::clamp(x, 0.0, size - 1);
  if (outside && o.padding == Padding::kReflection) x = Reflect(x, mirrors);
  GridTaps taps;
  if (o.mode == Mode::kNearest) {
    Add(o, count, mirrors, x, 1, taps);
    return taps;
  }
  const double below = std::floor(x), t = x - below;
  if (o.mode == Mode::kLinear) {
    Add(o, count, mirrors, below, 1 - t, taps);
    Add(o, count, mirrors, below + 1, t, taps);
    return taps;
  }
  const auto far = [](double d) { return ((kCubicA * d - 5 * kCubicA) * d + 8 * kCubicA) * d - 4 * kCubicA; };
  const auto near = [](double d) { return ((kCubicA + 2) * d - (kCubicA + 3)) * d * d + 1; };
  Add(o, count, mirrors, below - 1, far(t + 1), taps);
  Add(o, count, mirrors, below, near(t), taps);
  Add(o, count, mirrors, below + 1, near(1 - t), taps);
  Add(o, count, mirrors, below + 2, far(2 - t), taps);
  return taps;
}

}  // namespace halftone
