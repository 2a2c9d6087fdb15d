// SPDX-License-Identifier: Apache-2.0
#include "optimizer/plan_precision.h"

#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "ir/editor.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/placement_planner.h"
#include "passes/precision/policy_rules.h"
#include "passes/precision/precision_obstacle.h"

namespace halftone {
namespace {

absl::StatusOr<PlacementOptions> PlacementOptionsOf(const OptimizeOptions& options, DataType type) {
  PlacementOptions placement{.lists = PlacementLists::kPaddle, .ops = options.op_types, .type = type};
  if (options.lists_version.empty()) return placement;
  const std::optional<PlacementLists> lists = PlacementListsFromName(options.lists_version);
  if (!lists.has_value()) {
    return absl::InvalidArgumentError(
        Concat("lists_version '", options.lists_version, "': planner placement has paddle and paddle-2.x"));
  }
  placement.lists = *lists;
  return placement;
}

absl::StatusOr<PlannerOptions> ListsOptionsOf(const OptimizeOptions& options, DataType type) {
  PlannerOptions lists = options.planner;
  lists.target_type = type;
  if (options.lists_version.empty()) return lists;
  const std::optional<ListsVersion> version = ListsVersionFromName(options.lists_version);
  if (!version.has_value()) {
    return absl::InvalidArgumentError(
        Concat("lists_version '", options.lists_version, "': planner lists has tensorflow, tensorflow-2.4 and itex"));
  }
  lists.lists_version = *version;
  return lists;
}

// Constants that float16 cannot hold keep their consumers in f32.
void KeepWhatOverflows(const Graph& graph, PrecisionPlan& plan) {
  for (auto& [key, decision] : plan.decisions) {
    if (decision.type != DataType::kFloat16) continue;
    const std::optional<Obstacle> overflow = FindOverflow(graph, key.first);
    if (!overflow.has_value()) continue;
    decision.type = DataType::kFloat32;
    decision.rule = overflow->rule;
    decision.reason = overflow->reason;
  }
}

}  // namespace

bool PlansFusedGraph(const OptimizeOptions& options) {
  if (options.planner_kind == PlannerKind::kPlacement) return true;
  return PlansFusedGraph(ListsVersionFromName(options.lists_version).value_or(options.planner.lists_version));
}

absl::StatusOr<PlannedModel> PlanModel(const OptimizedModel& model, const Target& target,
                                       const OptimizeOptions& options, DataType type) {
  const bool fused = PlansFusedGraph(options);
  PlannedModel result{.model = fused ? model.fused : model.imported, .precision = {}};
  Graph& graph = result.model.graph;
  Ancestry ancestry;
  if (fused) {  // rules find its nodes by the names of the imported model, too
    ancestry.graph = &model.imported.graph;
    for (const NodeId id : graph.nodes()) ancestry.origins[id] = graph.node(id).origin;
    GraphEditor(graph).ResetOrigins();
  }
  if (options.planner_kind == PlannerKind::kPlacement) {
    HALFTONE_ASSIGN_OR_RETURN(const PlacementOptions placement, PlacementOptionsOf(options, type));
    HALFTONE_ASSIGN_OR_RETURN(result.precision, PlanByPlacement(graph, target, placement));
  } else {
    HALFTONE_ASSIGN_OR_RETURN(PlannerOptions lists, ListsOptionsOf(options, type));
    lists.imported_from = TensorFlowDialectOf(graph);
    lists.fused_as = &FileDialectOf(ModelFormat::kGraphDef, Dialect::kItex);
    HALFTONE_ASSIGN_OR_RETURN(ListsPlan plan, PlanByLists(graph, lists));
    result.precision = {std::move(plan.plan), plan.summary.ToString(), std::move(plan.warnings),
                        std::move(plan.attributes)};
    KeepWhatOverflows(graph, result.precision.plan);
  }
  HALFTONE_ASSIGN_OR_RETURN(const int changed, ApplyPolicyRules(graph, target, options.rules, type, ancestry,
                                                                result.precision.plan, result.precision.warnings));
  if (changed > 0) {
    result.precision.summary += Concat("; the policy changed ", changed, changed == 1 ? " node" : " nodes");
  }
  return result;
}

absl::Status CheckPlannerOptions(const OptimizeOptions& options) {
  if (options.planner_kind == PlannerKind::kPlacement) {
    HALFTONE_ASSIGN_OR_RETURN(const PlacementOptions placement, PlacementOptionsOf(options, DataType::kBFloat16));
    HALFTONE_RETURN_IF_ERROR(CheckPlacementOptions(placement));
    if (!options.planner.level.empty()) {
      return absl::InvalidArgumentError("lists_level goes with planner lists, not with placement");
    }
  } else {
    HALFTONE_RETURN_IF_ERROR(ListsOptionsOf(options, DataType::kBFloat16).status());
    if (!options.op_types.empty()) {
      return absl::InvalidArgumentError("op_types needs planner placement; planner lists has lists");
    }
  }
  return CheckPolicyRules(options.rules);
}

}  // namespace halftone
