// The reshapes and transposes around a scaled dot product attention that split heads off and join them again.
// com.microsoft.MultiHeadAttention does both itself: where they are in the graph, they need not be written.
#ifndef HALFTONE_FORMATS_ONNX_ATTENTION_HEADS_H_
#define HALFTONE_FORMATS_ONNX_ATTENTION_HEADS_H_

#include <array>
#include <set>
#include <vector>

#include "ir/graph.h"

namespace halftone::onnx_format {

// Around one attention.
struct AttentionHeads {
  // Of queries, keys and values: x [batch, length, heads * depth] whose heads the operand is, kNoValue where the graph
  // does not split it off.
  std::array<ValueId, 3> whole = {kNoValue, kNoValue, kNoValue};
  // The node whose value is the attention's with the heads joined, [batch, length, heads * depth]; kNoNode: none is.
  NodeId joined = kNoNode;
  // What the operator does of this: nodes that nobody else needs.
  std::vector<NodeId> absorbed;
};
AttentionHeads FindAttentionHeads(const Graph& graph, NodeId attention);

// Of all attentions that are spelled as MultiHeadAttention: nodes that need not be written, those that only compute
// their shapes included.
std::set<NodeId> NodesInsideAttention(const Graph& graph);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_ATTENTION_HEADS_H_
