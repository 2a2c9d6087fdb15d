// SPDX-License-Identifier: Apache-2.0
// A number on its way to a type of few bits, through f32.
#ifndef HALFTONE_IR_ROUND_TO_ODD_H_
#define HALFTONE_IR_ROUND_TO_ODD_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace halftone {

// A float whose rounding to bf16 or f16 is that of `value`: truncated, the last bit set if anything was lost. Two plain
// roundings, one after the other, may end one digit off, where the first makes a tie.
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value || std::isinf(nearest)) return nearest;
  const float truncated = std::fabs(nearest) > std::fabs(value) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(truncated) | 1u);
}

}  // namespace halftone

#endif  // HALFTONE_IR_ROUND_TO_ODD_H_
