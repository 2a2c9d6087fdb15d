#include "passes/precision/policy_rules.h"

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/precision/lowerable.h"
#include "passes/precision/op_lists.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// 0: no precision of a node.
int BitsOf(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUInt8:
      return 8;
    case DataType::kBFloat16:
    case DataType::kFloat16:
      return 16;
    case DataType::kFloat32:
      return 32;
    default:
      return 0;
  }
}

// "rule 'conv.*'", "rule op=Conv2D".
std::string Describe(const PolicyRule& rule) {
  std::string text = "rule";
  if (!rule.op.empty()) text += Concat(" op=", rule.op);
  if (!rule.name.empty()) text += Concat(" name=", rule.name);
  if (!rule.match.empty()) text += Concat(" '", rule.match, "'");
  return text;
}

// Ops are compared without case and underscores, and "normalization" is "norm": "BatchNormalization" is batch_norm.
std::string Plain(std::string_view op) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(AbslView(op)), {{"_", ""}, {"normalization", "norm"}});
}

absl::StatusOr<std::regex> Compile(const std::string& pattern) {
  constexpr size_t kLongestPattern = 1000;
  if (pattern.size() > kLongestPattern) {
    return absl::InvalidArgumentError(Concat("a node rule is longer than ", kLongestPattern, " characters"));
  }
  try {  // the standard library has no other way to say it; the polynomial matcher cannot be made to run for ever
    return std::regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(Concat("node rule '", pattern, "' is no regular expression: ", error.what()));
  }
}

bool IsLayer(OpKind op) {
  const OpGroup group = Info(op).group;
  return group == OpGroup::kContraction || group == OpGroup::kRecurrent || op == OpKind::kAttention;
}

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
  Decision& Of(NodeId id) { return plan_.decisions[{g_.node(id).origin, PaintedVariable(g_.op(id))}]; }
  bool IsLowered(NodeId id) const {
    const Decision* decision = plan_.Find(g_, id, PaintedVariable(g_.op(id)));
    return decision != nullptr && decision->IsLowered();
  }
  static bool IsSource(OpKind op) { return op == OpKind::kInput || op == OpKind::kConstant; }

  void Set(NodeId id, DataType type, std::string rule, std::string reason) {
    Decision& decision = Of(id);
    decision.type = type;
    decision.rule = std::move(rule);
    decision.reason = std::move(reason);
    decision.step = "policy";
    if (decision.type_attribute.empty()) decision.type_attribute = g_.op(id) == OpKind::kCast ? "DstT" : "T";
    if (!decision.IsLowered()) decision.f32_output = false;
    changed_.insert(id);
  }

  void KeepEnd(bool first);
  absl::Status ApplyNodeRules();
  bool Matches(const PolicyRule& rule, const std::regex& pattern, NodeId id) const;
  static bool MatchesIn(const Graph& g, const PolicyRule& rule, const std::regex& pattern, NodeId id);
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
  std::set<NodeId> ruled_;  // that a node rule names
};

// Layers from which no other one can be reached against (first) or along the edges.
void PlanEdits::KeepEnd(bool first) {
  std::set<NodeId> beyond;  // with a layer further out
  std::vector<NodeId> order = nodes_;
  if (!first) std::reverse(order.begin(), order.end());
  for (const NodeId id : order) {
    const bool layer = IsLayer(g_.op(id));
    if (layer && !beyond.contains(id) && IsLowered(id)) {
      Set(id, DataType::kFloat32, first ? "policy.first-layer" : "policy.last-layer",
          Concat(first ? "keep_first: no layer in front of this " : "keep_last: no layer behind this ",
                 OpName(g_.op(id))));
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

bool PlanEdits::MatchesIn(const Graph& g, const PolicyRule& rule, const std::regex& pattern, NodeId id) {
  if (!rule.op.empty()) {
    const std::string op = Plain(rule.op);
    const Node& node = g.node(id);
    if (op != Plain(OpName(node.op)) && op != Plain(node.spelling) && op != Plain(TensorFlowOp(g, id))) return false;
  }
  const std::string label = g.Label(id);
  if (!rule.name.empty() && rule.name != label) return false;
  return rule.match.empty() || std::regex_match(label, pattern);
}

bool PlanEdits::Matches(const PolicyRule& rule, const std::regex& pattern, NodeId id) const {
  if (MatchesIn(g_, rule, pattern, id)) return true;
  if (ancestry_.graph == nullptr) return false;
  const auto origin = ancestry_.origins.find(id);
  return origin != ancestry_.origins.end() && ancestry_.graph->alive(origin->second) &&
         MatchesIn(*ancestry_.graph, rule, pattern, origin->second);
}

absl::Status PlanEdits::ApplyNodeRules() {
  HALFTONE_RETURN_IF_ERROR(CheckPolicyRules(rules_));
  std::vector<std::regex> patterns;
  for (const PolicyRule& rule : rules_.nodes) {
    HALFTONE_ASSIGN_OR_RETURN(std::regex pattern, Compile(rule.match));
    patterns.push_back(std::move(pattern));
  }
  std::vector<bool> used(rules_.nodes.size(), false);
  for (const NodeId id : nodes_) {
    if (IsSource(g_.op(id))) continue;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (!Matches(rules_.nodes[i], patterns[i], id)) continue;
      used[i] = true;
      ruled_.insert(id);
      ApplyRule(rules_.nodes[i], id);
      break;  // the first rule that a node has decides
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) warnings_.push_back(Concat("node ", Describe(rules_.nodes[i]), " matches no node"));
  }
  return absl::OkStatus();
}

void PlanEdits::ApplyRule(const PolicyRule& rule, NodeId id) {
  const int planned = IsLowered(id) ? 16 : 32;
  int wanted = planned;
  std::string word = "precision";
  if (rule.precision.has_value()) {
    wanted = BitsOf(*rule.precision);
  } else if (rule.floor.has_value() && BitsOf(*rule.floor) > planned) {
    wanted = BitsOf(*rule.floor);
    word = "floor";
  } else if (rule.ceiling.has_value() && BitsOf(*rule.ceiling) < planned) {
    wanted = BitsOf(*rule.ceiling);
    word = "ceiling";
  }
  const std::string text =
      Concat(Describe(rule), " of the policy: ", word, " ", LongTypeName(wanted == 32 ? DataType::kFloat32 : type_),
             ", planned ", LongTypeName(planned == 32 ? DataType::kFloat32 : type_));
  if (wanted == planned) return;
  if (wanted == 32) {
    Set(id, DataType::kFloat32, Concat("policy.", word), text);
    return;
  }
  const std::optional<Obstacle> obstacle = FindObstacle(g_, id, target_, type_);
  if (!obstacle.has_value()) {
    Set(id, type_, Concat("policy.", word), text);
    return;
  }
  const std::string label = g_.Label(id);
  Decision& decision = Of(id);
  decision.rule = "policy.not-possible";
  decision.reason = Concat(text, ", which cannot be had: ", obstacle->reason);
  warnings_.push_back(Concat("'", label, "' cannot become ", LongTypeName(type_), " as the ", Describe(rule),
                             " asks: ", obstacle->reason));
}

// Behind a layer that became f32: what was lowered only because it follows.
void PlanEdits::Follow() {
  std::vector<NodeId> work(changed_.begin(), changed_.end());
  while (!work.empty()) {
    const NodeId from = work.back();
    work.pop_back();
    if (IsLowered(from)) continue;
    for (const ValueId value : g_.node(from).outputs) {
      if (!value.valid()) continue;
      for (const Use& use : g_.uses(value)) {
        const NodeId id = use.node;
        if (!IsLowered(id) || IsLayer(g_.op(id)) || ruled_.contains(id)) continue;
        const std::vector<ValueId>& inputs = g_.node(id).inputs;
        const bool lowered = std::any_of(inputs.begin(), inputs.end(),
                                         [this](ValueId v) { return v.valid() && IsLowered(g_.producer(v)); });
        if (lowered) continue;
        Set(id, DataType::kFloat32, "policy.follows",
            Concat("follows '", g_.Label(from), "', which the policy keeps float32; nothing else that it reads is ",
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
    const auto lowered = std::count_if(tied.begin(), tied.end(), [this](NodeId id) { return IsLowered(id); });
    if (lowered == 0 || lowered == static_cast<std::ptrdiff_t>(tied.size())) continue;
    for (const NodeId id : tied) {
      if (IsLowered(id)) Set(id, DataType::kFloat32, "policy.tied", "the other end of the loop edge stays float32");
    }
  }
}

// A result stays f32 only where every reader wants it so.
void PlanEdits::CheckF32Outputs() {
  for (const NodeId id : nodes_) {
    const Decision* decision = plan_.Find(g_, id);
    if (decision == nullptr || !decision->f32_output) continue;
    const std::vector<Use>& uses = g_.uses(g_.output(id));
    const bool lowered = std::any_of(uses.begin(), uses.end(), [this](const Use& use) { return IsLowered(use.node); });
    if (lowered) Of(id).f32_output = false;
  }
}

}  // namespace

absl::Status CheckPolicyRules(const PolicyRules& rules) {
  for (const PolicyRule& rule : rules.nodes) {
    const auto error = [&](std::string_view what) {
      return absl::InvalidArgumentError(Concat("node ", Describe(rule), ": ", what));
    };
    if (rule.op.empty() && rule.name.empty() && rule.match.empty()) return error("give op, name or match");
    if (!rule.precision && !rule.floor && !rule.ceiling) return error("give precision, floor or ceiling");
    if (rule.precision && (rule.floor || rule.ceiling)) return error("give precision, or floor and ceiling, not both");
    for (const auto& wanted : {rule.precision, rule.floor, rule.ceiling}) {
      if (wanted && BitsOf(*wanted) < 16) return error("a node's precision is fp32, bf16 or fp16");
    }
    if (rule.floor && rule.ceiling && BitsOf(*rule.floor) > BitsOf(*rule.ceiling)) {
      return error("the floor is above the ceiling");
    }
    HALFTONE_RETURN_IF_ERROR(Compile(rule.match).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ApplyPolicyRules(const Graph& graph, const Target& target, const PolicyRules& rules, DataType type,
                                     const Ancestry& ancestry, PrecisionPlan& plan,
                                     std::vector<std::string>& warnings) {
  if (rules.empty()) return 0;
  PlanEdits work(graph, target, rules, type, ancestry, plan, warnings);
  HALFTONE_RETURN_IF_ERROR(work.Run());
  return work.changed();
}

}  // namespace halftone
