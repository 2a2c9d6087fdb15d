// SPDX-License-Identifier: Apache-2.0
#include "ir/attention_heads.h"

namespace halftone {
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

// The value whose heads `operand` is; nodes on the way without other consumers are absorbed.
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

std::optional<std::vector<int64_t>> ExpandedMask(const Shape& mask, const Dim& heads, const Dim& queries,
                                                 const Dim& keys) {
  const bool of_all_batches = mask.rank() < 4 || mask.dim(0) == Dim::Of(1);
  const bool full = mask.rank() == 4 && mask.dim(2) == queries && mask.dim(3) == keys;
  if (full && (of_all_batches || mask.dim(1) == heads)) return std::nullopt;
  return std::vector<int64_t>{1, of_all_batches ? 1 : heads.value, queries.value, keys.value};
}

}  // namespace halftone
