// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/inside_attention.h"

#include <vector>

#include "ir/attention_heads.h"

namespace halftone::onnx_format {
namespace {

// Whether the node's values are read, and only as shapes of absorbed reshapes or by nodes that compute these.
bool ComputesShapes(const Graph& g, NodeId id, const std::set<NodeId>& absorbed, const std::set<NodeId>& shapes) {
  bool read = false;
  for (const ValueId output : g.node(id).outputs) {
    if (!output.valid()) continue;
    if (g.IsOutput(output) || g.IsCaptured(output)) return false;
    for (const Use& use : g.uses(output)) {
      read = true;
      const bool as_shape = absorbed.contains(use.node) && use.index == 1;
      if (!as_shape && !shapes.contains(use.node)) return false;
    }
  }
  return read;
}

}  // namespace

std::set<NodeId> NodesInsideAttention(const Graph& g) {
  std::set<NodeId> absorbed, shapes;
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kScaledDotProductAttention || g.node(id).spelling != "MultiHeadAttention") continue;
    const std::vector<NodeId> nodes = FindAttentionHeads(g, id).absorbed;
    absorbed.insert(nodes.begin(), nodes.end());
  }
  if (absorbed.empty()) return absorbed;
  const std::vector<NodeId> order = g.TopologicalOrder();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const bool computes = Info(g.op(*id)).group != OpGroup::kSource;
    if (computes && ComputesShapes(g, *id, absorbed, shapes)) shapes.insert(*id);
  }
  absorbed.merge(shapes);
  return absorbed;
}

}  // namespace halftone::onnx_format
