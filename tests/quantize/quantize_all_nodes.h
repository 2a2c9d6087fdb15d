// SPDX-License-Identifier: Apache-2.0
// A golden graph with quantize_linear and dequantize_linear around every node, and folded as for a plan.
#ifndef HALFTONE_TESTS_QUANTIZE_QUANTIZE_ALL_NODES_H_
#define HALFTONE_TESTS_QUANTIZE_QUANTIZE_ALL_NODES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/value_ranges.h"
#include "passes/core/pass.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

inline constexpr uint64_t kQuantizeSeed = 11;  // of the inputs for ObservedRanges

// The quantization configurations that tests try with every golden graph.
inline const QuantizeOptions kQuantizeOptions[] = {
    {},
    {.activations = DataType::kInt8, .symmetric_activations = true, .per_channel_weights = false},
    {.common_range_of_sums = true, .quantize_results = true},
};

// The result of the optimize pipeline. Without ranges if the graph cannot be optimized or run.
struct OptimizedGraph {
  Graph graph;
  ValueRanges ranges;
};
OptimizedGraph OptimizeGolden(const Graph& golden, PassContext& context);

struct QuantizedGraph {
  Graph qdq;     // as a file in QDQ format holds it
  Graph folded;  // as it runs on context.target
};
absl::StatusOr<QuantizedGraph> QuantizeAllNodes(const OptimizedGraph& optimized, const QuantizeOptions& options,
                                                PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_TESTS_QUANTIZE_QUANTIZE_ALL_NODES_H_
