// Planner "lists": what TensorFlow's auto_mixed_precision would paint bfloat16 on a CPU, type attribute by type
// attribute. It edits nothing; ApplyPrecision (apply_precision.h) does.
//
// A GraphDef as imported is planned node by node as its file spells it (Graph::source), opaque nodes included; other
// graphs by their canonical nodes, each of which counts as the TensorFlow op that it means. The steps are those of
// auto_mixed_precision.h. Kept as TensorFlow has it: nodes whose names callers ask for (outputs of a GraphDef), inputs, and
// nodes on a device that is no CPU are not processed; FusedBatchNorm counts as its second version.
//
// The plan's decisions are what can be applied here: opaque nodes keep their types, constants are cast where they are
// read, a node that an importer made for its reader follows that reader. `attributes` says what TensorFlow would do.
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

// What became of the graph that was planned.
struct PlanSummary {
  DataType type = DataType::kBFloat16;
  bool nothing_to_do = false;  // no op of the allow list is there
  int nodes = 0;               // of the file: constants and inputs count in a GraphDef, not in ONNX
  int marked = 0;              // type attributes
  int casts_to_bf16 = 0;       // casts to `type` at borders, one a value; those of constants and variables excluded
  int casts_to_f32 = 0;
  // TensorFlow's words: "Converted 3/19 nodes to bfloat16 precision using 0 cast(s) to bfloat16 (excluding Const and
  // Variable casts)", "No allowlist ops found, nothing to do".
  std::string ToString() const;
};

struct ListsPlan {
  PrecisionPlan plan;
  PlanSummary summary;
  std::vector<std::string> warnings;
  std::vector<TypeAttributeDecision> attributes;
};

// Pure: the same arguments give the same plan. REQUIRES: for a variant that plans the fused graph (PlansFusedGraph),
// that `graph` is it.
absl::StatusOr<ListsPlan> PlanByLists(const Graph& graph, const PlannerOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_
