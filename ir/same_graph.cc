// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "ir/same_graph_internal.h"

namespace halftone {
namespace {

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  bool Run() {
    if (a_.name() != b_.name() || a_.layout() != b_.layout() || !(a_.header() == b_.header())) return false;
    if (a_.num_nodes() != b_.num_nodes() || a_.inputs().size() != b_.inputs().size() ||
        a_.outputs().size() != b_.outputs().size()) {
      return false;
    }
    for (size_t i = 0; i < a_.inputs().size(); ++i) {
      if (!Pair(a_.inputs()[i], b_.inputs()[i])) return false;
    }
    // Both orders are the same function of the edges and of the order in which nodes were added.
    const std::vector<NodeId> left = Others(a_), right = Others(b_);
    if (left.size() != right.size()) return false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (!Pair(left[i], right[i])) return false;
    }
    for (const auto& [from, to] : nodes_) {
      if (!SameEdges(a_.node(from), b_.node(to))) return false;
    }
    for (size_t i = 0; i < a_.outputs().size(); ++i) {
      const GraphOutput &x = a_.outputs()[i], &y = b_.outputs()[i];
      if (x.name != y.name || !SameValueId(x.value, y.value)) return false;
    }
    return true;
  }

 private:
  static std::vector<NodeId> Others(const Graph& graph) {
    std::vector<NodeId> others;
    for (const NodeId id : graph.TopologicalOrder()) {
      if (graph.op(id) != OpKind::kInput) others.push_back(id);
    }
    return others;
  }

  // Everything of the two nodes but their edges; their outputs are equal from now on.
  bool Pair(NodeId left, NodeId right) {
    const Node &x = a_.node(left), &y = b_.node(right);
    if (x.op != y.op || x.name != y.name || x.spelling != y.spelling || x.domain != y.domain || x.device != y.device ||
        x.captures != y.captures || x.outputs.size() != y.outputs.size() || x.inputs.size() != y.inputs.size()) {
      return false;
    }
    if (!(x.attributes == y.attributes) || !(x.extra == y.extra)) return false;
    nodes_[left] = right;
    for (size_t i = 0; i < x.outputs.size(); ++i) {
      if (x.outputs[i].valid() != y.outputs[i].valid()) return false;
      if (!x.outputs[i].valid()) continue;
      const Value &v = a_.value(x.outputs[i]), &w = b_.value(y.outputs[i]);
      if (v.name != w.name || v.type != w.type || v.shape != w.shape) return false;
      if (!SameQuantization(v.quantization.get(), w.quantization.get())) return false;
      values_[x.outputs[i]] = y.outputs[i];
    }
    return true;
  }

  bool SameValueId(ValueId left, ValueId right) const {
    if (!left.valid() || !right.valid()) return left.valid() == right.valid();
    const auto it = values_.find(left);
    return it != values_.end() && it->second == right;
  }

  bool SameEdges(const Node& x, const Node& y) const {
    for (size_t i = 0; i < x.inputs.size(); ++i) {
      if (!SameValueId(x.inputs[i], y.inputs[i])) return false;
    }
    if (x.control_inputs.size() != y.control_inputs.size()) return false;
    for (size_t i = 0; i < x.control_inputs.size(); ++i) {
      const auto it = nodes_.find(x.control_inputs[i]);
      if (it == nodes_.end() || it->second != y.control_inputs[i]) return false;
    }
    return true;
  }

  const Graph& a_;
  const Graph& b_;
  std::map<NodeId, NodeId> nodes_;
  std::map<ValueId, ValueId> values_;
};

}  // namespace

bool SameGraphs(const Graph& a, const Graph& b) { return &a == &b || Comparison(a, b).Run(); }

}  // namespace halftone
