// SPDX-License-Identifier: Apache-2.0
// Export functions of the rows of op_map.cc, where a table is not enough.
#ifndef HALFTONE_FORMATS_ONNX_EXPORT_RULES_H_
#define HALFTONE_FORMATS_ONNX_EXPORT_RULES_H_

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

// The opset that the node needs beyond what its row says.
int DropoutMinOpset(const Graph& graph, const Node& node);
int VariadicMinOpset(const Graph& graph, const Node& node);
int PowMinOpset(const Graph& graph, const Node& node);
int ClipMinOpset(const Graph& graph, const Node& node);
int SoftmaxMinOpset(const Graph& graph, const Node& node);
int MaxPoolMinOpset(const Graph& graph, const Node& node);
int PadMinOpset(const Graph& graph, const Node& node);
int ResizeMinOpset(const Graph& graph, const Node& node);

absl::Status WriteDropout(NodeWriter& writer, NodeId id);
absl::Status WriteGemm(NodeWriter& writer, NodeId id);
absl::Status WriteConv(NodeWriter& writer, NodeId id);
absl::Status WriteMatMul(NodeWriter& writer, NodeId id);
absl::Status WriteSoftmax(NodeWriter& writer, NodeId id);
absl::Status WriteBatchNorm(NodeWriter& writer, NodeId id);
absl::Status WritePad(NodeWriter& writer, NodeId id);
absl::Status WriteCast(NodeWriter& writer, NodeId id);
absl::Status WriteResize(NodeWriter& writer, NodeId id);
absl::Status WriteBiasAdd(NodeWriter& writer, NodeId id);
absl::Status WriteSquaredDifference(NodeWriter& writer, NodeId id);
absl::Status WriteRsqrt(NodeWriter& writer, NodeId id);
absl::Status WriteSquare(NodeWriter& writer, NodeId id);
absl::Status WriteRelu6(NodeWriter& writer, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_EXPORT_RULES_H_
