// Planner "lists": what TensorFlow's auto_mixed_precision would paint bfloat16 on a CPU, node by node, on the graph as
// imported. It edits nothing; ApplyPrecision (apply_precision.h) does.
//
// Steps, in this order (a "variable" is one (node, type attribute); only fp32 ones are painted):
//   allow             ops on the allow list are painted
//   deny-propagation  deny ops, and infer or clear ops on a path from a deny op to a deny or infer op, are never
//   painted infer-between     infer and clear ops between two painted allow ops are painted infer-after       only if
//   asked: infer ops that directly follow a painted op, and no denied one (newer TensorFlow does this) clear-adjacent
//   clear ops connected to a painted node through clear ops are painted loop-edges        NextIteration and its Merges
//   get one colour: painted only if all the Merges are casts             an existing cast to f32 whose readers are all
//   painted casts to bfloat16 instead node-rule         the caller's rules on single nodes, the first that matches;
//   they override the lists
//
// Kept as TensorFlow has it: nodes whose names callers ask for (outputs of a GraphDef) and nodes on a device that is no
// CPU are not processed; constants are never painted (their casts fold). Opaque nodes pass deny on, and are never
// painted.
#ifndef HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_
#define HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"

namespace halftone {

// Names of TensorFlow ops to put on a list or take off it.
struct ListEdit {
  std::vector<std::string> add;
  std::vector<std::string> remove;
};
struct ListEdits {
  ListEdit allow, infer, deny, clear;
};

// Precision of the nodes whose whole name (Graph::Label) matches an ECMAScript regular expression.
struct NodeRule {
  std::string match;
  DataType precision = DataType::kFloat32;  // kFloat32 or kBFloat16
};

struct PlannerOptions {
  // Applied in order, e.g. those of the environment, then those of the policy. An op that is added to a list leaves the
  // list on which it stood, with a warning (TensorFlow would refuse to run).
  std::vector<ListEdits> edits;
  std::vector<NodeRule> node_rules;
  // Nodes that make outputs of the graph are not processed. Default: as the format is (GraphDef: true, ONNX: false;
  // there a cast can take over the output's name).
  std::optional<bool> keep_output_nodes;
  // Also paint infer ops behind painted ones, not only those between them. Fewer casts, and results of infer ops round.
  bool paint_infer_after_allow = false;
};

// What became of the graph that was planned.
struct PlanSummary {
  int nodes = 0;          // of the file: constants and inputs count in a GraphDef, not in ONNX
  int painted = 0;        // (node, type variable)s that become bfloat16
  int casts_to_bf16 = 0;  // at borders, constants excluded
  int casts_to_f32 = 0;
  // "converted 35 of 60 nodes to bfloat16 with 3 casts"
  std::string ToString() const;
};

struct ListsPlan {
  PrecisionPlan plan;
  PlanSummary summary;
  std::vector<std::string> warnings;
};

// Pure: the same arguments give the same plan.
// Errors: INVALID_ARGUMENT for a node rule that is no regular expression or asks for another precision.
absl::StatusOr<ListsPlan> PlanByLists(const Graph& graph, const PlannerOptions& options = {});

// TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_{ALLOWLIST,INFERLIST,DENYLIST,CLEARLIST}_{ADD,REMOVE}, comma-separated, and the
// older names WHITELIST, GRAYLIST and BLACKLIST. `lookup` is getenv, or a test's.
ListEdits ListEditsFromEnvironment(const std::function<std::optional<std::string>(const std::string&)>& lookup);
ListEdits ListEditsFromEnvironment();

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_LISTS_PLANNER_H_
