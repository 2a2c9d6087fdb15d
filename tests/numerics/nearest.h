// SPDX-License-Identifier: Apache-2.0
// The right result of a rounding to bf16 or f16, found in another way than the product finds it: not by bits, but as
// the nearer of the two numbers between which a float lies. Distances are differences of doubles, exact here.
#ifndef HALFTONE_TESTS_NUMERICS_NEAREST_H_
#define HALFTONE_TESTS_NUMERICS_NEAREST_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/types.h"

namespace halftone::testing {

// Thread-safe once made.
class Nearest {
 public:
  // kBFloat16 or kFloat16.
  explicit Nearest(DataType type);

  // expected[i] for the float whose bits are first + i. Ties go to the even pattern; beyond the largest number as if
  // one more step were there, which is infinity; NaN keeps its sign and the top of its payload and is quiet. REQUIRES:
  // all of them have the same sign
  void Round(uint32_t first, std::span<uint16_t> expected) const;
  uint16_t Round(float value) const;

  // Of the patterns 0 (zero) to infinity(), which stands for the number that would follow the largest one.
  const std::vector<double>& values() const { return values_; }
  uint16_t infinity() const { return static_cast<uint16_t>(values_.size() - 1); }

 private:
  int fraction_bits_;
  std::vector<double> values_;
};

// "" if `actual` is right for the floats from `first` on, else the first that is not: "0x7f800001 (nan) became 0x7f80
// instead of 0x7fc0".
std::string Difference(uint32_t first, std::span<const uint16_t> actual, std::span<const uint16_t> expected);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_NUMERICS_NEAREST_H_
