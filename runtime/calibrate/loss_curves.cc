// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/loss_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/log/check.h"

namespace halftone {
namespace {

double CountTimesLog(double count) { return count > 0 ? count * std::log(count) : 0; }

}  // namespace

DivergenceCurve::DivergenceCurve(std::span<const uint64_t> counts)
    : counts_(counts.begin(), counts.end()), sums_(1, 0.0), logs_(1, 0.0), filled_(1, 0) {
  for (const uint64_t count : counts) {
    sums_.push_back(sums_.back() + static_cast<double>(count));
    logs_.push_back(logs_.back() + CountTimesLog(static_cast<double>(count)));
    filled_.push_back(filled_.back() + (count > 0 ? 1 : 0));
  }
  total_ = sums_.back();
}

double DivergenceCurve::At(BinWindow window, int levels) const {
  const auto [first, last] = window;
  const int64_t bins = last - first;
  DCHECK(levels >= 2 && bins >= levels);
  const double inside = sums_[last] - sums_[first];
  if (inside == 0) return total_ == 0 ? 0 : std::numeric_limits<double>::infinity();
  const double left = sums_[first], right = total_ - sums_[last];
  const uint64_t at_first = counts_[first], at_last = counts_[last - 1];

  // sum of p log p, of the clipped bins
  const double p_log_p = logs_[last - 1] - logs_[first + 1] + CountTimesLog(static_cast<double>(at_first) + left) +
                         CountTimesLog(static_cast<double>(at_last) + right);
  // sum of p log q: a level's numbers are spread over those of its bins in which p has some
  double p_log_q = 0;
  double sum_of_q = inside;
  int64_t from = first;
  for (int level = 0; level < levels; ++level) {
    const int64_t to = first + (level + 1) * bins / levels;
    double numbers = sums_[to] - sums_[from];
    double clipped = numbers;
    int64_t filled = filled_[to] - filled_[from];
    if (level == 0) {
      clipped += left;
      filled += at_first == 0 && left > 0 ? 1 : 0;
    }
    if (level == levels - 1) {
      clipped += right;
      filled += at_last == 0 && right > 0 ? 1 : 0;
    }
    from = to;
    if (clipped == 0) continue;
    if (numbers == 0) {
      numbers = 1;
      sum_of_q += 1;
    }
    p_log_q += clipped * std::log(numbers / static_cast<double>(filled));
  }
  return (p_log_p - p_log_q) / total_ + std::log(sum_of_q / total_);
}

SquaredErrorCurve::SquaredErrorCurve(std::span<const uint64_t> counts, int zero_bin)
    : zero_bin_(zero_bin), sums0_(1, 0.0), sums1_(1, 0.0), sums2_(1, 0.0) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const double count = static_cast<double>(counts[i]);
    const double middle = static_cast<int>(i) - zero_bin + 0.5;
    sums0_.push_back(sums0_.back() + count);
    sums1_.push_back(sums1_.back() + count * middle);
    sums2_.push_back(sums2_.back() + count * middle * middle);
  }
}

double SquaredErrorCurve::At(double step, int low, int high) const {
  const int64_t bins = static_cast<int64_t>(sums0_.size()) - 1;
  double error = 0;
  int64_t from = 0;
  for (int q = low; q <= high; ++q) {
    // Bins whose middle is nearer to this integer than to the next one.
    const double border = (q + 0.5) * step + zero_bin_ - 0.5;
    const int64_t to = q == high ? bins : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(border)), from, bins);
    if (to == from) continue;
    const double number = q * step;
    error += (sums2_[to] - sums2_[from]) - 2 * number * (sums1_[to] - sums1_[from]) +
             number * number * (sums0_[to] - sums0_[from]);
    from = to;
  }
  return error;
}

}  // namespace halftone
