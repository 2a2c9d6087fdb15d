// SPDX-License-Identifier: Apache-2.0
// Planner "lists": the types that TensorFlow's auto_mixed_precision would convert to bfloat16 on a CPU, one decision
// per type attribute. It edits nothing; ApplyPrecision (apply_precision.h) does.
//
// An imported GraphDef is planned node by node as the file spells it (Graph::source), including opaque nodes. Other
// graphs are planned by their canonical nodes, each of which counts as the corresponding TensorFlow op. The steps are
// those of auto_mixed_precision.h. As in TensorFlow, inputs, nodes whose names callers use (outputs of a GraphDef) and
// nodes on a device that is not a CPU are not processed, and FusedBatchNorm counts as FusedBatchNormV2.
//
// The decisions of the plan are those that can be applied: opaque nodes keep their types, constants are cast where they
// are read, and a node that the importer added for its consumer gets the type of that consumer. `attributes` holds what
// TensorFlow would do.
#ifndef HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_
#define HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "passes/precision/lists_options.h"
#include "passes/precision/planned_precision.h"

namespace halftone {

// Counts of one plan.
struct PlanSummary {
  DataType type = DataType::kBFloat16;
  bool nothing_to_do = false;  // the graph has no op of the allow list
  int nodes = 0;               // of the file: constants and inputs count in a GraphDef, not in ONNX
  int marked = 0;              // type attributes that are marked
  int casts_to_bf16 = 0;       // casts to `type`, one per value, without those of constants and variables
  int casts_to_f32 = 0;
  // TensorFlow's message: "Converted 3/19 nodes to bfloat16 precision using 0 cast(s) to bfloat16 (excluding Const and
  // Variable casts)", "No allowlist ops found, nothing to do".
  std::string ToString() const;
};

struct ListsPlan {
  PrecisionPlan plan;
  PlanSummary summary;
  std::vector<std::string> warnings;
  std::vector<TypeAttributeDecision> attributes;
};

// Pure: the same arguments give the same plan. REQUIRES: for a version that plans the fused graph (PlansFusedGraph),
// that `graph` is it.
absl::StatusOr<ListsPlan> PlanByLists(const Graph& graph, const PlannerOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_
