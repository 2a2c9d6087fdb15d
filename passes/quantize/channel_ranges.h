// SPDX-License-Identifier: Apache-2.0
// What calibration saw of the channels that a contraction reads.
#ifndef HALFTONE_PASSES_QUANTIZE_CHANNEL_RANGES_H_
#define HALFTONE_PASSES_QUANTIZE_CHANNEL_RANGES_H_

#include <cstdint>

#include "ir/graph.h"
#include "ir/value_ranges.h"

namespace halftone {

// What calibration saw of a value: by itself, or of the one that it is another view of (a flattened image of one
// element a channel), through quantize_linear and dequantize_linear. nullptr: nothing is known of its channels along
// `axis`, or they are not `channels`. Of the result channel_means may still be empty, channel_magnitudes are not.
const ValueRange* RangeOfChannels(const Graph& graph, const ValueRanges& ranges, ValueId value, int axis,
                                  int64_t channels);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_CHANNEL_RANGES_H_
