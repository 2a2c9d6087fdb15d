// SPDX-License-Identifier: Apache-2.0
// How the numbers of a tensor are spread, in memory that does not grow with their number: kBins bins side by side
// around zero. Their width is a power of two and doubles where a number falls outside; then neighbours are merged, two
// and two. A number's bin is found by its magnitude (a multiple of the width, cut off), and halving that multiple cuts
// off once more: so the result is exactly that of putting every number into bins of the final width at once, whatever
// the order of the numbers and however they were cut into pieces.
#ifndef HALFTONE_RUNTIME_CALIBRATE_HISTOGRAM_H_
#define HALFTONE_RUNTIME_CALIBRATE_HISTOGRAM_H_

#include <array>
#include <cstdint>
#include <span>

namespace halftone {

// Smallest and largest number of a piece. NaN and infinities are seen.
struct Extent {
  // Bits of f32, made to order as integers: -inf < ... < -0 < 0 < ... < inf, and every NaN outside of them.
  int32_t low = INT32_MAX;
  int32_t high = INT32_MIN;

  // Of numbers of which the bits are known that are largest as signed, and largest and smallest as unsigned integers.
  static Extent OfBits(int32_t high, uint32_t top, uint32_t bottom);

  bool empty() const { return low > high; }
  bool finite() const;  // REQUIRES: not empty
  float min() const;    // -0 is 0
  float max() const;
  float magnitude() const;  // the larger of |min| and |max|; +inf or NaN where not finite
  void Join(const Extent& other) {
    low = low < other.low ? low : other.low;
    high = high > other.high ? high : other.high;
  }
};

Extent ExtentOf(std::span<const float> x);

// Value type, thread-compatible; 32 KB.
class Histogram {
 public:
  static constexpr int kBins = 4096;
  static constexpr int kZeroBin = kBins / 2;  // of [0, width); the one before it is of (-width, 0)
  // Widths: the smallest whose inverse is an f32, and the one at which the largest f32 falls inside. Numbers below the
  // smallest width, denormals above all, share the two bins around zero.
  static constexpr int kSmallestExponent = -126;
  static constexpr int kLargestExponent = 117;

  // Adds the numbers of a piece, whose extent is given or computed. REQUIRES: finite
  void Add(std::span<const float> x) { Add(x, ExtentOf(x)); }
  void Add(std::span<const float> x, const Extent& extent);

  // Numbers of another histogram; as if they had been added here.
  void Merge(const Histogram& other);

  // Bin i >= kZeroBin holds [low(i), low(i + 1)), others (low(i), low(i + 1)]. -0 counts as 0.
  double width() const;
  double low(int bin) const { return (bin - kZeroBin) * width(); }
  int exponent() const { return exponent_; }  // width = 2^exponent
  const std::array<uint64_t, kBins>& counts() const { return counts_; }
  uint64_t total() const;                            // of all bins, added up
  uint64_t zeros() const { return zeros_; }  // among those of kZeroBin

  bool operator==(const Histogram&) const = default;

  // The width's exponent for numbers up to this magnitude: the smallest at which they fall inside. REQUIRES: finite
  static int ExponentFor(float magnitude);

 private:
  void WidenTo(int exponent);

  std::array<uint64_t, kBins> counts_ = {};
  uint64_t zeros_ = 0;
  int exponent_ = kSmallestExponent;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_HISTOGRAM_H_
