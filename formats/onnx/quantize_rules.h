// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_quantize.cc.
//
// In the graph INT8 is always pairs of quantize_linear and dequantize_linear. An integer operator (QLinearConv) is
// imported as dequantize_linear for its operands, the op in f32 and a quantize_linear with the node's name. It is
// written in the same form unless the QOperator format is asked for.
#ifndef HALFTONE_FORMATS_ONNX_QUANTIZE_RULES_H_
#define HALFTONE_FORMATS_ONNX_QUANTIZE_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// --- Import.
std::string_view QuantizeIsOpaque(const NodeInFile& node);
std::string_view HasChannelsLast(const NodeInFile& node);
absl::Status FinishQLinearConv(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishQLinearMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishQGemm(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishQLinearBinary(const NodeInFile& node, GraphEditor& edit, Node& canonical);  // QLinearAdd, QLinearMul
absl::Status FinishQLinearUnary(const NodeInFile& node, GraphEditor& edit, Node& canonical);   // of x alone: pools, ...
absl::Status FinishQLinearConcat(const NodeInFile& node, GraphEditor& edit, Node& canonical);
// A dynamic_quantize_linear before an integer matmul.
absl::Status FinishDynamicQuantizeMatMul(const NodeInFile& node, GraphEditor& edit, Node& canonical);
// dynamic_lstm.cc
std::string_view DynamicLstmIsOpaque(const NodeInFile& node);
absl::Status FinishDynamicLstm(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// A dynamic_quantize_linear of x: its integers, their scale and zero point.
NodeId AddDynamicQuantize(GraphEditor& edit, ValueId x);
absl::Status FinishQLinearReduceMean(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishQLinearWhere(const NodeInFile& node, GraphEditor& edit, Node& canonical);

bool IsReadByQuantizeRule(std::string_view onnx_op, std::string_view attribute);

// --- Export.
int QuantizeMinOpset(const Graph& graph, const Node& node);
int DequantizeMinOpset(const Graph& graph, const Node& node);
absl::Status WriteQuantize(NodeWriter& writer, NodeId id);
absl::Status WriteConvInteger(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_QUANTIZE_RULES_H_
