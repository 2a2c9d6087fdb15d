// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_tensor.cc: ops that move, index and reduce, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_TENSOR_RULES_H_
#define HALFTONE_FORMATS_ONNX_TENSOR_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// Why the node stays opaque, or "".
std::string_view FillIsOpaque(const NodeInFile& node);

absl::Status FinishTopK(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishSplit(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishFill(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// The opset that the node needs beyond what its row says.
int ReduceMinMaxMinOpset(const Graph& graph, const Node& node);
int ScatterMinOpset(const Graph& graph, const Node& node);
int GatherNdMinOpset(const Graph& graph, const Node& node);

absl::Status WriteSplit(NodeWriter& writer, NodeId id);
absl::Status WriteScatterElements(NodeWriter& writer, NodeId id);
absl::Status WriteEyeLike(NodeWriter& writer, NodeId id);
absl::Status WriteFill(NodeWriter& writer, NodeId id);

// Attributes that the functions above read.
bool IsReadByTensorRule(std::string_view onnx_op, std::string_view attribute);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_TENSOR_RULES_H_
