// SPDX-License-Identifier: Apache-2.0
// The reshapes and transposes around a scaled dot product attention that split heads off and join them again, and its
// mask, as com.microsoft's MultiHeadAttention and Attention want them.
#ifndef HALFTONE_IR_ATTENTION_HEADS_H_
#define HALFTONE_IR_ATTENTION_HEADS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Around one attention.
struct AttentionHeads {
  // Of queries, keys and values: x [batch, length, heads * depth] whose heads the operand is, kNoValue where the graph
  // does not split it off.
  std::array<ValueId, 3> whole = {kNoValue, kNoValue, kNoValue};
  // The node whose value is the attention's with the heads joined, [batch, length, heads * depth]; kNoNode: none is.
  NodeId joined = kNoNode;
  // What the operator computes itself: nodes without other consumers.
  std::vector<NodeId> absorbed;
};
AttentionHeads FindAttentionHeads(const Graph& graph, NodeId attention);

// ONNX Runtime 1.21 wants queries and keys of the mask in full, and heads where it has batches: the dimensions to which
// a mask that is added to scores [batch, heads, queries, keys] is expanded; nullopt where it is so already.
std::optional<std::vector<int64_t>> ExpandedMask(const Shape& mask, const Dim& heads, const Dim& queries,
                                                 const Dim& keys);

}  // namespace halftone

#endif  // HALFTONE_IR_ATTENTION_HEADS_H_
