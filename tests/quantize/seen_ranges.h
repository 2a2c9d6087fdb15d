// Ranges for tests, without a calibration: what the reference evaluator sees in one run.
#ifndef HALFTONE_TESTS_QUANTIZE_SEEN_RANGES_H_
#define HALFTONE_TESTS_QUANTIZE_SEEN_RANGES_H_

#include <cstdint>

#include "ir/graph.h"
#include "ir/value_ranges.h"

namespace halftone {

// The extremes, and 0, of every value of f32 that is finite in a run with the seed's inputs; nothing where the graph
// cannot be run.
ValueRanges SeenRanges(const Graph& graph, uint64_t seed);

}  // namespace halftone

#endif  // HALFTONE_TESTS_QUANTIZE_SEEN_RANGES_H_
