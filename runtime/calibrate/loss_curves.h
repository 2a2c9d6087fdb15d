// SPDX-License-Identifier: Apache-2.0
// What clipping at the edge of a bin costs, for every edge: the searches of the calibrators entropy and
// mse. Private to runtime/calibrate.
#ifndef HALFTONE_RUNTIME_CALIBRATE_LOSS_CURVES_H_
#define HALFTONE_RUNTIME_CALIBRATE_LOSS_CURVES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace halftone {

// Neighbouring bins [first, last).
struct BinWindow {
  int first = 0;
  int last = 0;
};

// Divergence between bins clipped to a window (what lies outside counts to the window's ends) and the same told apart
// by `levels` integers only. O(levels) a window after O(bins) once.
class DivergenceCurve {
 public:
  explicit DivergenceCurve(std::span<const uint64_t> counts);
  // Of the window's bins, as evenly as they go: level l has [l * bins / levels, (l + 1) * bins / levels). A level at
  // the end that has no numbers of its own, but clipped ones, is taken to have one: it would be impossible, and so
  // would be every clipping of a lone outlier. Infinity for an empty window. REQUIRES: levels >= 2, the window has that
  // many bins
  double At(BinWindow window, int levels) const;

 private:
  double total_ = 0;
  std::vector<uint64_t> counts_;
  std::vector<double> sums_;     // of the counts before bin i
  std::vector<double> logs_;     // of count * log(count)
  std::vector<int32_t> filled_;  // bins that are not empty
};

// Squared errors of bins' middles, in widths of a bin.
class SquaredErrorCurve {
 public:
  // Bin i has its middle at i - zero_bin + 0.5.
  SquaredErrorCurve(std::span<const uint64_t> counts, int zero_bin);
  // Sum over all numbers when integer q of [low, high] stands for q * step. O(high - low).
  double At(double step, int low, int high) const;

 private:
  int zero_bin_;
  std::vector<double> sums0_, sums1_, sums2_;  // of count, count * middle, count * middle^2 before bin i
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_LOSS_CURVES_H_
