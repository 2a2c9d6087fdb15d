// SPDX-License-Identifier: Apache-2.0
#include "tests/numerics/nearest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"

namespace halftone::testing {
namespace {

constexpr uint32_t kSign = 0x80000000u;
constexpr int kFloatFractionBits = 23;

}  // namespace

Nearest::Nearest(DataType type) : fraction_bits_(type == DataType::kBFloat16 ? 7 : 10) {
  const int exponent_bits = 15 - fraction_bits_;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int ones = 1 << fraction_bits_;  // patterns of one exponent
  const int infinity = ((1 << exponent_bits) - 1) * ones;
  for (int bits = 0; bits <= infinity; ++bits) {
    const int exponent = std::max(bits / ones, 1), whole = bits < ones ? 0 : ones;
    values_.push_back(std::ldexp(whole + bits % ones, exponent - bias - fraction_bits_));
  }
}

void Nearest::Round(uint32_t first, std::span<uint16_t> expected) const {
  const uint16_t sign = (first & kSign) != 0 ? 0x8000 : 0;
  const auto magnitude = [&](size_t i) { return (first + static_cast<uint32_t>(i)) & ~kSign; };
  const auto number = [](uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); };
  const uint32_t float_infinity = 0xffu << kFloatFractionBits;
  size_t below = 0;  // the pattern of the largest number that is not above this one
  if (magnitude(0) <= float_infinity) {
    below = std::upper_bound(values_.begin(), values_.end(), number(magnitude(0))) - values_.begin() - 1;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const uint32_t bits = magnitude(i);
    if (bits > float_infinity) {  // the payload's top bits, the first of which says that it is quiet
      const uint32_t payload = (bits - float_infinity) >> (kFloatFractionBits - fraction_bits_);
      const uint32_t quiet = 1u << (fraction_bits_ - 1);
      expected[i] = static_cast<uint16_t>(sign + infinity() + (payload % quiet) + quiet);
      continue;
    }
    const double x = number(bits);
    while (below < infinity() && values_[below + 1] <= x) ++below;
    size_t nearest = below;
    if (below < infinity()) {
      const double from_below = x - values_[below], to_above = values_[below + 1] - x;
      if (to_above < from_below || (to_above == from_below && below % 2 == 1)) ++nearest;
    }
    expected[i] = static_cast<uint16_t>(sign + nearest);
  }
}

uint16_t Nearest::Round(float value) const {
  uint16_t expected = 0;
  Round(std::bit_cast<uint32_t>(value), {&expected, 1});
  return expected;
}

std::string Difference(uint32_t first, std::span<const uint16_t> actual, std::span<const uint16_t> expected) {
  if (std::memcmp(actual.data(), expected.data(), expected.size_bytes()) == 0) return "";
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const uint32_t bits = first + static_cast<uint32_t>(i);
    return absl::StrFormat("0x%08x (%g) became 0x%04x instead of 0x%04x", bits, std::bit_cast<float>(bits), actual[i],
                           expected[i]);
  }
  return "";
}

}  // namespace halftone::testing
