// Which nodes a rule has to look at: those of its root's ops, in topological order, that it has not seen since
// something near them changed. A rule costs nothing for the nodes that are not its root.
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

// Of one graph, for as long as only rules edit it; nested graphs have schedules of their own. Rules are known by
// numbers.
//
// "Near" is kReach edges behind what changed: a pattern ends in its root, so that a change concerns the roots behind
// it. A rule that looks farther only finds its match later, in a round that looks at everything.
class RuleSchedule {
 public:
  explicit RuleSchedule(const Graph& graph);

  // A new round, with the order made anew where something was touched. `everything`: every node is due for every rule.
  void BeginRound(const Graph& graph, bool everything);

  // What rule number `rule` must look at, in order; from now on it has seen them.
  std::vector<NodeId> Take(const Graph& graph, int rule, const OpSet& roots);
  // Whether Take would give a node.
  bool HasWork(const Graph& graph, int rule, const OpSet& roots) const;

  // Those of `touched` that are new stand where `root` stood.
  void Place(NodeId root, const std::vector<NodeId>& touched, size_t first);
  // These changed: they are due for every rule, the one that changed them too, and so is what is behind them; that, in a
  // round in which everything is due, from the next round on.
  void Touch(const Graph& graph, const std::vector<NodeId>& touched);

  // Whether `a` stands before `b` in an order that still holds: then it cannot need it.
  bool IsBefore(NodeId a, NodeId b) const { return ordered_ && PositionOf(a) >= 0 && PositionOf(a) < PositionOf(b); }
  // An edge was drawn that the order does not know: until the next round nothing is said about it.
  void ForgetOrder() { ordered_ = false; }
  // Whether the graph has a node of this op.
  bool Has(const Graph& graph, OpKind op) const;

  // Nodes with nested graphs.
  const std::vector<NodeId>& holders() const { return holders_; }
  // The schedule of a nested graph of `holder`, in this round; made anew where the graph is not the one that Keep told.
  RuleSchedule& Nested(NodeId holder, std::string_view name, const std::shared_ptr<const Graph>& nested);
  void Keep(NodeId holder, std::string_view name, std::shared_ptr<const Graph> nested);

  static constexpr int kReach = 12;

 private:
  struct Inner {
    std::shared_ptr<const Graph> graph;  // as it was seen last
    int64_t round = 0;
    std::unique_ptr<RuleSchedule> schedule;
  };

  void Mark(const Graph& graph, NodeId id, std::vector<NodeId>& marked);
  void MarkBehind(const Graph& graph, std::vector<NodeId> level);
  void Grow(NodeId id);
  void List(const Graph& graph, NodeId id);
  int64_t PositionOf(NodeId id) const { return static_cast<size_t>(id.index) < position_.size() ? position_[id.index] : -1; }
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
  std::vector<NodeId> changed_;  // in a round in which everything is due
  bool ordered_ = true;
  bool stale_ = true;  // something was touched since the order was made
  std::map<std::pair<NodeId, std::string>, Inner> nested_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_RULE_SCHEDULE_H_
