// SPDX-License-Identifier: Apache-2.0
// Whether int16 sums of two u8 x s8 products can saturate. CPUs without VNNI multiply u8 by s8 with vpmaddubsw, which
// adds the products of two neighbours along the reduced dimension and saturates at 32767 and -32768.
#ifndef HALFTONE_IR_PAIR_SUMS_H_
#define HALFTONE_IR_PAIR_SUMS_H_

#include <cstdint>
#include <span>

#include "ir/weight_channels.h"

namespace halftone {

// The largest and the smallest sum that a pair of s8 weights can make with any two u8 activations, and the output
// channel of the one that is nearest to the end of int16 or beyond. Padding counts as an activation. Plain data.
struct PairSums {
  int32_t most = 0;
  int32_t least = 0;
  int64_t worst_output = -1;  // -1: nothing is added in pairs

  bool fit() const { return most <= INT16_MAX && least >= INT16_MIN; }
};

// Over all pairs that a kernel may form: neighbours of one output channel with input channels inside of taps, and with
// taps inside of input channels, whichever of the two is the first of a pair. A group of one channel and one result
// (depthwise) is added up without pairs. REQUIRES: `weights` are as many as `channels` says
PairSums PairSumsOf(std::span<const int8_t> weights, const WeightChannels& channels);

// Of any two of these weights.
PairSums PairSumsOfAny(std::span<const int8_t> weights);

}  // namespace halftone

#endif  // HALFTONE_IR_PAIR_SUMS_H_
