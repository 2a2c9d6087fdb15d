// SPDX-License-Identifier: Apache-2.0
// Nodes that com.microsoft.MultiHeadAttention replaces: the operator splits and joins the heads itself.
#ifndef HALFTONE_FORMATS_ONNX_INSIDE_ATTENTION_H_
#define HALFTONE_FORMATS_ONNX_INSIDE_ATTENTION_H_

#include <set>

#include "ir/graph.h"

namespace halftone::onnx_format {

// Of all attentions that are spelled as MultiHeadAttention: nodes that need not be written, those that only compute
// their shapes included.
std::set<NodeId> NodesInsideAttention(const Graph& graph);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_INSIDE_ATTENTION_H_
