// SPDX-License-Identifier: Apache-2.0
// A part of a graph as a nested graph of its own.
#ifndef HALFTONE_PASSES_PREPARE_SUBGRAPH_H_
#define HALFTONE_PASSES_PREPARE_SUBGRAPH_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone::lowering {

// What nested graphs of one node share: input i of each is the value inputs()[i] of the graph around them.
class NestedInputs {
 public:
  // The number of the input that `value` is inside; a new one if it has none yet.
  int Of(ValueId value);
  // Inside, `value` is the same as `other`.
  void SetAlias(ValueId value, ValueId other) { numbers_[value] = Of(other); }
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  std::vector<ValueId> inputs_;
  std::map<ValueId, int> numbers_;
};

// Nodes that depend on these values; the walk ends after nodes for which `is_end` holds.
std::set<NodeId> DependentNodes(const Graph& graph, const std::vector<ValueId>& values, bool (*is_end)(const Node&));

// Writes one nested graph. Nodes in `inside` are copied, constants too; whatever else is needed becomes an input.
class SubgraphCopier {
 public:
  // `boundary`: values that are inputs although nodes inside make them.
  SubgraphCopier(const Graph& graph, const std::set<NodeId>& inside, const std::set<ValueId>& boundary,
                 NestedInputs& inputs);

  // The copy of a value.
  ValueId Copy(ValueId value);
  // The graph with these outputs, and with as many inputs as `inputs` has by now. REQUIRES: called once, at the end.
  std::shared_ptr<const Graph> Finish(const std::vector<ValueId>& outputs);

 private:
  ValueId InputOf(ValueId value);
  void CopyNode(NodeId id);
  bool IsInput(ValueId value) const;

  const Graph& graph_;
  const std::set<NodeId>& inside_;
  const std::set<ValueId>& boundary_;
  NestedInputs& inputs_;
  std::shared_ptr<Graph> result_ = std::make_shared<Graph>();
  GraphEditor edit_;
  std::vector<ValueId> made_inputs_;
  std::map<ValueId, ValueId> copies_;
};

}  // namespace halftone::lowering

#endif  // HALFTONE_PASSES_PREPARE_SUBGRAPH_H_
