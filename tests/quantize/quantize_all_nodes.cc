// SPDX-License-Identifier: Apache-2.0
#include "tests/quantize/quantize_all_nodes.h"

#include <set>
#include <vector>

#include "base/status.h"
#include "passes/pipelines.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"
#include "tests/quantize/observed_ranges.h"

namespace halftone {

OptimizedGraph OptimizeGolden(const Graph& golden, PassContext& context) {
  OptimizedGraph optimized{golden, {}};
  if (MakeOptimizePipeline().Run(optimized.graph, context).ok()) {
    optimized.ranges = ObservedRanges(optimized.graph, kQuantizeSeed);
  }
  return optimized;
}

absl::StatusOr<QuantizedGraph> QuantizeAllNodes(const OptimizedGraph& optimized, const QuantizeOptions& options,
                                                PassContext& context) {
  const std::vector<NodeId> nodes = optimized.graph.nodes();
  QuantizedGraph result;
  result.qdq = optimized.graph;
  Pipeline insert("quantize");
  insert.Add<InsertQuantization>(optimized.ranges, std::set<NodeId>(nodes.begin(), nodes.end()), options);
  insert.Add<RemoveDeadNodes>();
  HALFTONE_RETURN_IF_ERROR(insert.Run(result.qdq, context));
  result.folded = result.qdq;
  HALFTONE_RETURN_IF_ERROR(MakeRunPipeline().Run(result.folded, context));
  return result;
}

}  // namespace halftone
