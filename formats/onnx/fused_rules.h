// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_fused.cc: for com.microsoft's fused operators, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_FUSED_RULES_H_
#define HALFTONE_FORMATS_ONNX_FUSED_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// --- Import. Why the node stays opaque, or "".
std::string_view FusedConvIsOpaque(const NodeInFile& node);
std::string_view FusedMatMulIsOpaque(const NodeInFile& node);
std::string_view FusedGemmIsOpaque(const NodeInFile& node);
std::string_view MultiHeadAttentionIsOpaque(const NodeInFile& node);

absl::Status FinishFusedConv(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishFusedMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishFusedGemm(const NodeInFile& node, GraphEditor& edit, Node& canonical);
// Reshapes and transposes split the heads of queries, keys and values and join them after the attention.
absl::Status FinishMultiHeadAttention(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// Attributes that these functions read.
bool IsReadByFusedRule(std::string_view onnx_op, std::string_view attribute);

// --- Export. UNIMPLEMENTED where the operator cannot express the node.
absl::Status WriteFusedConv(NodeWriter& writer, NodeId id);
absl::Status WriteFusedGemm(NodeWriter& writer, NodeId id);
absl::Status WriteFusedMatMul(NodeWriter& writer, NodeId id);
absl::Status WriteMultiHeadAttention(NodeWriter& writer, NodeId id);
// gelu, and gelu(x + bias), exact and by tanh: Gelu, FastGelu, BiasGelu.
absl::Status WriteMicrosoftGelu(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_FUSED_RULES_H_
