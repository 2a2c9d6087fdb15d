// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/calibrators.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/calibrate/loss_curves.h"

namespace halftone {
namespace {

constexpr int kZero = Histogram::kZeroBin;

// Counts by magnitude: bin i has the numbers of [i, i + 1) widths on either side of zero.
std::vector<uint64_t> Folded(const Histogram& histogram, bool without_zeros) {
  std::vector<uint64_t> counts(kZero);
  for (int i = 0; i < kZero; ++i) counts[i] = histogram.counts()[kZero + i] + histogram.counts()[kZero - 1 - i];
  if (without_zeros) counts[0] -= histogram.zeros();
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  return counts;
}

Range Seen(const TensorStatistics& statistics) { return {statistics.min(), statistics.max()}; }

// What was seen, up to this magnitude.
Range Clipped(const TensorStatistics& statistics, double magnitude) {
  return {std::clamp<double>(statistics.min(), -magnitude, magnitude),
          std::clamp<double>(statistics.max(), -magnitude, magnitude)};
}

// How the integers of a range lie about zero.
struct Integers {
  bool by_magnitude = false;  // one threshold for both signs; else the ends are chosen by themselves
  int steps = 0;              // by_magnitude: between 0 and the threshold; else between the ends
};

Integers IntegersFor(const TensorStatistics& statistics, const QuantizationChoice& choice) {
  const IntegerLimits limits = LimitsOf(choice);
  const bool one_sign = statistics.min() >= 0 || statistics.max() <= 0;
  if (choice.symmetric) {
    const bool unsigned_only = choice.type == DataType::kUInt8 && statistics.min() >= 0;
    return {true, unsigned_only ? limits.high - limits.low : 127};
  }
  return {one_sign, limits.high - limits.low};
}

// --- Percentile

// The magnitude, or number, below which `share` of the counts lie, in widths from the first bin's low end.
double Quantile(std::span<const uint64_t> counts, double share) {
  double total = 0;
  for (const uint64_t count : counts) total += static_cast<double>(count);
  const double wanted = share * total;
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double count = static_cast<double>(counts[i]);
    if (count > 0 && below + count >= wanted) return static_cast<double>(i) + (wanted - below) / count;
    below += count;
  }
  return static_cast<double>(counts.size());
}

Range Percentile(const TensorStatistics& statistics, double percentile, bool by_magnitude) {
  const Histogram& histogram = statistics.histogram();
  if (by_magnitude) {
    return Clipped(statistics,
                   Quantile(Folded(histogram, /*without_zeros=*/false), percentile / 100) * histogram.width());
  }
  const double cut = (100 - percentile) / 200;
  const double low = histogram.low(0) + Quantile(histogram.counts(), cut) * histogram.width();
  const double high = histogram.low(0) + Quantile(histogram.counts(), 1 - cut) * histogram.width();
  return {std::max<double>(low, statistics.min()), std::min<double>(high, statistics.max())};
}

// --- Entropy

Range Entropy(const TensorStatistics& statistics, const Integers& integers) {
  const Histogram& histogram = statistics.histogram();
  const int levels = integers.steps + 1;
  double least = std::numeric_limits<double>::infinity();
  int best = -1;
  const auto consider = [&](int edge, double divergence) {
    if (divergence < least) {
      least = divergence;
      best = edge;
    }
  };
  if (integers.by_magnitude) {
    const std::vector<uint64_t> counts = Folded(histogram, /*without_zeros=*/true);
    const DivergenceCurve curve(counts);
    const int bins = static_cast<int>(counts.size());
    for (int edge = levels; edge <= bins; ++edge) consider(edge, curve.At({0, edge}, levels));
  } else {
    std::vector<uint64_t> counts(histogram.counts().begin(), histogram.counts().end());
    counts[kZero] -= histogram.zeros();
    const DivergenceCurve curve(counts);
    // Bins that were hit, on either side of zero.
    int below = kZero, above = kZero;
    while (below > 0 && histogram.counts()[kZero - below] == 0) --below;
    while (above > 0 && histogram.counts()[kZero + above - 1] == 0) --above;
    for (int edge = 1; edge <= std::max(below, above); ++edge) {
      const BinWindow window{kZero - std::min(edge, below), kZero + std::min(edge, above)};
      if (window.last - window.first >= levels) consider(edge, curve.At(window, levels));
    }
  }
  return best < 0 ? Seen(statistics) : Clipped(statistics, best * histogram.width());
}

// --- Mean squared error

Range LeastErrorByMagnitude(const TensorStatistics& statistics, int steps) {
  const Histogram& histogram = statistics.histogram();
  const std::vector<uint64_t> counts = Folded(histogram, /*without_zeros=*/true);
  const SquaredErrorCurve curve(counts, /*zero_bin=*/0);
  double least = std::numeric_limits<double>::infinity();
  int best = 0;
  for (int edge = 1; edge <= static_cast<int>(counts.size()); ++edge) {
    const double error = curve.At(static_cast<double>(edge) / steps, 0, steps);
    if (error <= least) {  // of equals the widest: a constant keeps its value
      least = error;
      best = edge;
    }
  }
  return Clipped(statistics, best * histogram.width());
}

// The integers between edges `low` <= 0 and `high` >= 0, in widths; 0 is one of them.
double ErrorBetween(const SquaredErrorCurve& curve, int low, int high, int steps) {
  if (low == high) return std::numeric_limits<double>::infinity();
  const double step = static_cast<double>(high - low) / steps;
  const int below = static_cast<int>(std::nearbyint(-low / step));
  return curve.At(step, -below, steps - below);
}

Range LeastErrorByEnds(const TensorStatistics& statistics, int steps) {
  constexpr int kMostRounds = 8;  // two or three are usual
  const Histogram& histogram = statistics.histogram();
  std::vector<uint64_t> counts(histogram.counts().begin(), histogram.counts().end());
  counts[kZero] -= histogram.zeros();
  const SquaredErrorCurve curve(counts, kZero);
  int lowest = -kZero, highest = kZero;
  while (lowest < 0 && histogram.counts()[kZero + lowest] == 0) ++lowest;
  while (highest > 0 && histogram.counts()[kZero + highest - 1] == 0) --highest;
  int low = lowest, high = highest;
  double least = ErrorBetween(curve, low, high, steps);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::pair before(low, high);
    for (int edge = highest; edge >= 0; --edge) {
      const double error = ErrorBetween(curve, low, edge, steps);
      if (error < least) {
        least = error;
        high = edge;
      }
    }
    for (int edge = lowest; edge <= 0; ++edge) {
      const double error = ErrorBetween(curve, edge, high, steps);
      if (error < least) {
        least = error;
        low = edge;
      }
    }
    if (before == std::pair(low, high)) break;
  }
  return {std::max<double>(low * histogram.width(), statistics.min()),
          std::min<double>(high * histogram.width(), statistics.max())};
}

absl::Status Check(const CalibratorOptions& options) {
  if (options.integers.type != DataType::kUInt8 && options.integers.type != DataType::kInt8) {
    return absl::InvalidArgumentError(
        Concat("calibration is for u8 and s8, not ", DataTypeName(options.integers.type)));
  }
  if (!(options.percentile > 50 && options.percentile <= 100)) {
    return absl::InvalidArgumentError(
        Concat("percentile is ", options.percentile, ", must be above 50 and at most 100"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Range> ChooseRange(const TensorStatistics& statistics, const CalibratorOptions& options) {
  HALFTONE_RETURN_IF_ERROR(Check(options));
  const Integers integers = IntegersFor(statistics, options.integers);
  switch (options.calibrator) {
    case Calibrator::kMinMax:
      return Seen(statistics);
    case Calibrator::kMovingAverage:
      return Range{statistics.average_min(), statistics.average_max()};
    case Calibrator::kPercentile:
      return Percentile(statistics, options.percentile, integers.by_magnitude);
    case Calibrator::kEntropy:
      return Entropy(statistics, integers);
    case Calibrator::kMeanSquaredError:
      return integers.by_magnitude ? LeastErrorByMagnitude(statistics, integers.steps)
                                   : LeastErrorByEnds(statistics, integers.steps);
    case Calibrator::kLog:
      break;
  }
  return absl::InvalidArgumentError(
      Concat("'", CalibratorName(options.calibrator), "' says where ranges came from and cannot choose one"));
}

absl::StatusOr<ValueRange> MakeValueRange(const TensorStatistics& statistics, const CalibratorOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(const Range range, ChooseRange(statistics, options));
  ValueRange result;
  // Rounded to f32 they must not leave what was seen and 0, or each other.
  const float low = std::min(statistics.min(), 0.0f), high = std::max(statistics.max(), 0.0f);
  result.min = std::clamp(static_cast<float>(range.min), low, high);
  result.max = std::clamp(static_cast<float>(range.max), result.min, high);
  result.calibrator = options.calibrator;
  result.observed_min = statistics.min();
  result.observed_max = statistics.max();
  result.count = statistics.count();
  result.zeros = statistics.histogram().zeros();
  result.bin_width = statistics.count() == 0 ? 0 : statistics.histogram().width();
  result.channel_magnitudes = statistics.ChannelMagnitudes();
  result.channel_means = statistics.ChannelMeans();
  result.still_widening = statistics.batches() > 0 && statistics.last_widening() == statistics.batches() - 1;
  return result;
}

}  // namespace halftone
