// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/lists_planner.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/strings.h"
#include "ir/file_dialect.h"
#include "ir/source_graph.h"
#include "passes/precision/auto_mixed_precision.h"
#include "passes/precision/op_lists.h"
#include "passes/precision/precision_obstacle.h"
#include "passes/precision/type_topology.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// Makes the plan from the marks of the types.
class Report {
 public:
  Report(const Graph& graph, const TypeTopology& topology, const AutoMixedPrecision& amp, const PlannerOptions& options)
      : g_(graph),
        topology_(topology),
        amp_(amp),
        type_(options.target_type),
        sources_are_nodes_(options.imported_from != nullptr),
        type_name_(LongTypeName(type_)) {}

  std::vector<TypeAttributeDecision> Attributes() const;
  PrecisionPlan Plan() const;
  PlanSummary Summary(bool has_allow_ops) const;

 private:
  std::string StepOf(int vertex) const {
    const std::string_view step = amp_.StepOf(vertex);
    return std::string(step.empty() ? ListKindName(amp_.ListOf(vertex)) : step);
  }
  std::string ReasonOf(int vertex) const;
  std::string WhyNotMarked(int vertex) const;
  std::string Obstacle(NodeId id) const;
  Decision Decide(NodeId id) const;
  Decision FollowReaders(NodeId id, const PrecisionPlan& plan) const;
  void TieLoops(PrecisionPlan& plan) const;

  const Graph& g_;
  const TypeTopology& topology_;
  const AutoMixedPrecision& amp_;
  const DataType type_;
  const bool sources_are_nodes_;  // inputs and constants are nodes of the file
  const std::string type_name_;   // "bfloat16"
};

std::string Report::ReasonOf(int vertex) const {
  const TypeTopology::Node& node = topology_.node_of(vertex);
  const std::string_view list = ListKindName(amp_.ListOf(vertex));
  const std::string_view step = amp_.StepOf(vertex);
  if (step == "allow") return Concat("allow list: ", node.op);
  if (step == "deny-propagation") {
    const int cause = amp_.CauseOf(vertex);
    if (cause < 0) return Concat("deny list: ", node.op);
    return Concat("on a path from '", topology_.node_of(cause).name, "' (deny list: ", topology_.node_of(cause).op,
                  ") to a deny or infer op");
  }
  if (step == "infer-between") return Concat(list, " list: ", node.op, ", between allow ops");
  if (step == "infer-after") return Concat("infer list: ", node.op, ", follows a ", type_name_, " op");
  if (step == "clear-adjacent") return Concat("clear list: ", node.op, ", next to a ", type_name_, " op");
  if (step == "casts") return Concat("every consumer is ", type_name_);
  if (step == "tensor-lists") {
    return amp_.IsMarked(vertex) ? Concat("an op that shares its tensor list is ", type_name_)
                                 : "an op that shares its tensor list stays f32, or is outside the graph";
  }
  if (step == "loop-edges") {
    return amp_.IsMarked(vertex) ? Concat("its Merge is ", type_name_) : "the other end of the loop edge stays f32";
  }
  if (step == "not-supported") return Concat("TensorFlow's ", node.op, " allows no ", type_name_);
  return WhyNotMarked(vertex);
}

std::string Report::WhyNotMarked(int vertex) const {
  const TypeTopology::Node& node = topology_.node_of(vertex);
  const TypeTopology::Vertex& type = topology_.vertices()[vertex];
  const std::string_view list = ListKindName(amp_.ListOf(vertex));
  if (!type.is_f32) return "its data is not f32";
  if (node.preserved) {
    return g_.op(node.id) == OpKind::kInput ? "input of the graph: callers expect its type"
                                            : "output of the graph: callers expect its type";
  }
  if (!node.processed) return Concat("device '", node.device, "' is not a CPU");
  if (list.empty()) return Concat("on no list: ", node.op);
  if (!type.allows_target) {
    return type.id.attribute.empty() || type.id.attribute == "T"
               ? Concat("TensorFlow's ", node.op, " allows no ", type_name_)
               : Concat("TensorFlow's ", node.op, " allows no ", type_name_, " for ", type.id.attribute);
  }
  if (amp_.ListOf(vertex) == ListKind::kInfer) {
    return Concat("infer list: ", node.op, ", not between two allow ops");
  }
  return Concat(list, " list: ", node.op, ", not next to a ", type_name_, " op");
}

std::vector<TypeAttributeDecision> Report::Attributes() const {
  std::vector<TypeAttributeDecision> rows;
  for (const TypeTopology::Node& node : topology_.nodes()) {
    const OpKind kind = g_.op(node.id);
    const bool is_source = kind == OpKind::kInput || kind == OpKind::kConstant;
    if (is_source && !sources_are_nodes_) continue;
    for (const int vertex : node.vertices) {
      const TypeTopology::Vertex& type = topology_.vertices()[vertex];
      if (!type.is_f32 || type.id.attribute.empty()) continue;
      TypeAttributeDecision row;
      row.node = node.name;
      row.op = node.op;
      row.type_attr = type.id.attribute;
      row.index = type.id.index;
      row.list = ListKindName(amp_.ListOf(vertex));
      if (amp_.IsMarked(vertex)) row.type = type_;
      row.step = StepOf(vertex);
      row.reason = ReasonOf(vertex);
      const std::vector<int>& deciding = topology_.Deciding(node.id);
      if (std::find(deciding.begin(), deciding.end(), vertex) != deciding.end()) row.id = node.id;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// "" if this node can change its type here, else the reason. TensorFlow may decide differently.
std::string Report::Obstacle(NodeId id) const {
  if (g_.op(id) == OpKind::kOpaque) return "opaque (unsupported) op: never changed";
  if (!IsFloat32(g_, id)) return "its data is not f32";
  return "";
}

Decision Report::Decide(NodeId id) const {
  Decision decision;
  const std::vector<int>& deciding = topology_.Deciding(id);
  const auto keeps = std::find_if(deciding.begin(), deciding.end(), [this](int v) { return !amp_.IsMarked(v); });
  const int vertex = keeps == deciding.end() ? deciding.front() : *keeps;
  const TypeTopology::Vertex& type = topology_.vertices()[vertex];
  const std::string obstacle = Obstacle(id);
  decision.type_attribute = type.id.attribute;
  decision.list = ListKindName(amp_.ListOf(vertex));
  decision.step = StepOf(vertex);
  decision.reason = ReasonOf(vertex);
  decision.rule = Concat("lists.", decision.step.empty() ? "on-no-list" : decision.step);
  if (keeps == deciding.end() && obstacle.empty()) {
    decision.type = type_;
  } else if (keeps == deciding.end()) {
    decision.rule = "lists.not-possible";
    decision.reason = Concat(obstacle, " (", type_name_, " in TensorFlow: ", decision.reason, ")");
  } else if (!obstacle.empty() && (amp_.StepOf(vertex).empty() || !type.is_f32)) {
    decision.rule = "lists.not-possible";
    decision.reason = obstacle;
  } else if (amp_.StepOf(vertex).empty() && !topology_.node_of(vertex).processed) {
    decision.rule = "lists.not-processed";
  } else if (amp_.StepOf(vertex).empty() && !decision.list.empty() && !type.allows_target) {
    decision.rule = "lists.not-supported";
  }
  return decision;
}

// The decision of a node that the importer added for its consumer.
Decision Report::FollowReaders(NodeId id, const PrecisionPlan& plan) const {
  Decision decision;
  decision.type_attribute = "T";
  decision.step = "importer";
  decision.rule = "lists.importer";
  decision.reason = "added by the importer; not all of its consumers have reduced precision";
  if (!Obstacle(id).empty()) {
    decision.rule = "lists.not-possible";
    decision.reason = Obstacle(id);
    return decision;
  }
  std::string reader;
  for (const ValueId value : g_.node(id).outputs) {
    if (!value.valid() || g_.IsOutput(value)) continue;
    for (const Use& use : g_.uses(value)) {
      const auto it = plan.decisions.find({use.node, PlannedVariable(g_.op(use.node))});
      const bool reduced = it != plan.decisions.end() && it->second.IsReduced();
      if (!reduced || InputVariable(g_, use.node, use.index) != kData) return decision;
      reader = g_.Label(use.node);
    }
  }
  if (reader.empty()) return decision;
  decision.type = type_;
  decision.reason = Concat("added by the importer for '", reader, "', which is ", type_name_);
  return decision;
}

PrecisionPlan Report::Plan() const {
  PrecisionPlan plan;
  plan.planner = "lists";
  std::vector<NodeId> order = g_.TopologicalOrder();
  std::reverse(order.begin(), order.end());  // readers first
  for (const NodeId id : order) {
    const OpKind op = g_.op(id);
    if (op == OpKind::kInput || op == OpKind::kConstant || op == OpKind::kNoOp) continue;
    const bool known = !topology_.Deciding(id).empty();
    const Decision decision = known ? Decide(id) : FollowReaders(id, plan);
    plan.decisions[{id, PlannedVariable(op)}] = decision;
    if (op != OpKind::kBatchNorm) continue;
    plan.decisions[{id, 'U'}] = {.reason = "statistics stay f32",
                                 .type_attribute = "U",
                                 .list = decision.list,
                                 .step = "statistics",
                                 .rule = "lists.statistics"};
  }
  TieLoops(plan);
  return plan;
}

// TensorFlow gives both ends of a loop edge one type. If one end cannot change here, the other must not either.
void Report::TieLoops(PrecisionPlan& plan) const {
  for (const NodeId next : g_.nodes()) {
    if (g_.op(next) != OpKind::kNextIteration || g_.node(next).outputs.empty()) continue;
    std::vector<Decision*> ends = {&plan.decisions[{next, kData}]};
    for (const Use& use : g_.uses(g_.output(next))) {
      if (g_.op(use.node) == OpKind::kMerge) ends.push_back(&plan.decisions[{use.node, kData}]);
    }
    if (std::all_of(ends.begin(), ends.end(), [](const Decision* end) { return end->IsReduced(); })) continue;
    for (Decision* end : ends) {
      if (!end->IsReduced()) continue;
      end->type = DataType::kFloat32;
      end->step = "loop-edges";
      end->rule = "lists.loop-edges";
      end->reason = "the other end of the loop edge stays f32";
    }
  }
}

PlanSummary Report::Summary(bool has_allow_ops) const {
  PlanSummary summary;
  summary.type = type_;
  summary.nothing_to_do = !has_allow_ops;
  summary.marked = amp_.CountMarked();
  summary.casts_to_bf16 = amp_.CountCasts(/*to_target=*/true);
  summary.casts_to_f32 = amp_.CountCasts(/*to_target=*/false);
  for (const TypeTopology::Node& node : topology_.nodes()) {
    const OpKind op = g_.op(node.id);
    const bool is_source = op == OpKind::kInput || op == OpKind::kConstant;
    // Where constants and inputs are nodes of the file, those without a name are not: the importer made them.
    const bool counts = sources_are_nodes_ ? !g_.node(node.id).name.empty() : !is_source;
    summary.nodes += counts ? 1 : 0;
  }
  return summary;
}

// What TensorFlow refuses, or would not do because it never sees it.
void Warn(const TypeTopology& topology, const OpLists& lists, const FileDialect& imported_from,
          std::vector<std::string>& warnings) {
  std::set<std::string> unknown, fused;
  for (const TypeTopology::Node& node : topology.nodes()) {
    if (lists.ListOf(node.op) != ListKind::kNone) continue;
    if (!node.is_known) unknown.insert(node.op);
    if (imported_from.is_fused_op(node.op)) fused.insert(node.op);
  }
  for (const std::string& op : unknown) {
    warnings.push_back(Concat("'", op, "' is not an op of TensorFlow's registry of 2020: it stays unchanged"));
  }
  for (const std::string& op : fused) {
    warnings.push_back(Concat("'", op,
                              "' is on no list: TensorFlow converts types before it fuses; add it to a list, or use ",
                              "the lists 'itex', which have fused ops"));
  }
}

}  // namespace

std::string PlanSummary::ToString() const {
  if (nothing_to_do) return "No allowlist ops found, nothing to do";
  const std::string_view name = LongTypeName(type);
  return Concat("Converted ", marked, "/", nodes, " nodes to ", name, " precision using ", casts_to_bf16,
                " cast(s) to ", name, " (excluding Const and Variable casts)");
}

absl::StatusOr<ListsPlan> PlanByLists(const Graph& graph, const PlannerOptions& options) {
  const bool fused = PlansFusedGraph(options.lists_version);
  const bool as_spelled = graph.source() != nullptr && options.imported_from != nullptr && !fused;
  const TopologyOptions topology_options = {
      .target = options.target_type,
      .keep_outputs = options.keep_output_nodes.value_or(options.imported_from != nullptr),
      .imported_from = options.imported_from,
      .fused_as = fused ? options.fused_as : nullptr,
  };
  ListsPlan result;
  const OpLists lists(options, /*with_own=*/!as_spelled, result.warnings);
  TypeTopology topology = as_spelled ? TypeTopology::OfSource(graph, *graph.source(), topology_options)
                                     : TypeTopology::OfGraph(graph, topology_options);
  AutoMixedPrecision amp(topology, lists);
  const bool has_allow_ops = amp.Run(options.mark_infer_after_allow.value_or(fused));
  if (as_spelled) Warn(topology, lists, *options.imported_from, result.warnings);
  const Report report(graph, topology, amp, options);
  result.attributes = report.Attributes();
  result.plan = report.Plan();
  result.summary = report.Summary(has_allow_ops);
  return result;
}

}  // namespace halftone
