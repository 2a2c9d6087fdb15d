// SPDX-License-Identifier: Apache-2.0
// Why each node of a variant has its precision.
#ifndef HALFTONE_OPTIMIZER_EXPLAIN_H_
#define HALFTONE_OPTIMIZER_EXPLAIN_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "optimizer/variant_kind.h"
#include "passes/core/pass.h"

namespace halftone {

// The rule's stable name (ir/precision_plan.h) and the fact, for people.
struct Reason {
  std::string rule;
  std::string text;
  bool operator==(const Reason&) const = default;
};

// The range of the first output of a node, as it was calibrated.
struct ResultRange {
  double min = 0;
  double max = 0;
};

// Of a node of a variant's graph. Nodes of nested graphs are named "loop/body/node".
struct NodeDecision {
  std::string node;
  std::string op;
  VariantKind precision = VariantKind::kFp32;
  Reason reason;
  // In dB, of the worst output where this node alone is int8 (accuracy_control.h); where that was measured.
  std::optional<double> sqnr_alone_db = {};
  std::optional<ResultRange> result = {};  // of an int8 variant, where the range is known
};

// One decision for each node but inputs and constants, those of nested graphs included, in the order of the graph.
// `otherwise` is for nodes that `plan` (nullptr: there is none) says nothing of.
std::vector<NodeDecision> ExplainGraph(const Graph& graph, const PrecisionPlan* plan, const Reason& otherwise);

// What the file's types made f32 again is f32, with the reason of the pass "widen-types" in `log`.
void ExplainWidening(const RewriteLog& log, std::vector<NodeDecision>& decisions);

// The reason of a node of the written file, by its name; a part that the export split off a fused node is called
// "NODE/part" and has the fused node's reason.
Reason ReasonOf(std::string_view name, const std::map<std::string, Reason>& reasons);

// By the nodes' names.
std::map<std::string, Reason> ByName(const std::vector<NodeDecision>& decisions);

// Casts between floating types of the outermost graph.
int64_t CountFloatCasts(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_EXPLAIN_H_
