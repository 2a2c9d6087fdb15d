// SPDX-License-Identifier: Apache-2.0
// The nodes that a rule has to visit: those with an op of its root, in topological order, that it has not visited since
// something near them changed. Other nodes cost a rule nothing.
#ifndef HALFTONE_PASSES_CORE_RULE_SCHEDULE_H_
#define HALFTONE_PASSES_CORE_RULE_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// A schedule is for one graph, as long as only rules edit it; nested graphs have separate schedules. Rules are
// identified by numbers.
//
// "Near" means at most kReach edges after the change: a pattern ends in its root, so that a change affects the roots
// after it. A rule with a longer pattern finds its match later, in a round that visits everything.
class RuleSchedule {
 public:
  explicit RuleSchedule(const Graph& graph);

  // Starts a round; recomputes the order if something was touched. `everything`: every node is due for every rule.
  void BeginRound(const Graph& graph, bool everything);

  // The nodes that rule number `rule` must visit, in order; they are no longer due for it.
  std::vector<NodeId> Take(const Graph& graph, int rule, const OpSet& roots);
  // Whether Take would return a node.
  bool HasWork(const Graph& graph, int rule, const OpSet& roots) const;

  // New nodes in `touched` get the position of `root`.
  void Place(NodeId root, const std::vector<NodeId>& touched, size_t first);
  // Marks changed nodes, and the nodes after them, as due for every rule, including the one that changed them. In a
  // round in which everything is due, the nodes after them are due from the next round on.
  void Touch(const Graph& graph, const std::vector<NodeId>& touched);

  // Whether `a` is before `b` in an order that is still valid: then `a` cannot depend on `b`.
  bool IsBefore(NodeId a, NodeId b) const { return ordered_ && PositionOf(a) >= 0 && PositionOf(a) < PositionOf(b); }
  // An edge was added that the order does not include: IsBefore returns false until the next round.
  void ForgetOrder() { ordered_ = false; }
  // Whether the graph has a node of this op.
  bool Has(const Graph& graph, OpKind op) const;

  // Nodes with nested graphs.
  const std::vector<NodeId>& holders() const { return holders_; }
  // The schedule of a nested graph of `holder` in this round; recreated if the graph is not the one given to Keep.
  RuleSchedule& Nested(NodeId holder, std::string_view name, const std::shared_ptr<const Graph>& nested);
  void Keep(NodeId holder, std::string_view name, std::shared_ptr<const Graph> nested);

  static constexpr int kReach = 12;

 private:
  struct Inner {
    std::shared_ptr<const Graph> graph;  // the graph of the last visit
    int64_t round = 0;
    std::unique_ptr<RuleSchedule> schedule;
  };

  void Mark(const Graph& graph, NodeId id, std::vector<NodeId>& marked);
  void MarkDownstream(const Graph& graph, std::vector<NodeId> level);
  void Grow(NodeId id);
  void List(const Graph& graph, NodeId id);
  int64_t PositionOf(NodeId id) const {
    return static_cast<size_t>(id.index) < position_.size() ? position_[id.index] : -1;
  }
  int64_t SeenBy(int rule) const { return static_cast<size_t>(rule) < seen_.size() ? seen_[rule] : 0; }
  bool IsOn(const Graph& graph, NodeId id, OpKind op) const { return graph.alive(id) && graph.op(id) == op; }

  std::vector<int64_t>
      position_;               // by node: its place in the order, -1: none yet; what one match made shares the root's
  std::vector<int64_t> due_;   // by node: the tick of its last change
  std::vector<int16_t> list_;  // by node: the op whose list has it, -1: none
  std::array<std::vector<NodeId>, kNumOps> by_op_;
  std::vector<NodeId> holders_;
  std::vector<int64_t> seen_;  // by rule: the tick of its last visit
  int64_t tick_ = 1;
  int64_t round_ = 0;
  bool everything_ = false;
  std::vector<NodeId> changed_;  // collected in a round in which everything is due
  bool ordered_ = true;
  bool stale_ = true;  // something was touched since the order was computed
  std::map<std::pair<NodeId, std::string>, Inner> nested_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_RULE_SCHEDULE_H_
