// SPDX-License-Identifier: Apache-2.0
// Evenly spaced numbers, including 0, to which the elements of a weight are rounded.
#ifndef HALFTONE_PASSES_TRANSFORMS_WEIGHT_GRID_H_
#define HALFTONE_PASSES_TRANSFORMS_WEIGHT_GRID_H_

#include <cstdint>
#include <optional>
#include <span>

namespace halftone {

// Step q stands for (q - zero) * size, q in [0, steps).
struct WeightGrid {
  int64_t steps = 0;
  int64_t zero = 0;
  float size = 1;

  int64_t StepOf(float x) const;
  float ValueOf(int64_t step) const { return static_cast<float>(step - zero) * size; }
};

// The grid from the smallest element (or 0) to the largest (or 0). nullopt if there are no elements, one is not finite,
// or all are 0. REQUIRES: steps >= 2
std::optional<WeightGrid> GridOver(std::span<const float> elements, int64_t steps);

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_WEIGHT_GRID_H_
