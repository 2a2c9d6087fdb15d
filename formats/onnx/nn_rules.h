// SPDX-License-Identifier: Apache-2.0
// Functions of the rows of rows_nn.cc (pools, normalization, images, detection), where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_NN_RULES_H_
#define HALFTONE_FORMATS_ONNX_NN_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// --- Import: why the node stays opaque, or ""; how it becomes canonical.
std::string_view UpsampleIsOpaque(const NodeInFile& node);
absl::Status FinishUpsample(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishGroupNorm(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishGridSample(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishRoiAlign(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status FinishLayerNorm(const NodeInFile& node, GraphEditor& edit, Node& canonical);
absl::Status KeepDomain(const NodeInFile& node, GraphEditor& edit, Node& canonical);

// --- Export: the opset that the node needs beyond what its row says.
int UpsampleMinOpset(const Graph& graph, const Node& node);
int GroupNormMinOpset(const Graph& graph, const Node& node);
int GridSampleMinOpset(const Graph& graph, const Node& node);
int RoiAlignMinOpset(const Graph& graph, const Node& node);

absl::Status WriteUpsample(NodeWriter& writer, NodeId id);
absl::Status WriteWithKernelShape(NodeWriter& writer, NodeId id);  // of the weights
absl::Status WriteGroupNorm(NodeWriter& writer, NodeId id);
absl::Status WriteGridSample(NodeWriter& writer, NodeId id);
absl::Status WriteLayerNorm(NodeWriter& writer, NodeId id);
absl::Status WriteRmsNorm(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_NN_RULES_H_
