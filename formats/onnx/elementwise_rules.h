// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_elementwise.cc, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_ELEMENTWISE_RULES_H_
#define HALFTONE_FORMATS_ONNX_ELEMENTWISE_RULES_H_

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// --- Import.
// Sum, Max and Min of two operands are add, maximum and minimum; of any other number add_n, max_n and min_n.
absl::Status FinishVariadic(const NodeInFile& node, GraphEditor& edit, Node& canonical);
// com.microsoft's gelus of x + bias: an add, then a gelu.
absl::Status FinishFastGelu(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishBiasGelu(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishQuickGelu(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// --- Export.
int EqualMinOpset(const Graph& graph, const Node& node);
int CompareMinOpset(const Graph& graph, const Node& node);
int PReluMinOpset(const Graph& graph, const Node& node);
int GeluMinOpset(const Graph& graph, const Node& node);

absl::Status WriteGelu(NodeWriter& writer, NodeId id);
absl::Status WriteSwish(NodeWriter& writer, NodeId id);
absl::Status WriteQuickGelu(NodeWriter& writer, NodeId id);
absl::Status WriteFillLike(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_ELEMENTWISE_RULES_H_
