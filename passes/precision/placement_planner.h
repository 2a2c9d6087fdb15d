// SPDX-License-Identifier: Apache-2.0
// Planner "placement": the nodes that Paddle's cpu_bfloat16_placement and its following passes would run in bfloat16.
// It plans the fused graph, because Paddle fuses first. It edits nothing; ApplyPrecision (apply_precision.h) does.
//
// The steps, in this order:
//   mark     marks every node whose op is on the list (placement_ops.h) and that can be converted
//            (precision_obstacle.h): its data is f32 and the target has a kernel. reshape and slice are marked only if
//            their shapes are constant, a fused scale only if its bias is added before the scale.
//   orphans  removes the marks of nodes with an f32 producer and an f32 consumer, considering all producers and
//            consumers, until there are none. The first node of the graph has an f32 producer (the input), the last one
//            an f32 consumer (the output). Constants do not count as producers.
//   output   gives a marked conv, matmul or fc without a residual an f32 result if all its consumers are f32 and there
//            is such a kernel: then no cast is needed after it.
//
// A marked cast reads bfloat16; its result keeps its type. Where a marked conv reads f32, ApplyPrecision inserts a cast
// before it, which the conv's primitive may do itself. Nested graphs stay f32.
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
  std::vector<std::string> ops;         // marks only these ops of the list (Paddle's names); empty: the whole list
  DataType type = DataType::kBFloat16;  // or kFloat16
};

// INVALID_ARGUMENT names the ops that are not on the list, and lists those that are.
absl::Status CheckPlacementOptions(const PlacementOptions& options);

// Pure: the same arguments give the same plan. Errors: those of CheckPlacementOptions.
absl::StatusOr<PlannedPrecision> PlanByPlacement(const Graph& graph, const Target& target,
                                                 const PlacementOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PLACEMENT_PLANNER_H_
