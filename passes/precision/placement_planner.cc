// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/placement_planner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/precision/precision_obstacle.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// Plans one graph.
class Placement {
 public:
  Placement(const Graph& graph, const Target& target, const PlacementOptions& options)
      : g_(graph), target_(target), options_(options), nodes_(graph.nodes()) {}

  void Mark();
  void RemoveOrphans();
  void ForceF32Outputs();
  PrecisionPlan Plan() const;
  std::string Summary() const;

 private:
  struct Fact {
    const PlacementRow* row = nullptr;
    bool marked = false;
    bool f32_output = false;
    std::string rule;
    std::string reason;
  };
  static bool IsSource(OpKind op) { return op == OpKind::kInput || op == OpKind::kConstant; }
  bool IsMarked(NodeId id) const {
    const auto it = facts_.find(id);
    return it != facts_.end() && it->second.marked;
  }
  // A mark of a cast concerns its input, that of every other node its data.
  char ReadVariable(NodeId id) const { return g_.op(id) == OpKind::kCast ? 'S' : kData; }
  std::optional<Obstacle> ObstacleOf(NodeId id, const PlacementRow* row) const;
  std::optional<Obstacle> ShapeObstacle(NodeId id) const;
  std::string F32Producer(NodeId id) const;  // its name; "" if there is none
  std::string F32Reader(NodeId id) const;
  bool WritesF32(NodeId id) const;  // there is a kernel with 16-bit operands
  int Casts() const;

  const Graph& g_;
  const Target& target_;
  const PlacementOptions& options_;
  const std::vector<NodeId> nodes_;
  std::map<NodeId, Fact> facts_;  // of all nodes except inputs and constants
  int orphans_ = 0;
};

// For a reshape or slice: the first shape input that is not constant.
std::optional<Obstacle> Placement::ShapeObstacle(NodeId id) const {
  if (g_.op(id) != OpKind::kReshape && g_.op(id) != OpKind::kSlice) return std::nullopt;
  for (size_t i = 1; i < g_.node(id).inputs.size(); ++i) {
    const ValueId value = g_.node(id).inputs[i];
    if (!value.valid() || g_.IsConstant(value)) continue;
    const Port* port = InputPort(g_.op(id), static_cast<int>(i), static_cast<int>(g_.node(id).inputs.size()));
    return Obstacle{"placement.dynamic-shape",
                    Concat("input '", port == nullptr ? "shape" : port->name, "' of ", OpName(g_.op(id)),
                           " is computed by '", g_.Label(g_.producer(value)), "', not a constant")};
  }
  return std::nullopt;
}

std::optional<Obstacle> Placement::ObstacleOf(NodeId id, const PlacementRow* row) const {
  if (row == nullptr) {
    const std::string_view op = g_.op(id) == OpKind::kOpaque ? g_.node(id).spelling : OpName(g_.op(id));
    return Obstacle{"placement.not-listed",
                    Concat(options_.ops.empty() ? "" : "the policy's part of ", "Paddle's list (",
                           PlacementListsName(options_.lists), ") has no ", op)};
  }
  if (IsScaleWithBiasAfter(g_, id)) {
    return Obstacle{"placement.scale-order", "scale: its bias comes after the scale (mul, add)"};
  }
  if (auto obstacle = ShapeObstacle(id); obstacle.has_value()) return obstacle;
  if (g_.op(id) != OpKind::kCast) return FindObstacle(g_, id, target_, options_.type);
  const DataType read = g_.type(g_.input(id, 0));
  if (read == DataType::kFloat32) return std::nullopt;
  return Obstacle{"target.input-type", Concat("input 'x' is ", DataTypeName(read), ", not f32")};
}

void Placement::Mark() {
  for (const NodeId id : nodes_) {
    if (IsSource(g_.op(id))) continue;
    Fact& fact = facts_[id];
    fact.row = FindPlacementRow(g_, id, options_.lists, options_.ops);
    const std::optional<Obstacle> obstacle = ObstacleOf(id, fact.row);
    fact.marked = !obstacle.has_value();
    fact.rule = fact.marked ? "placement.marked" : obstacle->rule;
    fact.reason = fact.marked ? Concat("on Paddle's list (", PlacementListsName(options_.lists), "): ", fact.row->op,
                                       "; ", fact.row->reason)
                              : obstacle->reason;
  }
}

std::string Placement::F32Producer(NodeId id) const {
  const Node& node = g_.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!value.valid() || g_.IsConstant(value) || g_.type(value) != DataType::kFloat32) continue;
    if (InputVariable(g_, id, static_cast<int>(i)) != ReadVariable(id)) continue;
    if (!IsMarked(g_.producer(value))) return g_.Label(g_.producer(value));
  }
  return "";
}

std::string Placement::F32Reader(NodeId id) const {
  for (const ValueId value : g_.node(id).outputs) {
    if (!value.valid()) continue;
    for (const GraphOutput& output : g_.outputs()) {
      if (output.value == value) return Concat("output ", output.name);
    }
    for (const Use& use : g_.uses(value)) {
      if (!IsMarked(use.node)) return g_.Label(use.node);
    }
  }
  return "";
}

// Every round removes all orphans at once, so that the order of nodes does not matter.
void Placement::RemoveOrphans() {
  for (bool again = true; again;) {
    std::vector<std::pair<NodeId, std::string>> orphans;
    for (const NodeId id : nodes_) {
      if (!IsMarked(id)) continue;
      const std::string producer = F32Producer(id), reader = F32Reader(id);
      if (producer.empty() || reader.empty()) continue;
      orphans.emplace_back(id, Concat("between float32 nodes: producer '", producer, "', consumer '", reader, "' (",
                                      facts_.at(id).row->op, ")"));
    }
    for (auto& [id, reason] : orphans) {
      Fact& fact = facts_[id];
      fact.marked = false;
      fact.rule = "placement.orphan";
      fact.reason = std::move(reason);
    }
    orphans_ += static_cast<int>(orphans.size());
    again = !orphans.empty();
  }
}

bool Placement::WritesF32(NodeId id) const {
  const std::vector<Signature> signatures = target_.Signatures(g_, id);
  return std::any_of(signatures.begin(), signatures.end(),
                     [](const Signature& s) { return s.src != DataType::kFloat32 && s.dst == DataType::kFloat32; });
}

void Placement::ForceF32Outputs() {
  for (const NodeId id : nodes_) {
    if (!IsMarked(id)) continue;
    Fact& fact = facts_[id];
    const bool contraction = g_.op(id) == OpKind::kConv || g_.op(id) == OpKind::kMatMul;
    if (!fact.row->f32_output || !contraction || g_.input(id, 3).valid()) continue;
    const ValueId result = g_.output(id);
    const std::vector<Use>& uses = g_.uses(result);
    const bool reduced = std::any_of(uses.begin(), uses.end(), [this](const Use& use) { return IsMarked(use.node); });
    if (reduced || (uses.empty() && !g_.IsOutput(result)) || !WritesF32(id)) continue;
    fact.f32_output = true;
    fact.reason += Concat("; its result stays float32 for '", F32Reader(id), "'");
  }
}

PrecisionPlan Placement::Plan() const {
  PrecisionPlan plan;
  plan.planner = "placement";
  for (const auto& [id, fact] : facts_) {
    const OpKind op = g_.op(id);
    Decision decision;
    decision.type = fact.marked && op != OpKind::kCast ? options_.type : DataType::kFloat32;
    decision.reason = fact.reason;
    decision.type_attribute = op == OpKind::kCast ? "DstT" : "T";
    decision.list = fact.row == nullptr ? "" : std::string(fact.row->op);
    decision.step = fact.rule == "placement.orphan" ? "orphans" : "mark";
    decision.rule = fact.rule;
    decision.f32_output = fact.f32_output;
    plan.decisions[{id, PlannedVariable(op)}] = std::move(decision);
    if (op != OpKind::kBatchNorm) continue;
    plan.decisions[{id, 'U'}] = {DataType::kFloat32, "statistics stay f32", "U", "",
                                 "statistics",       "placement.statistics"};
  }
  return plan;
}

// One per value and direction, shared by its consumers, as ApplyPrecision inserts them; constants need none.
int Placement::Casts() const {
  int casts = 0;
  for (const NodeId id : nodes_) {
    if (g_.op(id) == OpKind::kConstant) continue;
    const bool reduced = IsMarked(id) && g_.op(id) != OpKind::kCast && !facts_.at(id).f32_output;
    for (const ValueId value : g_.node(id).outputs) {
      if (!value.valid() || g_.type(value) != DataType::kFloat32) continue;
      const std::vector<Use>& uses = g_.uses(value);
      const bool cast = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
        const OpKind op = g_.op(use.node);
        if (op == OpKind::kCast || op == OpKind::kShape) return false;  // these read any type
        const bool wanted = IsMarked(use.node) && InputVariable(g_, use.node, use.index) == kData;
        return wanted != reduced;
      });
      if (cast || (reduced && g_.IsOutput(value))) ++casts;
    }
  }
  return casts;
}

std::string Placement::Summary() const {
  int marked = 0, f32_outputs = 0;
  for (const auto& [id, fact] : facts_) {
    marked += fact.marked ? 1 : 0;
    f32_outputs += fact.f32_output ? 1 : 0;
  }
  const int casts = Casts();
  return Concat("marked ", marked, " of ", facts_.size(), " operators to ", LongTypeName(options_.type), ", ", orphans_,
                orphans_ == 1 ? " orphan" : " orphans", " back to float32, ", f32_outputs, " with float32 output, ",
                casts, casts == 1 ? " cast" : " casts");
}

}  // namespace

absl::Status CheckPlacementOptions(const PlacementOptions& options) {
  const std::vector<std::string> supported = PlacementOpNames(options.lists);
  std::vector<std::string> unknown;
  for (const std::string& op : options.ops) {
    if (std::find(supported.begin(), supported.end(), op) == supported.end()) unknown.push_back(op);
  }
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Concat("op_types: ", absl::StrJoin(unknown, ", "), unknown.size() == 1 ? " is" : " are", " not on Paddle's list (",
             PlacementListsName(options.lists), "), of which the ops must be: ", absl::StrJoin(supported, ", ")));
}

absl::StatusOr<PlannedPrecision> PlanByPlacement(const Graph& graph, const Target& target,
                                                 const PlacementOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckPlacementOptions(options));
  Placement placement(graph, target, options);
  placement.Mark();
  placement.RemoveOrphans();
  placement.ForceF32Outputs();
  return PlannedPrecision{placement.Plan(), placement.Summary(), {}};
}

}  // namespace halftone
