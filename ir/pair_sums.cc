// SPDX-License-Identifier: Apache-2.0
#include "ir/pair_sums.h"

#include <algorithm>

namespace halftone {
namespace {

constexpr int32_t kLargestByte = 255;

class Worst {
 public:
  void Add(int8_t a, int8_t b, int64_t output) {
    const int32_t most = kLargestByte * (std::max<int32_t>(a, 0) + std::max<int32_t>(b, 0));
    const int32_t least = kLargestByte * (std::min<int32_t>(a, 0) + std::min<int32_t>(b, 0));
    if (sums_.worst_output < 0 || most > sums_.most || least < sums_.least)
      sums_.worst_output = Nearer(most, least, output);
    sums_.most = std::max(sums_.most, most);
    sums_.least = std::min(sums_.least, least);
  }
  const PairSums& sums() const { return sums_; }

 private:
  // The channel of what is farthest from 0.
  int64_t Nearer(int32_t most, int32_t least, int64_t output) const {
    const int32_t before = std::max(sums_.most, -sums_.least), now = std::max(most, -least);
    return sums_.worst_output < 0 || now > before ? output : sums_.worst_output;
  }

  PairSums sums_;
};

}  // namespace

PairSums PairSumsOf(std::span<const int8_t> weights, const WeightChannels& channels) {
  Worst worst;
  const int64_t inputs = channels.inputs_per_group(), taps = channels.taps;
  // Several results of one channel are no depthwise convolution to oneDNN: its general kernels pair taps.
  if (inputs == 1 && channels.groups > 1 && channels.outputs == channels.groups) return worst.sums();
  for (int64_t o = 0; o < channels.outputs; ++o) {
    const auto at = [&](int64_t i, int64_t tap) { return weights[channels.IndexOf(o, i, tap)]; };
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < inputs; ++i) {
        const int8_t weight = at(i, tap);
        worst.Add(weight, 0, o);
        // The next one with channels inside of taps, and with taps inside of channels.
        if (i + 1 < inputs) {
          worst.Add(weight, at(i + 1, tap), o);
        } else if (tap + 1 < taps) {
          worst.Add(weight, at(0, tap + 1), o);
        }
        if (tap + 1 < taps) {
          worst.Add(weight, at(i, tap + 1), o);
        } else if (i + 1 < inputs) {
          worst.Add(weight, at(i + 1, 0), o);
        }
      }
    }
  }
  return worst.sums();
}

PairSums PairSumsOfAny(std::span<const int8_t> weights) {
  Worst worst;
  if (weights.empty()) return worst.sums();
  int8_t high[2] = {INT8_MIN, INT8_MIN}, low[2] = {INT8_MAX, INT8_MAX};
  for (const int8_t weight : weights) {
    if (weight > high[1]) high[1] = weight;
    if (high[1] > high[0]) std::swap(high[0], high[1]);
    if (weight < low[1]) low[1] = weight;
    if (low[1] < low[0]) std::swap(low[0], low[1]);
  }
  const bool alone = weights.size() == 1;
  worst.Add(high[0], alone ? 0 : high[1], 0);
  worst.Add(low[0], alone ? 0 : low[1], 0);
  return worst.sums();
}

}  // namespace halftone
