// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/policy_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "passes/precision/precision_obstacle.h"
#include "passes/precision/rule_matcher.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

class PlanEdits {
 public:
  PlanEdits(const Graph& graph, const Target& target, const PolicyRules& rules, DataType type, const Ancestry& ancestry,
            PrecisionPlan& plan, std::vector<std::string>& warnings)
      : g_(graph),
        target_(target),
        rules_(rules),
        type_(type),
        ancestry_(ancestry),
        plan_(plan),
        warnings_(warnings),
        nodes_(graph.TopologicalOrder()) {}

  absl::Status Run() {
    if (rules_.keep_first) KeepEnd(/*first=*/true);
    if (rules_.keep_last) KeepEnd(/*first=*/false);
    HALFTONE_RETURN_IF_ERROR(ApplyNodeRules());
    Follow();
    TieLoops();
    CheckF32Outputs();
    return absl::OkStatus();
  }
  int changed() const { return static_cast<int>(changed_.size()); }

 private:
  Decision& Of(NodeId id) { return plan_.decisions[{g_.node(id).origin, PlannedVariable(g_.op(id))}]; }
  bool IsReduced(NodeId id) const {
    const Decision* decision = plan_.Find(g_, id, PlannedVariable(g_.op(id)));
    return decision != nullptr && decision->IsReduced();
  }
  static bool IsSource(OpKind op) { return op == OpKind::kInput || op == OpKind::kConstant; }

  void Set(NodeId id, DataType type, std::string rule, std::string reason) {
    Decision& decision = Of(id);
    decision.type = type;
    decision.rule = std::move(rule);
    decision.reason = std::move(reason);
    decision.step = "policy";
    if (decision.type_attribute.empty()) decision.type_attribute = g_.op(id) == OpKind::kCast ? "DstT" : "T";
    if (!decision.IsReduced()) decision.f32_output = false;
    changed_.insert(id);
  }

  void KeepEnd(bool first);
  absl::Status ApplyNodeRules();
  void ApplyRule(const PolicyRule& rule, NodeId id);
  void Follow();
  void TieLoops();
  void CheckF32Outputs();

  const Graph& g_;
  const Target& target_;
  const PolicyRules& rules_;
  const DataType type_;
  const Ancestry& ancestry_;
  PrecisionPlan& plan_;
  std::vector<std::string>& warnings_;
  const std::vector<NodeId> nodes_;  // in topological order
  std::set<NodeId> changed_;
  std::set<NodeId> ruled_;  // nodes that a rule matches
};

// The layers that no other layer precedes (first), or follows.
void PlanEdits::KeepEnd(bool first) {
  std::set<NodeId> beyond;  // nodes after the first layers, or before the last ones
  std::vector<NodeId> order = nodes_;
  if (!first) std::reverse(order.begin(), order.end());
  for (const NodeId id : order) {
    const bool layer = IsLayer(g_.op(id));
    if (layer && !beyond.contains(id) && IsReduced(id)) {
      Set(id, DataType::kFloat32, first ? "policy.first-layer" : "policy.last-layer",
          Concat(first ? "keep_first: no layer before this " : "keep_last: no layer after this ", OpName(g_.op(id))));
    }
    if (!layer && !beyond.contains(id)) continue;
    if (first) {
      for (const ValueId value : g_.node(id).outputs) {
        if (!value.valid()) continue;
        for (const Use& use : g_.uses(value)) beyond.insert(use.node);
      }
    } else {
      for (const ValueId value : g_.node(id).inputs) {
        if (value.valid()) beyond.insert(g_.producer(value));
      }
    }
  }
}

absl::Status PlanEdits::ApplyNodeRules() {
  HALFTONE_ASSIGN_OR_RETURN(const RuleMatcher matcher, RuleMatcher::Make(rules_));
  std::vector<bool> used(rules_.nodes.size(), false);
  for (const NodeId id : nodes_) {
    if (IsSource(g_.op(id))) continue;
    const int rule = matcher.FirstMatch(g_, ancestry_, id);
    if (rule < 0) continue;
    used[rule] = true;
    ruled_.insert(id);
    ApplyRule(rules_.nodes[rule], id);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) warnings_.push_back(Concat("node ", DescribeRule(rules_.nodes[i]), " matches no node"));
  }
  return absl::OkStatus();
}

void PlanEdits::ApplyRule(const PolicyRule& rule, NodeId id) {
  const int planned = IsReduced(id) ? 16 : 32;
  int wanted = planned;
  std::string bound = "precision";
  if (rule.precision.has_value()) {
    wanted = BitsOfPrecision(*rule.precision);
  } else if (rule.min_precision.has_value() && BitsOfPrecision(*rule.min_precision) > planned) {
    wanted = BitsOfPrecision(*rule.min_precision);
    bound = "min-precision";
  } else if (rule.max_precision.has_value() && BitsOfPrecision(*rule.max_precision) < planned) {
    wanted = BitsOfPrecision(*rule.max_precision);
    bound = "max-precision";
  }
  wanted = std::max(wanted, 16);  // int8 applies only to int8 variants
  const std::string text = Concat(DescribeRule(rule), " of the policy: ", bound, " ",
                                  LongTypeName(wanted == 32 ? DataType::kFloat32 : type_), ", planned ",
                                  LongTypeName(planned == 32 ? DataType::kFloat32 : type_));
  if (wanted == planned) return;
  if (wanted == 32) {
    Set(id, DataType::kFloat32, Concat("policy.", bound), text);
    return;
  }
  const std::optional<Obstacle> obstacle = FindObstacle(g_, id, target_, type_);
  if (!obstacle.has_value()) {
    Set(id, type_, Concat("policy.", bound), text);
    return;
  }
  const std::string label = g_.Label(id);
  Decision& decision = Of(id);
  decision.rule = "policy.not-possible";
  decision.reason = Concat(text, ", which is not possible: ", obstacle->reason);
  warnings_.push_back(Concat("'", label, "' cannot become ", LongTypeName(type_), " as the ", DescribeRule(rule),
                             " asks: ", obstacle->reason));
}

// After a layer that became f32: the nodes that have reduced precision only because they follow it.
void PlanEdits::Follow() {
  std::vector<NodeId> work(changed_.begin(), changed_.end());
  while (!work.empty()) {
    const NodeId from = work.back();
    work.pop_back();
    if (IsReduced(from)) continue;
    for (const ValueId value : g_.node(from).outputs) {
      if (!value.valid()) continue;
      for (const Use& use : g_.uses(value)) {
        const NodeId id = use.node;
        if (!IsReduced(id) || IsLayer(g_.op(id)) || ruled_.contains(id)) continue;
        const std::vector<ValueId>& inputs = g_.node(id).inputs;
        const bool reduced = std::any_of(inputs.begin(), inputs.end(),
                                         [this](ValueId v) { return v.valid() && IsReduced(g_.producer(v)); });
        if (reduced) continue;
        Set(id, DataType::kFloat32, "policy.follows",
            Concat("follows '", g_.Label(from), "', which the policy keeps float32; no other input is ",
                   LongTypeName(type_)));
        work.push_back(id);
      }
    }
  }
}

// NextIteration and the Merges that read it have one type.
void PlanEdits::TieLoops() {
  if (changed_.empty()) return;
  for (const NodeId next : nodes_) {
    if (g_.op(next) != OpKind::kNextIteration) continue;
    std::vector<NodeId> tied = {next};
    for (const Use& use : g_.uses(g_.output(next))) {
      if (g_.op(use.node) == OpKind::kMerge) tied.push_back(use.node);
    }
    const auto reduced = std::count_if(tied.begin(), tied.end(), [this](NodeId id) { return IsReduced(id); });
    if (reduced == 0 || reduced == static_cast<std::ptrdiff_t>(tied.size())) continue;
    for (const NodeId id : tied) {
      if (IsReduced(id)) Set(id, DataType::kFloat32, "policy.tied", "the other end of the loop edge stays float32");
    }
  }
}

// A result stays f32 only if every consumer reads it as f32.
void PlanEdits::CheckF32Outputs() {
  for (const NodeId id : nodes_) {
    const Decision* decision = plan_.Find(g_, id);
    if (decision == nullptr || !decision->f32_output) continue;
    const std::vector<Use>& uses = g_.uses(g_.output(id));
    const bool reduced = std::any_of(uses.begin(), uses.end(), [this](const Use& use) { return IsReduced(use.node); });
    if (reduced) Of(id).f32_output = false;
  }
}

}  // namespace

absl::StatusOr<int> ApplyPolicyRules(const Graph& graph, const Target& target, const PolicyRules& rules, DataType type,
                                     const Ancestry& ancestry, PrecisionPlan& plan,
                                     std::vector<std::string>& warnings) {
  if (rules.empty()) return 0;
  PlanEdits work(graph, target, rules, type, ancestry, plan, warnings);
  HALFTONE_RETURN_IF_ERROR(work.Run());
  return work.changed();
}

}  // namespace halftone
