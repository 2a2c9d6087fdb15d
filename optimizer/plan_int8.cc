// SPDX-License-Identifier: Apache-2.0
#include "optimizer/plan_int8.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/quantization.h"
#include "optimizer/prepare.h"
#include "optimizer/quantize_for_runtime.h"
#include "passes/pipelines.h"
#include "passes/precision/rule_matcher.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/quantize_dynamically.h"
#include "passes/quantize/quantize_weights.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

constexpr int kMostRounds = 6;  // of asking the target; each leaves fewer nodes

bool IsSource(OpKind op) { return op == OpKind::kInput || op == OpKind::kConstant; }

// What happens to the planned nodes when the file is planned by this target.
struct Trial {
  std::map<NodeId, Reason> refused;
};

class Int8Planner {
 public:
  Int8Planner(const Graph& graph, const ValueRanges& ranges, const Target& target, const OptimizeOptions& options,
              const Ancestry& ancestry, const InputDims& samples)
      : g_(graph),
        ranges_(ranges),
        target_(target),
        options_(options),
        ancestry_(ancestry),
        samples_(samples),
        order_(graph.TopologicalOrder()) {}

  absl::StatusOr<Int8Plan> Run(const std::map<NodeId, Reason>& excluded) {
    for (const auto& [id, reason] : excluded) Keep(id, reason);
    if (options_.rules.keep_first) KeepEnd(/*first=*/true);
    if (options_.rules.keep_last) KeepEnd(/*first=*/false);
    HALFTONE_RETURN_IF_ERROR(ApplyNodeRules());
    if (options_.int8.mode != Int8Mode::kStatic) {
      ChooseByForm();
      return std::move(plan_);
    }
    ChooseContractions();
    for (int round = 0; round < kMostRounds; ++round) {
      ChooseBetween();
      if (plan_.nodes.empty()) break;
      HALFTONE_ASSIGN_OR_RETURN(const Trial trial, Try());
      if (trial.refused.empty()) break;
      for (const auto& [id, reason] : trial.refused) Refuse(id, reason);
    }
    ExplainTheRest();
    return std::move(plan_);
  }

 private:
  QuantizedRole RoleOf(NodeId id) const { return QuantizedRoleOf(g_, id); }

  void Keep(NodeId id, Reason reason) {
    kept_.insert(id);
    plan_.reasons[id] = std::move(reason);
  }

  // What was asked for by name and cannot be had is told of.
  void Refuse(NodeId id, Reason reason) {
    if (const auto rule = asked_.find(id); rule != asked_.end()) {
      plan_.warnings.push_back(
          Concat("'", g_.Label(id), "' cannot become int8 as the ", rule->second, " asks: ", reason.text));
      reason.rule = "policy.not-possible";
    }
    Keep(id, std::move(reason));
  }

  void KeepEnd(bool first) {
    std::set<NodeId> beyond;  // with a layer further out
    std::vector<NodeId> order = order_;
    if (!first) std::reverse(order.begin(), order.end());
    for (const NodeId id : order) {
      const bool layer = IsLayer(g_.op(id));
      if (layer && !beyond.contains(id)) {
        Keep(id, {first ? "policy.first-layer" : "policy.last-layer",
                  Concat(first ? "keep_first: no layer before this " : "keep_last: no layer after this ",
                         OpName(g_.op(id)))});
      }
      if (!layer && !beyond.contains(id)) continue;
      for (const NodeId next : first ? Readers(id) : Producers(id)) beyond.insert(next);
    }
  }

  std::vector<NodeId> Readers(NodeId id) const {
    std::vector<NodeId> readers;
    for (const ValueId value : g_.node(id).outputs) {
      if (!value.valid()) continue;
      for (const Use& use : g_.uses(value)) readers.push_back(use.node);
    }
    return readers;
  }

  std::vector<NodeId> Producers(NodeId id) const {
    std::vector<NodeId> producers;
    for (const ValueId value : g_.node(id).inputs) {
      if (value.valid()) producers.push_back(g_.producer(value));
    }
    return producers;
  }

  // Rules are over keep_first and keep_last, and the first one that a node has decides.
  absl::Status ApplyNodeRules() {
    const std::vector<PolicyRule>& rules = options_.rules.nodes;
    HALFTONE_ASSIGN_OR_RETURN(const RuleMatcher matcher, RuleMatcher::Make(options_.rules));
    std::vector<bool> used(rules.size(), false);
    for (const NodeId id : order_) {
      if (IsSource(g_.op(id))) continue;
      const int index = matcher.FirstMatch(g_, ancestry_, id);
      if (index < 0) continue;
      used[index] = true;
      const PolicyRule& rule = rules[index];
      const std::optional<DataType> lowest = rule.precision ? rule.precision : rule.min_precision;
      const int floor = lowest ? BitsOfPrecision(*lowest) : 8;
      const bool wanted =
          (rule.precision && floor == 8) || (rule.max_precision && BitsOfPrecision(*rule.max_precision) == 8);
      const std::string word = rule.precision ? "precision" : floor > 8 ? "min-precision" : "max-precision";
      const std::string text = Concat(DescribeRule(rule), " of the policy: ", word);
      if (floor > 8) {
        Keep(id, {Concat("policy.", word), Concat(text, " ", floor, " bits")});
      } else if (wanted) {
        kept_.erase(id);
        asked_[id] = DescribeRule(rule);
        plan_.reasons[id] = {Concat("policy.", word), Concat(text, " int8")};
        if (std::optional<Reason> none = WhyNoForm(id); none.has_value()) Refuse(id, *std::move(none));
      }
    }
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!used[i]) plan_.warnings.push_back(Concat("node ", DescribeRule(rules[i]), " matches no node"));
    }
    return absl::OkStatus();
  }

  // Why the node cannot become int8 in this mode, whatever is around it.
  std::optional<Reason> WhyNoForm(NodeId id) const {
    const std::string op(OpName(g_.op(id)));
    switch (options_.int8.mode) {
      case Int8Mode::kStatic:
        if (RoleOf(id) != QuantizedRole::kNone) return std::nullopt;
        return Reason{"int8.no-form", Concat(op, " has no form of integers")};
      case Int8Mode::kDynamic: {
        std::string why = WhyNotDynamic(g_, id);
        if (why.empty()) return std::nullopt;
        return Reason{"int8.no-dynamic-form", std::move(why)};
      }
      case Int8Mode::kWeightOnly:
        if (!WeightInputsOf(g_, id).empty()) return std::nullopt;
        return Reason{"int8.no-form", Concat(op, " reads no constant weights")};
    }
    return std::nullopt;
  }

  // Modes without ranges: every node that has the form and is not kept.
  void ChooseByForm() {
    const bool dynamic = options_.int8.mode == Int8Mode::kDynamic;
    for (const NodeId id : order_) {
      if (IsSource(g_.op(id)) || kept_.contains(id)) continue;
      std::optional<Reason> none = WhyNoForm(id);
      if (none.has_value()) {
        plan_.reasons.try_emplace(id, *std::move(none));
        continue;
      }
      plan_.nodes.insert(id);
      const std::string op(OpName(g_.op(id)));
      plan_.reasons.try_emplace(
          id, dynamic ? Reason{"int8.dynamic", Concat(op, ": each run finds the range of what it reads")}
                      : Reason{"int8.weights", Concat(op, ": weights alone, computed as before")});
    }
  }

  bool MayBeInt8(NodeId id) const { return RoleOf(id) != QuantizedRole::kNone && !kept_.contains(id); }

  void ChooseContractions() {
    for (const NodeId id : order_) {
      if (MultipliesWeights(RoleOf(id)) || asked_.contains(id)) anchors_.push_back(id);
    }
  }

  // The anchors, and what lies between two of them on a way of nodes that may be int8.
  void ChooseBetween() {
    plan_.nodes.clear();
    for (const NodeId id : anchors_) {
      if (!kept_.contains(id)) plan_.nodes.insert(id);
    }
    const std::set<NodeId> downstream = Reached(order_, [this](NodeId id) { return Producers(id); });
    const std::vector<NodeId> backwards(order_.rbegin(), order_.rend());
    const std::set<NodeId> upstream = Reached(backwards, [this](NodeId id) { return Readers(id); });
    for (const NodeId id : downstream) {
      if (upstream.contains(id)) plan_.nodes.insert(id);
    }
  }

  // In this order, nodes that may be int8 and have one of `next` that is int8 or reached.
  template <typename Next>
  std::set<NodeId> Reached(const std::vector<NodeId>& order, Next next) const {
    std::set<NodeId> reached;
    for (const NodeId id : order) {
      if (plan_.nodes.contains(id) || !MayBeInt8(id)) continue;
      const std::vector<NodeId> neighbours = next(id);
      if (std::any_of(neighbours.begin(), neighbours.end(),
                      [&](NodeId other) { return plan_.nodes.contains(other) || reached.contains(other); })) {
        reached.insert(id);
      }
    }
    return reached;
  }

  // Quantizes a copy and plans it as its file will be.
  absl::StatusOr<Trial> Try() const {
    Trial trial;
    Graph graph = g_;
    GraphEditor(graph).ResetOrigins();
    RewriteLog log;
    PassContext context{.target = target_, .log = &log};
    const QuantizeOptions quantize = QuantizeOptionsOf(options_, WrittenFormat(g_));
    HALFTONE_RETURN_IF_ERROR(MakeQuantizePipeline(ranges_, plan_.nodes, quantize).Run(graph, context));
    trial.refused = Refusals(log, "insert-quantization", "int8.no-range", plan_.nodes);
    if (!trial.refused.empty()) return trial;
    HALFTONE_RETURN_IF_ERROR(BindShapes(graph, options_.benchmark.sizes, samples_));
    HALFTONE_RETURN_IF_ERROR(MakeFoldPipeline().Run(graph, context));
    std::set<NodeId> left = plan_.nodes;
    for (const NodeId id : graph.nodes()) {
      if (ComputesWithIntegers(graph, id)) left.erase(graph.node(id).origin);
    }
    std::map<NodeId, Reason> reasons = Refusals(log, "fold-recurrent-quantization", "int8.no-kernel", left);
    reasons.merge(Refusals(log, "fold-quantization", "int8.no-kernel", left));
    for (const NodeId id : left) {
      const auto reason = reasons.find(id);
      trial.refused[id] = reason != reasons.end()
                              ? reason->second
                              : Reason{"int8.no-kernel", "no kernel of integers for what it reads and who reads it"};
    }
    return trial;
  }

  static bool ComputesWithIntegers(const Graph& graph, NodeId id) {
    if (PassesIntegers(graph.op(id))) return false;
    const std::vector<ValueId>& inputs = graph.node(id).inputs;
    const auto integers = [&](ValueId value) { return value.valid() && graph.quantization(value) != nullptr; };
    if (MultipliesWeights(QuantizedRoleOf(graph, id))) return integers(inputs[0]);
    return std::any_of(inputs.begin(), inputs.end(), integers);
  }

  // What a pass said of these nodes, the first of it.
  static std::map<NodeId, Reason> Refusals(const RewriteLog& log, std::string_view pass, std::string_view rule,
                                           const std::set<NodeId>& nodes) {
    std::map<NodeId, Reason> reasons;
    for (const RewriteLogEntry& entry : log.entries()) {
      if (entry.applied || entry.pass != pass || !nodes.contains(entry.origin)) continue;
      reasons.try_emplace(entry.origin, Reason{std::string(rule), entry.text});  // of asking for the most
    }
    return reasons;
  }

  void ExplainTheRest() {
    for (const NodeId id : order_) {
      if (IsSource(g_.op(id)) || plan_.reasons.contains(id)) continue;
      Reason& reason = plan_.reasons[id];
      const std::string op(OpName(g_.op(id)));
      if (RoleOf(id) == QuantizedRole::kNone) {
        reason = {"int8.no-form", Concat(op, " has no form of integers")};
      } else if (!plan_.nodes.contains(id)) {
        reason = {"int8.not-between", Concat(op, ": not between int8 nodes, so that it would be a conversion more")};
      } else if (RoleOf(id) == QuantizedRole::kContraction) {
        reason = {"int8.contraction", op};
      } else if (RoleOf(id) == QuantizedRole::kRecurrent) {
        reason = {"int8.recurrent", Concat(op, ", its state between -1 and 1 by its activations")};
      } else {
        reason = {"int8.between", Concat(op, " between int8 nodes")};
      }
    }
  }

  const Graph& g_;
  const ValueRanges& ranges_;
  const Target& target_;
  const OptimizeOptions& options_;
  const Ancestry& ancestry_;
  const InputDims& samples_;
  const std::vector<NodeId> order_;
  Int8Plan plan_;
  std::vector<NodeId> anchors_;
  std::set<NodeId> kept_;
  std::map<NodeId, std::string> asked_;  // the rule that wants it to be int8
};

}  // namespace

std::string_view Int8ModeName(Int8Mode mode) {
  switch (mode) {
    case Int8Mode::kStatic:
      return "static";
    case Int8Mode::kDynamic:
      return "dynamic";
    case Int8Mode::kWeightOnly:
      return "weight-only";
  }
  return "";
}

QuantizeOptions QuantizeOptionsOf(const OptimizeOptions& options, ModelFormat format) {
  QuantizeOptions quantize = options.int8.quantize;
  quantize.correct_bias = options.int8.correct_bias;
  if (!DescribeCpu().native_int8) quantize.reduce_range = true;
  return OptionsFor(format, options.target_runtime, options.int8.form, std::move(quantize));
}

absl::StatusOr<Int8Plan> PlanInt8(const Graph& graph, const ValueRanges& ranges, const Target& target,
                                  const OptimizeOptions& options, const Ancestry& ancestry, const InputDims& samples,
                                  const std::map<NodeId, Reason>& excluded) {
  return Int8Planner(graph, ranges, target, options, ancestry, samples).Run(excluded);
}

}  // namespace halftone
