// Planner "placement": what Paddle's cpu_bfloat16_placement and the passes behind it would run in bfloat16, on the
// fused graph (Paddle fuses first). It edits nothing; ApplyPrecision (apply_precision.h) does.
//
// Steps, in this order:
//   mark       every node that an op of the list means (placement_ops.h) and that can be lowered (precision_obstacle.h): its
//   data
//              is f32, there is a kernel. reshape and slice only where their shapes are constants, a fused scale only
//              where its bias comes before the scale
//   orphans    marks go off nodes with a producer in f32 and a reader in f32, all producers and readers looked at,
//   until
//              there is none. The first node of the graph has a producer in f32 (the input), the last one a reader (the
//              output). Constants are no producers
//   output     conv, matmul and fc without a residual, whose readers are all f32, get an f32 result where there is a
//   kernel for
//              it: no cast behind them
// A cast that is marked reads bfloat16 as it comes; what it makes keeps its type. Where a marked conv reads f32, a cast
// stands in front of it, which its primitive may do itself. Nested graphs stay f32.
#ifndef HALFTONE_PASSES_PRECISION_PLACEMENT_PLANNER_H_
#define HALFTONE_PASSES_PRECISION_PLACEMENT_PLANNER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "passes/precision/placement_ops.h"
#include "passes/precision/planned_precision.h"

namespace halftone {

struct PlacementOptions {
  PlacementLists lists = PlacementLists::kPaddle;
  std::vector<std::string> ops;  // Paddle's names of the only ones to mark, all of them on the list; empty: the list
  DataType type = DataType::kBFloat16;  // or kFloat16
};

// INVALID_ARGUMENT names the ops that are not on the list, and those that are.
absl::Status CheckPlacementOptions(const PlacementOptions& options);

// Pure: the same arguments give the same plan. Errors: those of CheckPlacementOptions.
absl::StatusOr<PlannedPrecision> PlanByPlacement(const Graph& graph, const Target& target,
                                                 const PlacementOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PLACEMENT_PLANNER_H_
