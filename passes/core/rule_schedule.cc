// SPDX-License-Identifier: Apache-2.0
#include "passes/core/rule_schedule.h"

#include <algorithm>
#include <utility>

#include "ir/nested.h"
#include "ir/ops.h"

namespace halftone {

RuleSchedule::RuleSchedule(const Graph& graph) { BeginRound(graph, /*everything=*/true); }

void RuleSchedule::Grow(NodeId id) {
  if (static_cast<size_t>(id.index) < position_.size()) return;
  position_.resize(id.index + 1, -1);
  due_.resize(id.index + 1, 0);
  list_.resize(id.index + 1, -1);
}

void RuleSchedule::BeginRound(const Graph& graph, bool everything) {
  ++round_;
  everything_ = everything;
  if (!changed_.empty()) {
    ++tick_;
    std::vector<NodeId> marked;
    for (const NodeId id : std::exchange(changed_, {})) Mark(graph, id, marked);
    MarkDownstream(graph, std::move(marked));
  }
  if (everything) seen_.clear();
  if (!std::exchange(stale_, false)) return;
  for (std::vector<NodeId>& list : by_op_) list.clear();
  holders_.clear();
  ordered_ = true;
  int64_t position = 0;
  for (const NodeId id : graph.TopologicalOrder()) {
    Grow(id);
    position_[id.index] = position++;
    if (due_[id.index] == 0) due_[id.index] = tick_;
    List(graph, id);
  }
}

void RuleSchedule::List(const Graph& graph, NodeId id) {
  const OpKind op = graph.op(id);
  list_[id.index] = static_cast<int16_t>(op);
  by_op_[static_cast<size_t>(op)].push_back(id);
  if (HasNestedGraphs(op)) holders_.push_back(id);
}

bool RuleSchedule::HasWork(const Graph& graph, int rule, const OpSet& roots) const {
  const int64_t seen = SeenBy(rule);
  for (int op = 0; op < kNumOps; ++op) {
    const OpKind kind = static_cast<OpKind>(op);
    if (!roots.has(kind)) continue;
    for (const NodeId id : by_op_[op]) {
      if (due_[id.index] > seen && IsOn(graph, id, kind)) return true;
    }
  }
  return false;
}

bool RuleSchedule::Has(const Graph& graph, OpKind op) const {
  const std::vector<NodeId>& listed = by_op_[static_cast<size_t>(op)];
  return std::any_of(listed.begin(), listed.end(), [&](NodeId id) { return IsOn(graph, id, op); });
}

std::vector<NodeId> RuleSchedule::Take(const Graph& graph, int rule, const OpSet& roots) {
  const int64_t seen = SeenBy(rule);
  std::vector<NodeId> result;
  for (int op = 0; op < kNumOps; ++op) {
    const OpKind kind = static_cast<OpKind>(op);
    if (!roots.has(kind)) continue;
    for (const NodeId id : by_op_[op]) {
      if (due_[id.index] > seen && IsOn(graph, id, kind)) result.push_back(id);
    }
  }
  const auto before = [this](NodeId a, NodeId b) {
    return std::pair(position_[a.index], a) < std::pair(position_[b.index], b);
  };
  if (!std::is_sorted(result.begin(), result.end(), before)) std::sort(result.begin(), result.end(), before);
  if (static_cast<size_t>(rule) >= seen_.size()) seen_.resize(rule + 1, 0);
  seen_[rule] = tick_;
  return result;
}

void RuleSchedule::Place(NodeId root, const std::vector<NodeId>& touched, size_t first) {
  for (size_t i = first; i < touched.size(); ++i) {
    Grow(touched[i]);
    int64_t& position = position_[touched[i].index];
    if (position < 0) position = position_[root.index];
  }
}

void RuleSchedule::Mark(const Graph& graph, NodeId id, std::vector<NodeId>& marked) {
  Grow(id);
  if (!graph.alive(id) || due_[id.index] == tick_) return;
  due_[id.index] = tick_;
  marked.push_back(id);
  if (list_[id.index] != static_cast<int16_t>(graph.op(id))) List(graph, id);
}

void RuleSchedule::MarkDownstream(const Graph& graph, std::vector<NodeId> level) {
  for (int distance = 0; distance < kReach && !level.empty(); ++distance) {
    std::vector<NodeId> next;
    for (const NodeId id : level) {
      if (Info(graph.op(id)).group == OpGroup::kSource)
        continue;  // shared weights: their edited consumers are touched anyway
      for (const ValueId output : graph.node(id).outputs) {
        if (!output.valid()) continue;
        for (const Use& use : graph.uses(output)) Mark(graph, use.node, next);
      }
    }
    level = std::move(next);
  }
}

void RuleSchedule::Touch(const Graph& graph, const std::vector<NodeId>& touched) {
  if (touched.empty()) return;
  ++tick_;
  stale_ = true;
  std::vector<NodeId> marked;
  for (const NodeId id : touched) Mark(graph, id, marked);
  if (everything_) {
    changed_.insert(changed_.end(), marked.begin(), marked.end());
  } else {
    MarkDownstream(graph, std::move(marked));
  }
}

RuleSchedule& RuleSchedule::Nested(NodeId holder, std::string_view name, const std::shared_ptr<const Graph>& nested) {
  Inner& inner = nested_[{holder, std::string(name)}];
  if (inner.schedule == nullptr || inner.graph != nested) {
    inner.schedule = std::make_unique<RuleSchedule>(*nested);
    inner.graph = nested;
    inner.round = round_;
  } else if (inner.round != round_) {
    inner.schedule->BeginRound(*nested, everything_);
    inner.round = round_;
  }
  return *inner.schedule;
}

void RuleSchedule::Keep(NodeId holder, std::string_view name, std::shared_ptr<const Graph> nested) {
  nested_[{holder, std::string(name)}].graph = std::move(nested);
}

}  // namespace halftone
