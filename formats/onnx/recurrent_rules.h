// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_recurrent.cc, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_RECURRENT_RULES_H_
#define HALFTONE_FORMATS_ONNX_RECURRENT_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// --- Import. Why the node stays opaque, or "".
std::string_view RandomIsOpaque(const NodeInFile& node);
std::string_view AttentionIsOpaque(const NodeInFile& node);

absl::Status FinishDft(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishWindow(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishRandom(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// Attributes that these functions read.
bool IsReadByRecurrentRule(std::string_view onnx_op, std::string_view attribute);

// --- Export.
int DftMinOpset(const Graph& graph, const Node& node);
int RandomMinOpset(const Graph& graph, const Node& node);

absl::Status WriteWindow(NodeWriter& writer, NodeId id);
absl::Status WriteMelWeightMatrix(NodeWriter& writer, NodeId id);
absl::Status WriteRandom(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_RECURRENT_RULES_H_
