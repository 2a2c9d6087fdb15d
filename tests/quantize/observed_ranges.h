// SPDX-License-Identifier: Apache-2.0
// Ranges for tests, without calibration: observed in one run of the reference evaluator.
#ifndef HALFTONE_TESTS_QUANTIZE_OBSERVED_RANGES_H_
#define HALFTONE_TESTS_QUANTIZE_OBSERVED_RANGES_H_

#include <cstdint>

#include "ir/graph.h"
#include "ir/value_ranges.h"

namespace halftone {

// The minimum and maximum, extended to include 0, of every finite f32 value in a run with random inputs of this seed.
// Empty if the graph cannot run.
ValueRanges ObservedRanges(const Graph& graph, uint64_t seed);

}  // namespace halftone

#endif  // HALFTONE_TESTS_QUANTIZE_OBSERVED_RANGES_H_
