#include "optimizer/plan_precision.h"

#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "ir/editor.h"
#include "optimizer/pass_context.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/placement_planner.h"
#include "passes/precision/policy_rules.h"
#include "passes/precision/precision_obstacle.h"

namespace halftone {
namespace {

absl::StatusOr<PlacementOptions> PlacementOptionsOf(const OptimizeOptions& options, DataType type) {
  PlacementOptions placement{.lists = PlacementLists::kPaddle, .ops = options.op_list, .type = type};
  if (options.lists_variant.empty()) return placement;
  const std::optional<PlacementLists> lists = PlacementListsFromName(options.lists_variant);
  if (!lists.has_value()) {
    return absl::InvalidArgumentError(
        Concat("lists_version '", options.lists_variant, "': planner placement has paddle and paddle-2.x"));
  }
  placement.lists = *lists;
  return placement;
}

absl::StatusOr<PlannerOptions> ListsOptionsOf(const OptimizeOptions& options, DataType type) {
  PlannerOptions lists = options.planner;
  lists.target_type = type;
  if (options.lists_variant.empty()) return lists;
  const std::optional<ListsVariant> variant = ListsVariantFromName(options.lists_variant);
  if (!variant.has_value()) {
    return absl::InvalidArgumentError(
        Concat("lists_version '", options.lists_variant, "': planner lists has tensorflow, tensorflow-2.4 and itex"));
  }
  lists.lists_variant = *variant;
  return lists;
}

// Constants that float16 cannot hold keep their readers in f32.
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

// Fuses planned.graph and makes it the one that is planned. Rules find its nodes by the names of the model too.
absl::StatusOr<Ancestry> FuseFirst(const PreparedModel& model, const Target& target, const OptimizeOptions& options,
                                   GraphWithPlan& planned) {
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(planned.graph, context));
  TakeResults(context, planned.rewrites, planned.notes);
  Ancestry ancestry{&model.graph, {}};
  for (const NodeId id : planned.graph.nodes()) ancestry.origins[id] = planned.graph.node(id).origin;
  GraphEditor(planned.graph).ResetOrigins();
  return ancestry;
}

}  // namespace

bool PlansFusedGraph(const OptimizeOptions& options) {
  if (options.planner_kind == PlannerKind::kPlacement) return true;
  return PlansFusedGraph(ListsVariantFromName(options.lists_variant).value_or(options.planner.lists_variant));
}

absl::StatusOr<GraphWithPlan> PlanModel(const PreparedModel& model, const Target& target,
                                        const OptimizeOptions& options, DataType type) {
  GraphWithPlan result;
  result.graph = model.graph;
  result.rewrites = model.rewrites;
  Ancestry ancestry;
  if (PlansFusedGraph(options)) {
    HALFTONE_ASSIGN_OR_RETURN(ancestry, FuseFirst(model, target, options, result));
  }
  if (options.planner_kind == PlannerKind::kPlacement) {
    HALFTONE_ASSIGN_OR_RETURN(const PlacementOptions placement, PlacementOptionsOf(options, type));
    HALFTONE_ASSIGN_OR_RETURN(result.planned, PlanByPlacement(result.graph, target, placement));
  } else {
    HALFTONE_ASSIGN_OR_RETURN(PlannerOptions lists, ListsOptionsOf(options, type));
    lists.imported_from = TensorFlowDialectOf(result.graph);
    lists.fused_as = &FileDialectOf(ModelFormat::kGraphDef, Dialect::kItex);
    HALFTONE_ASSIGN_OR_RETURN(ListsPlan plan, PlanByLists(result.graph, lists));
    result.planned = {std::move(plan.plan), plan.summary.ToString(), std::move(plan.warnings),
                      std::move(plan.attributes)};
    KeepWhatOverflows(result.graph, result.planned.plan);
  }
  HALFTONE_ASSIGN_OR_RETURN(const int changed, ApplyPolicyRules(result.graph, target, options.rules, type, ancestry,
                                                                result.planned.plan, result.planned.warnings));
  if (changed > 0) {
    result.planned.summary += Concat("; the policy changed ", changed, changed == 1 ? " node" : " nodes");
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
    if (!options.op_list.empty()) {
      return absl::InvalidArgumentError("op_types needs planner placement; planner lists has lists");
    }
  }
  return CheckPolicyRules(options.rules);
}

}  // namespace halftone
