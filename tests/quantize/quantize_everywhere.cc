#include "tests/quantize/quantize_everywhere.h"

#include <set>
#include <vector>

#include "base/status.h"
#include "passes/pipelines.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"
#include "tests/quantize/seen_ranges.h"

namespace halftone {

OptimizedGraph OptimizeGolden(const Graph& golden, PassContext& context) {
  OptimizedGraph optimized{golden, {}};
  if (MakeOptimizePipeline().Run(optimized.graph, context).ok()) {
    optimized.ranges = SeenRanges(optimized.graph, kQuantizeSeed);
  }
  return optimized;
}

absl::StatusOr<QuantizedGraph> QuantizeEverywhere(const OptimizedGraph& optimized, const QuantizeOptions& options,
                                                  PassContext& context) {
  const std::vector<NodeId> nodes = optimized.graph.nodes();
  QuantizedGraph result;
  result.pairs = optimized.graph;
  Pipeline insert("quantize");
  insert.Add<InsertQuantization>(optimized.ranges, std::set<NodeId>(nodes.begin(), nodes.end()), options);
  insert.Add<RemoveDeadNodes>();
  HALFTONE_RETURN_IF_ERROR(insert.Run(result.pairs, context));
  result.folded = result.pairs;
  HALFTONE_RETURN_IF_ERROR(MakeRunPipeline().Run(result.folded, context));
  return result;
}

}  // namespace halftone
