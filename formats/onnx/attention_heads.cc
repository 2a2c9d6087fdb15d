#include "formats/onnx/attention_heads.h"

#include <cstdint>
#include <optional>

namespace halftone::onnx_format {
namespace {

using Perm = std::vector<int64_t>;

// Lengths and heads change places: from [batch, length, heads, depth] and back.
const Perm kExchange = {0, 2, 1, 3};
// To keys that are transposed already: [batch, heads, depth, length].
const Perm kExchangeAndTranspose = {0, 2, 3, 1};

bool SameDim(const Dim& a, const Dim& b) { return a == b && (a.known() || !a.symbol.empty()); }

// Whether `heads` [batch, length, heads, depth] is `whole` [batch, length, heads * depth] cut.
bool IsCut(const Shape& whole, const Shape& heads) {
  if (!whole.has_rank() || !heads.has_rank() || whole.rank() != 3 || heads.rank() != 4) return false;
  if (!whole.dim(2).known() || !heads.dim(2).known() || !heads.dim(3).known()) return false;
  return SameDim(whole.dim(0), heads.dim(0)) && SameDim(whole.dim(1), heads.dim(1)) &&
         whole.dim(2).value == heads.dim(2).value * heads.dim(3).value;
}

bool Transposes(const Graph& g, NodeId node, const Perm& perm) {
  return g.op(node) == OpKind::kTranspose && g.ConstantInts(g.input(node, 1)) == perm;
}

// The only reader of the value, or kNoNode.
NodeId OnlyReader(const Graph& g, ValueId value) {
  if (g.IsOutput(value) || g.IsCaptured(value) || g.uses(value).size() != 1) return kNoNode;
  return g.uses(value)[0].node;
}

// The value whose heads `operand` is; nodes on the way that nobody else reads are absorbed.
ValueId FindWhole(const Graph& g, ValueId operand, const Perm& perm, std::vector<NodeId>& absorbed) {
  const NodeId transpose = g.producer(operand);
  if (!Transposes(g, transpose, perm)) return kNoValue;
  const ValueId heads = g.input(transpose, 0);
  const NodeId reshape = g.producer(heads);
  if (g.op(reshape) != OpKind::kReshape) return kNoValue;
  const ValueId whole = g.input(reshape, 0);
  if (!IsCut(g.shape(whole), g.shape(heads))) return kNoValue;
  if (OnlyReader(g, operand).valid()) {
    absorbed.push_back(transpose);
    if (OnlyReader(g, heads).valid()) absorbed.push_back(reshape);
  }
  return whole;
}

// The reshape that joins the heads of the attention's value; it and what is before it are absorbed.
NodeId FindJoined(const Graph& g, ValueId y, std::vector<NodeId>& absorbed) {
  const NodeId transpose = OnlyReader(g, y);
  if (!transpose.valid() || !Transposes(g, transpose, kExchange)) return kNoNode;
  const ValueId heads = g.output(transpose);
  const NodeId reshape = OnlyReader(g, heads);
  if (!reshape.valid() || g.op(reshape) != OpKind::kReshape || g.input(reshape, 0) != heads) return kNoNode;
  if (!IsCut(g.shape(g.output(reshape)), g.shape(heads))) return kNoNode;
  absorbed.insert(absorbed.end(), {transpose, reshape});
  return reshape;
}

}  // namespace

AttentionHeads FindAttentionHeads(const Graph& g, NodeId attention) {
  AttentionHeads heads;
  const bool transposed = g.node(attention).attributes.Bool("k_transposed", false);
  for (const int i : {0, 1, 2}) {
    const Perm& perm = i == 1 && transposed ? kExchangeAndTranspose : kExchange;
    heads.whole[i] = FindWhole(g, g.input(attention, i), perm, heads.absorbed);
  }
  heads.joined = FindJoined(g, g.output(attention), heads.absorbed);
  return heads;
}

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
