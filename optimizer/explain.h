// Why each node of a lowered graph has its precision.
#ifndef HALFTONE_OPTIMIZER_EXPLAIN_H_
#define HALFTONE_OPTIMIZER_EXPLAIN_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "optimizer/job.h"
#include "passes/core/pass.h"

namespace halftone {

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

// The saturation certificate of a written file, from its graph as it is read back.
absl::StatusOr<std::vector<SaturationCertificate>> CertifyFile(const ModelSource& file, const Target& target);

// Casts between floating types of the outermost graph.
int64_t CountFloatCasts(const Graph& graph);

// Steps of a run that convert between floating types and nothing else: casts of the file and conversions that the plan
// put in.
int64_t CountConversionSteps(const std::vector<NodeResult>& nodes);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_EXPLAIN_H_
