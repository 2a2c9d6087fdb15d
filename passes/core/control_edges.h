// Control edges of nodes that a rule replaces: whoever ran after, or before, one of them runs after, or before, the
// node that takes their place.
//
// Safe for edges into matched nodes: the root ran after their sources already. Safe for edges out of them where nothing
// that they lead to is needed by the match: else the graph would have a cycle. Not where values may be dead (switch and
// merge): a node would be dead with operands that it had not.
#ifndef HALFTONE_PASSES_CORE_CONTROL_EDGES_H_
#define HALFTONE_PASSES_CORE_CONTROL_EDGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "passes/core/rewrite_rule.h"
#include "passes/core/rule_schedule.h"

namespace halftone {

// "" if the matched nodes have no control edges or all of these may move, else which may not and why. With a schedule of
// the graph it need not look at all of it.
std::string GuardControlEdges(const Graph& graph, const RewriteRule& rule, const Match& match,
                              const RuleSchedule* schedule);

// The control edges between matched nodes and others, while the match is replaced.
//
//   DetachedControl control(edit, match);      // the matched nodes have none now
//   rule.Apply(match, edit);
//   control.Attach(edit);                      // what makes the root's value now has them
//
// REQUIRES: GuardControlEdges allows it
class DetachedControl {
 public:
  DetachedControl(GraphEditor& edit, const Match& match);

  // A sentence for each edge that did not belong to the root: "control input '^init' moved to 'y'". INTERNAL where an
  // old node makes the root's value, to which edges must not move.
  absl::StatusOr<std::vector<std::string>> Attach(GraphEditor& edit) const;
  bool empty() const { return into_.empty() && out_of_.empty(); }

 private:
  struct Edge {
    NodeId from, to;
    bool of_root;
    std::string from_label;
  };
  NodeId Replacement(const Graph& graph) const;

  std::vector<Edge> into_, out_of_;
  std::vector<NodeId> matched_;
  int values_before_ = 0;
  // A place where the root's value is read: an input of a node, or an output of the graph.
  Use reader_;
  int output_ = -1;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_CONTROL_EDGES_H_
