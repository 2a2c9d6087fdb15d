// SPDX-License-Identifier: Apache-2.0
// Control edges of the nodes that a rule replaces: a node that ran after (or before) one of them runs after (or before)
// the node that replaces them.
//
// Edges into matched nodes can move: the root already ran after their sources. Edges out of matched nodes can move
// unless the match depends on their destination: then the graph would have a cycle. Edges cannot move where values may
// be dead (switch and merge): a node would depend on dead operands that it did not have before.
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

// "" if the matched nodes have no control edges or all of them can move; else the edge that cannot, and the reason. A
// schedule of the graph makes the check faster.
std::string GuardControlEdges(const Graph& graph, const RewriteRule& rule, const Match& match,
                              const RuleSchedule* schedule);

// The control edges between matched nodes and others, while the match is replaced.
//
//   DetachedControl control(edit, match);      // the matched nodes have none now
//   rule.Apply(match, edit);
//   control.Attach(edit);                      // the new producer of the root's value has them
//
// REQUIRES: GuardControlEdges allows it
class DetachedControl {
 public:
  DetachedControl(GraphEditor& edit, const Match& match);

  // One sentence per edge that did not belong to the root: "control input '^init' moved to 'y'". INTERNAL if an old
  // node produces the root's value: edges must not move to it.
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
  // A use of the root's value: an input of a node, or an output of the graph.
  Use reader_;
  int output_ = -1;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_CONTROL_EDGES_H_
