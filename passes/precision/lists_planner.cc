#include "passes/precision/lists_planner.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/precision/op_lists.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// One painter's work on one graph. A vertex is a node: its painted variable.
class Painter {
 public:
  Painter(const Graph& graph, const PlannerOptions& options, const OpLists& lists)
      : g_(graph), nodes_(graph.nodes()), facts_(IdBound(nodes_)) {
    const bool keep_outputs = options.keep_output_nodes.value_or(graph.format() == GraphFormat::kGraphDef);
    for (const NodeId id : nodes_) Describe(id, lists, keep_outputs);
    for (const NodeId id : nodes_) Connect(id);
  }

  void Allow();
  void PropagateDeny();
  void PaintBetweenAllow();
  void PaintInferAfterAllow();
  void PaintClearNeighbours();
  void MatchLoopEdges();
  void PaintCasts();
  absl::Status ApplyRules(const std::vector<NodeRule>& rules, std::vector<std::string>& warnings);

  PrecisionPlan Plan() const;
  PlanSummary Summary() const;

 private:
  struct Fact {
    std::string_view op;  // TensorFlow's
    Colour list = Colour::kNone;
    const OpListRow* row = nullptr;
    std::string obstacle;  // why it may never be painted; "" if it may
    bool processed = true;
    bool denied = false;
    bool painted = false;
    bool kept_by_rule = false;  // the caller wants f32
    std::string step;           // that decided
    std::string reason;
    std::vector<NodeId> before, after;  // neighbours along f32 data
  };

  static size_t IdBound(const std::vector<NodeId>& nodes) {
    int32_t bound = 0;
    for (const NodeId id : nodes) bound = std::max(bound, id.index + 1);
    return static_cast<size_t>(bound);
  }
  Fact& fact(NodeId id) { return facts_[id.index]; }
  const Fact& fact(NodeId id) const { return facts_[id.index]; }
  void Describe(NodeId id, const OpLists& lists, bool keep_outputs);
  void Connect(NodeId id);
  void Paint(NodeId id, std::string step, std::string reason);
  bool IsSoft(NodeId id) const { return fact(id).list == Colour::kInfer || fact(id).list == Colour::kClear; }
  bool MayPaint(NodeId id) const { return fact(id).processed && fact(id).obstacle.empty(); }
  bool IsAllowRoot(NodeId id) const { return fact(id).list == Colour::kAllow && MayPaint(id); }
  bool ReadsVariable(NodeId id) const;
  std::vector<NodeId> LoopMerges(NodeId next) const;

  // Everything that can be reached from `roots` through nodes for which `enter` holds; roots included.
  template <typename Enter>
  std::vector<bool> Reach(const std::vector<NodeId>& roots, bool forward, bool backward, Enter enter) const {
    std::vector<bool> reached(facts_.size(), false);
    std::vector<NodeId> work;
    const auto visit = [&](NodeId id) {
      if (reached[id.index]) return;
      reached[id.index] = true;
      work.push_back(id);
    };
    for (const NodeId root : roots) visit(root);
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      for (const auto* neighbours : {forward ? &fact(id).after : nullptr, backward ? &fact(id).before : nullptr}) {
        if (neighbours == nullptr) continue;
        for (const NodeId next : *neighbours) {
          if (!reached[next.index] && enter(next)) visit(next);
        }
      }
    }
    return reached;
  }
  template <typename Predicate>
  std::vector<NodeId> Where(Predicate predicate) const {
    std::vector<NodeId> result;
    std::copy_if(nodes_.begin(), nodes_.end(), std::back_inserter(result), predicate);
    return result;
  }

  const Graph& g_;
  const std::vector<NodeId> nodes_;
  std::vector<Fact> facts_;  // by NodeId::index
};

bool IsOnCpu(const std::string& device) {
  return device.empty() || absl::AsciiStrToLower(device).find("cpu") != std::string::npos;
}

void Painter::Describe(NodeId id, const OpLists& lists, bool keep_outputs) {
  Fact& f = fact(id);
  f.op = TensorFlowOp(g_, id);
  f.list = lists.ListOf(f.op);
  f.row = FindOpListRow(f.op);
  const Node& node = g_.node(id);
  if (node.op == OpKind::kOpaque) {
    f.obstacle = "opaque: never changed";
  } else if (node.op == OpKind::kInput || node.op == OpKind::kConstant) {
    f.obstacle = "inputs and constants are cast where they are read";
  } else if (!IsFloat32(g_, id)) {
    f.obstacle = "no f32 data";
  } else if (f.row == nullptr || !f.row->bf16) {
    f.obstacle = Concat("TensorFlow's ", f.op.empty() ? "table" : f.op, " allows no bfloat16");
  } else if (!IsOnCpu(node.device)) {
    f.obstacle = Concat("device '", node.device, "' is no CPU");
    f.processed = false;
  }
  for (const ValueId output : node.outputs) {
    if (!output.valid() || !keep_outputs || !g_.IsOutput(output)) continue;
    f.processed = false;
    if (f.obstacle.empty()) f.obstacle = "output of the graph: kept as callers know it";
  }
}

void Painter::Connect(NodeId id) {
  const Node& node = g_.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!value.valid() || g_.type(value) != DataType::kFloat32) continue;
    const NodeId from = g_.producer(value);
    if (InputVariable(g_, id, static_cast<int>(i)) != kData || OutputVariable(g_, from, g_.value(value).port) != kData)
      continue;
    fact(id).before.push_back(from);
    fact(from).after.push_back(id);
  }
}

void Painter::Paint(NodeId id, std::string step, std::string reason) {
  Fact& f = fact(id);
  if (f.painted) return;
  f.painted = true;
  f.step = std::move(step);
  f.reason = std::move(reason);
}

void Painter::Allow() {
  for (const NodeId id : Where([this](NodeId node) { return IsAllowRoot(node); })) {
    Paint(id, "allow", Concat("allow list: ", fact(id).op));
  }
}

void Painter::PropagateDeny() {
  const std::vector<NodeId> stops =
      Where([this](NodeId id) { return fact(id).list == Colour::kDeny || fact(id).list == Colour::kInfer; });
  const std::vector<bool> upstream =
      Reach(stops, false, true, [this](NodeId id) { return fact(id).list == Colour::kClear; });
  for (const NodeId root : Where([this](NodeId id) { return fact(id).list == Colour::kDeny; })) {
    if (fact(root).denied) continue;
    const std::vector<bool> dangerous = Reach({root}, true, false, [&](NodeId id) {
      return !fact(id).denied && upstream[id.index] && fact(id).list != Colour::kAllow;
    });
    for (const NodeId id : nodes_) {
      Fact& f = fact(id);
      if (!dangerous[id.index] || f.denied) continue;
      f.denied = true;
      f.step = "deny-propagation";
      f.reason = f.list == Colour::kDeny ? Concat("deny list: ", f.op)
                                         : Concat("on a path from '", g_.Label(root), "' (deny list: ", fact(root).op,
                                                  ") to a deny or infer op");
    }
  }
}

void Painter::PaintBetweenAllow() {
  const std::vector<NodeId> roots = Where([this](NodeId id) { return IsAllowRoot(id); });
  const std::vector<bool> downstream =
      Reach(roots, true, false, [this](NodeId id) { return IsSoft(id) && !fact(id).denied && MayPaint(id); });
  const std::vector<bool> between =
      Reach(roots, false, true, [&](NodeId id) { return static_cast<bool>(downstream[id.index]); });
  for (const NodeId id : nodes_) {
    if (between[id.index]) {
      Paint(id, "infer-between", Concat(ColourName(fact(id).list), " list: ", fact(id).op, ", between allow ops"));
    }
  }
}

// In order of the nodes, so that one can follow another, as in TensorFlow.
void Painter::PaintInferAfterAllow() {
  for (const NodeId id : Where([this](NodeId node) { return fact(node).list == Colour::kInfer; })) {
    if (fact(id).denied || fact(id).painted || !MayPaint(id)) continue;
    const std::vector<NodeId>& before = fact(id).before;
    if (std::any_of(before.begin(), before.end(), [this](NodeId from) { return fact(from).denied; })) continue;
    if (std::any_of(before.begin(), before.end(), [this](NodeId from) { return fact(from).painted; })) {
      Paint(id, "infer-after", Concat("infer list: ", fact(id).op, ", follows a bfloat16 op"));
    }
  }
}

// TensorFlow keeps what reads a variable as it is: other tools look at it.
bool Painter::ReadsVariable(NodeId id) const {
  for (NodeId node = id; fact(node).op == "Identity" || fact(node).op == "Enter";) {
    const ValueId input = g_.input(node, 0);
    if (!input.valid()) return false;
    const bool identity = fact(node).op == "Identity";
    node = g_.producer(input);
    if (identity) return fact(node).op == "Variable" || fact(node).op == "VariableV2";
  }
  return false;
}

void Painter::PaintClearNeighbours() {
  const std::vector<bool> near =
      Reach(Where([this](NodeId id) { return fact(id).painted; }), true, true, [this](NodeId id) {
        return fact(id).list == Colour::kClear && !fact(id).denied && MayPaint(id) && !ReadsVariable(id);
      });
  for (const NodeId id : nodes_) {
    if (near[id.index]) Paint(id, "clear-adjacent", Concat("clear list: ", fact(id).op, ", next to a bfloat16 op"));
  }
}

std::vector<NodeId> Painter::LoopMerges(NodeId next) const {
  std::vector<NodeId> merges;
  for (const Use& use : g_.uses(g_.output(next))) {
    if (g_.op(use.node) == OpKind::kMerge) merges.push_back(use.node);
  }
  return merges;
}

void Painter::MatchLoopEdges() {
  for (const NodeId next : Where([this](NodeId id) { return g_.op(id) == OpKind::kNextIteration; })) {
    const std::vector<NodeId> merges = LoopMerges(next);
    const bool all = std::all_of(merges.begin(), merges.end(), [this](NodeId id) { return fact(id).painted; });
    if (all && !merges.empty() && MayPaint(next) && !fact(next).kept_by_rule) {
      Paint(next, "loop-edges", "its Merge is bfloat16");
      continue;
    }
    std::vector<NodeId> cleared = merges;
    cleared.push_back(next);
    for (const NodeId id : cleared) {
      if (!fact(id).painted) continue;
      fact(id).painted = false;
      fact(id).step = "loop-edges";
      fact(id).reason = "the other end of the loop edge stays f32";
    }
  }
}

void Painter::PaintCasts() {
  for (const NodeId id : Where([this](NodeId node) { return g_.op(node) == OpKind::kCast; })) {
    const ValueId result = g_.output(id);
    if (!fact(id).obstacle.empty() || g_.uses(result).empty() || g_.IsOutput(result)) continue;
    const std::vector<Use>& uses = g_.uses(result);
    const bool all = std::all_of(uses.begin(), uses.end(), [this](const Use& use) {
      return fact(use.node).painted && InputVariable(g_, use.node, use.index) == kData;
    });
    if (all) Paint(id, "casts", "every reader is bfloat16");
  }
}

absl::Status Painter::ApplyRules(const std::vector<NodeRule>& rules, std::vector<std::string>& warnings) {
  constexpr size_t kLongestPattern = 1000;
  std::vector<std::pair<std::regex, const NodeRule*>> compiled;
  for (const NodeRule& rule : rules) {
    if (rule.precision != DataType::kFloat32 && rule.precision != DataType::kBFloat16) {
      return absl::InvalidArgumentError(Concat("node rule '", rule.match, "': the precision must be f32 or bf16, not ",
                                               DataTypeName(rule.precision)));
    }
    if (rule.match.size() > kLongestPattern) {
      return absl::InvalidArgumentError(Concat("a node rule is longer than ", kLongestPattern, " characters"));
    }
    try {  // the standard library has no other way to say it; the polynomial matcher cannot be made to run for ever
      compiled.emplace_back(std::regex(rule.match, std::regex::ECMAScript | std::regex_constants::__polynomial), &rule);
    } catch (const std::regex_error& error) {
      return absl::InvalidArgumentError(
          Concat("node rule '", rule.match, "' is no regular expression: ", error.what()));
    }
  }
  std::set<const NodeRule*> used;
  for (const NodeId id : nodes_) {
    const std::string label = g_.Label(id);
    for (const auto& [pattern, rule] : compiled) {
      if (!std::regex_match(label, pattern)) continue;
      used.insert(rule);
      Fact& f = fact(id);
      const bool lower = rule->precision == DataType::kBFloat16;
      f.kept_by_rule = !lower;
      if (lower && !f.obstacle.empty()) {
        if (g_.op(id) != OpKind::kConstant) {
          warnings.push_back(
              Concat("'", label, "' cannot become bfloat16 as the rule '", rule->match, "' asks: ", f.obstacle));
        }
      } else if (lower != f.painted) {
        f.painted = lower;
        f.step = "node-rule";
        f.reason = Concat("rule '", rule->match, "' of the policy");
      }
      break;  // the first rule that matches decides
    }
  }
  for (const auto& [pattern, rule] : compiled) {
    if (!used.contains(rule)) warnings.push_back(Concat("node rule '", rule->match, "' matches no node"));
  }
  return absl::OkStatus();
}

PrecisionPlan Painter::Plan() const {
  PrecisionPlan plan;
  plan.planner = "lists";
  for (const NodeId id : nodes_) {
    const OpKind op = g_.op(id);
    if (op == OpKind::kInput || op == OpKind::kConstant || op == OpKind::kNoOp) continue;
    const Fact& f = fact(id);
    Decision decision;
    decision.type = f.painted ? DataType::kBFloat16 : DataType::kFloat32;
    decision.type_attribute = f.row != nullptr ? std::string(f.row->type_attribute) : "T";
    decision.list = std::string(ColourName(f.list));
    decision.step = f.step;
    decision.reason = f.reason;
    if (decision.reason.empty()) {
      decision.step = f.list == Colour::kNone ? "" : decision.list;
      if (!f.obstacle.empty()) {
        decision.reason = f.obstacle;
      } else if (f.list == Colour::kNone) {
        decision.reason = Concat("on no list: ", f.op);
      } else if (f.list == Colour::kInfer) {
        decision.reason = Concat("infer list: ", f.op, ", not between two allow ops");
      } else {
        decision.reason = Concat(ColourName(f.list), " list: ", f.op, ", not next to a bfloat16 op");
      }
    }
    plan.decisions[{id, PaintedVariable(op)}] = decision;
    if (op != OpKind::kBatchNorm) continue;
    plan.decisions[{id, 'U'}] = {DataType::kFloat32, "statistics stay f32", "U", decision.list, "statistics"};
  }
  return plan;
}

PlanSummary Painter::Summary() const {
  PlanSummary summary;
  for (const NodeId id : nodes_) {
    const OpKind op = g_.op(id);
    const bool source = op == OpKind::kInput || op == OpKind::kConstant;
    // A GraphDef's constants and inputs are nodes of the file, except those without a name, which the importer made.
    if (g_.format() == GraphFormat::kGraphDef ? !g_.node(id).name.empty() : !source) ++summary.nodes;
    if (fact(id).painted) ++summary.painted;
    for (size_t i = 0; i < g_.node(id).outputs.size(); ++i) {
      const ValueId value = g_.node(id).outputs[i];
      if (!value.valid() || g_.type(value) != DataType::kFloat32 || op == OpKind::kConstant) continue;
      const bool lowered = fact(id).painted && OutputVariable(g_, id, static_cast<int>(i)) == PaintedVariable(op);
      bool cast = lowered && g_.IsOutput(value);
      for (const Use& use : g_.uses(value)) {
        const char variable = InputVariable(g_, use.node, use.index);
        if (variable == 'S' || g_.op(use.node) == OpKind::kShape) continue;  // these read any type
        cast = cast || (fact(use.node).painted && variable == kData) != lowered;
      }
      if (cast) ++(lowered ? summary.casts_to_f32 : summary.casts_to_bf16);
    }
  }
  return summary;
}

}  // namespace

std::string PlanSummary::ToString() const {
  const int casts = casts_to_bf16 + casts_to_f32;
  return Concat("converted ", painted, " of ", nodes, " nodes to bfloat16 with ", casts,
                casts == 1 ? " cast" : " casts");
}

absl::StatusOr<ListsPlan> PlanByLists(const Graph& graph, const PlannerOptions& options) {
  ListsPlan result;
  const OpLists lists(options.edits, result.warnings);
  Painter painter(graph, options, lists);
  painter.Allow();
  painter.PropagateDeny();
  painter.PaintBetweenAllow();
  if (options.paint_infer_after_allow) painter.PaintInferAfterAllow();
  painter.PaintClearNeighbours();
  painter.MatchLoopEdges();
  painter.PaintCasts();
  HALFTONE_RETURN_IF_ERROR(painter.ApplyRules(options.node_rules, result.warnings));
  if (!options.node_rules.empty()) painter.MatchLoopEdges();  // a rule on one end of a loop edge holds for both
  result.plan = painter.Plan();
  result.summary = painter.Summary();
  return result;
}

}  // namespace halftone
