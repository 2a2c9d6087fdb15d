// A golden graph with pairs of quantize_linear and dequantize_linear wherever they can be, and what is planned of it.
#ifndef HALFTONE_TESTS_QUANTIZE_QUANTIZE_EVERYWHERE_H_
#define HALFTONE_TESTS_QUANTIZE_QUANTIZE_EVERYWHERE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/value_ranges.h"
#include "passes/core/pass.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

inline constexpr uint64_t kQuantizeSeed = 11;  // of the inputs that ranges are seen with

// The ways of quantizing that every golden graph is tried with.
inline const QuantizeOptions kQuantizeOptions[] = {
    {},
    {.activations = DataType::kInt8, .symmetric_activations = true, .per_channel_weights = false},
    {.common_range_of_sums = true, .quantize_results = true},
};

// After the optimize pipeline. No ranges: it cannot be optimized or run.
struct OptimizedGraph {
  Graph graph;
  ValueRanges ranges;
};
OptimizedGraph OptimizeGolden(const Graph& golden, PassContext& context);

struct QuantizedGraph {
  Graph pairs;   // as a file would hold it
  Graph folded;  // for context.target
};
absl::StatusOr<QuantizedGraph> QuantizeEverywhere(const OptimizedGraph& optimized, const QuantizeOptions& options,
                                                  PassContext& context);

}  // namespace halftone

#endif  // HALFTONE_TESTS_QUANTIZE_QUANTIZE_EVERYWHERE_H_
