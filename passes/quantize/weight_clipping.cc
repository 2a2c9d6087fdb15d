// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize/weight_clipping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/weight_channels.h"
#include "passes/quantize/channel_ranges.h"

namespace halftone {
namespace {

constexpr int kCandidates = 20;
constexpr float kStep = 0.03f;  // 1, 0.97, ... 0.43

using Errors = std::array<double, kCandidates>;

float ShareOf(int candidate) { return 1 - kStep * static_cast<float>(candidate); }

// Of weights in parts of the largest magnitude. In f32, in lanes that the compiler can put side by side.
double ErrorOf(std::span<const float> weights, std::span<const float> importance, float share, float limit) {
  constexpr size_t kLanes = 8;
  constexpr float kRounds = 12582912.0f;  // 1.5 * 2^23: adding it leaves no fraction bits
  const float step = share / limit, steps = limit / share;
  std::array<float, kLanes> sums = {};
  const auto add = [&](size_t i, size_t lane) {
    const float clipped = std::min(std::max(weights[i] * steps, -limit), limit);
    const float error = weights[i] - ((clipped + kRounds) - kRounds) * step;
    sums[lane] += importance[i] * error * error;
  };
  size_t i = 0;
  for (; i + kLanes <= weights.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < weights.size(); ++i) add(i, 0);
  double sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

// How much each input channel counts, the largest 1. What never fired may fire yet.
std::vector<float> ImportanceOf(const ValueRange* range, int64_t channels) {
  constexpr float kLeast = 1e-3f;
  std::vector<float> importance(channels, 1.0f);
  if (range == nullptr) return importance;
  double largest = 0;
  std::vector<double> squares;
  for (int64_t c = 0; c < channels; ++c) {
    const double deviation = range->channel_magnitudes[c] / 3.0;
    const double mean = range->channel_means.empty() ? 0 : range->channel_means[c];
    squares.push_back(mean * mean + deviation * deviation);
    largest = std::max(largest, squares.back());
  }
  if (largest == 0) return importance;
  for (int64_t c = 0; c < channels; ++c) importance[c] = std::max(kLeast, static_cast<float>(squares[c] / largest));
  return importance;
}

// Of equals the widest.
float BestShare(const Errors& errors) {
  const auto least = std::ranges::min_element(errors);
  return ShareOf(static_cast<int>(least - errors.begin()));
}

}  // namespace

std::vector<float> KeptShares(const Graph& graph, NodeId contraction, ValueId input, const Tensor& weights,
                              bool per_channel, int limit, const ValueRanges& ranges) {
  const std::optional<WeightChannels> channels = WeightChannelsOf(graph, contraction);
  if (!channels.has_value()) return {};
  const std::span<const float> elements = weights.data<float>();
  const std::vector<float> of_inputs = ImportanceOf(
      RangeOfChannels(graph, ranges, input, InputChannelAxis(graph, contraction), channels->inputs), channels->inputs);
  const auto larger = [](float a, float b) { return std::max(a, std::abs(b)); };
  float whole = 0;
  for (const float weight : elements) whole = larger(whole, weight);

  std::vector<float> shares, row, importance;
  Errors total = {};
  for (int64_t o = 0; o < channels->outputs; ++o) {
    row.clear();
    importance.clear();
    for (int64_t i = 0; i < channels->inputs_per_group(); ++i) {
      for (int64_t tap = 0; tap < channels->taps; ++tap) {
        row.push_back(elements[channels->IndexOf(o, i, tap)]);
        importance.push_back(of_inputs[channels->InputOf(o, i)]);
      }
    }
    float magnitude = whole;
    if (per_channel) {
      magnitude = 0;
      for (const float weight : row) magnitude = larger(magnitude, weight);
    }
    if (magnitude > 0) {
      for (float& weight : row) weight /= magnitude;
    }
    Errors errors;
    for (int k = 0; k < kCandidates; ++k) {
      errors[k] = ErrorOf(row, importance, ShareOf(k), static_cast<float>(limit));
      total[k] += errors[k];
    }
    if (per_channel) shares.push_back(BestShare(errors));
  }
  return per_channel ? shares : std::vector<float>{BestShare(total)};
}

}  // namespace halftone
