// SPDX-License-Identifier: Apache-2.0
#include "passes/transforms/weight_grid.h"

#include <algorithm>
#include <cmath>

namespace halftone {

int64_t WeightGrid::StepOf(float x) const {
  const double step = std::nearbyint(static_cast<double>(x) / size) + static_cast<double>(zero);
  return static_cast<int64_t>(std::clamp(step, 0.0, static_cast<double>(steps - 1)));
}

std::optional<WeightGrid> GridOver(std::span<const float> elements, int64_t steps) {
  double low = 0, high = 0;
  for (const float x : elements) {
    if (!std::isfinite(x)) return std::nullopt;
    low = std::min<double>(low, x);
    high = std::max<double>(high, x);
  }
  WeightGrid grid{.steps = steps};
  grid.size = static_cast<float>((high - low) / static_cast<double>(steps - 1));
  if (!std::isnormal(grid.size)) return std::nullopt;
  grid.zero = std::clamp<int64_t>(std::llround(-low / grid.size), 0, steps - 1);
  return grid;
}

}  // namespace halftone
