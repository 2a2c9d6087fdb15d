// What a policy says about single nodes, whichever planner made the plan: rules by op, name or regular expression, and
// the first and last layers.
#ifndef HALFTONE_PASSES_PRECISION_POLICY_RULES_H_
#define HALFTONE_PASSES_PRECISION_POLICY_RULES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "ir/target.h"

namespace halftone {

// A rule for the nodes that have all of what it names; the first rule that a node has decides. Precisions are ordered:
// 8 bits < 16 bits (kBFloat16, kFloat16) < kFloat32; 16 bits stand for the type of the plan, whichever of the two it
// is.
struct PolicyRule {
  std::string op;                     // canonical ("conv") or of the format ("Conv", "Conv2D"); "": any
  std::string name;                   // the whole name; "": any
  std::string match;                  // ECMAScript regular expression for the whole name; "": any
  std::optional<DataType> precision;  // exactly this
  std::optional<DataType> floor;      // the lowest that is allowed: what is planned below it comes up to it
  std::optional<DataType> ceiling;    // the highest that is allowed: what is planned above it goes down to it
};

struct PolicyRules {
  std::vector<PolicyRule> nodes;
  bool keep_first = false;  // contractions and recurrent layers with none of these in front of them stay f32
  bool keep_last = false;   // those with none behind them
  bool empty() const { return nodes.empty() && !keep_first && !keep_last; }
};

// Where a graph that was planned came from: a rule finds a node also by the name and op of the node that it stands for.
struct Ancestry {
  const Graph* graph = nullptr;      // as imported; nullptr: the planned graph itself
  std::map<NodeId, NodeId> origins;  // of the planned graph's nodes in it
};

// INVALID_ARGUMENT names the rule: no regular expression, nothing to match, no precision, a floor above the ceiling, a
// precision that is none.
absl::Status CheckPolicyRules(const PolicyRules& rules);

// Edits `plan` of `graph` for a variant of `type` and returns how many decisions it changed. First keep_first and
// keep_last, then the rules, which are over them. What read only nodes that became f32 by this follows them, unless it
// is a layer of its own; loop edges keep one type. What a rule wants and cannot be had (precision_obstacle.h) stays f32, with
// the reason in its decision and in `warnings`; so does a rule that matches no node. Errors: those of CheckPolicyRules.
absl::StatusOr<int> ApplyPolicyRules(const Graph& graph, const Target& target, const PolicyRules& rules, DataType type,
                                     const Ancestry& ancestry, PrecisionPlan& plan, std::vector<std::string>& warnings);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_POLICY_RULES_H_
