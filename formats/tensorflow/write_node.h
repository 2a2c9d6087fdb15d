// SPDX-License-Identifier: Apache-2.0
// How each canonical op becomes TensorFlow's: along a row of op_map.h, or as several nodes where no single op expresses
// it.
#ifndef HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_
#define HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/graph_writer.h"
#include "formats/tensorflow/written_as.h"

namespace halftone::graphdef {

// Writes the node, and before it what it needs. The last node has the node's name and outputs. Errors (without the
// node's name): UNIMPLEMENTED says what TensorFlow cannot express; INTERNAL what no exporter may see.
absl::Status WriteNode(GraphWriter& out, NodeId id);

// All nodes of the writer's graph.
absl::Status WriteNodes(GraphWriter& out);

// Parts of it, by family: write_math.cc, write_move.cc, write_window.cc, write_quantize.cc,
// write_run_ranges.cc.
absl::Status WriteMatMul(GraphWriter& out, NodeId id);
absl::Status WriteGemm(GraphWriter& out, NodeId id);
absl::Status WriteClip(GraphWriter& out, NodeId id);
absl::Status WriteSoftmax(GraphWriter& out, NodeId id);
absl::Status WriteBatchNorm(GraphWriter& out, NodeId id);
absl::Status WriteGlobalPool(GraphWriter& out, NodeId id);
absl::Status WriteReduce(GraphWriter& out, NodeId id);
absl::Status WriteBiasAdd(GraphWriter& out, NodeId id);
absl::Status WriteReshape(GraphWriter& out, NodeId id);
absl::Status WriteFlatten(GraphWriter& out, NodeId id);
absl::Status WriteUnsqueeze(GraphWriter& out, NodeId id);
absl::Status WriteNewResize(GraphWriter& out, NodeId id);
absl::Status WriteConcat(GraphWriter& out, NodeId id);
absl::Status WritePad(GraphWriter& out, NodeId id);
absl::Status WriteSlice(GraphWriter& out, NodeId id);
absl::Status WriteGather(GraphWriter& out, NodeId id);
absl::Status WriteConv(GraphWriter& out, NodeId id);
absl::Status WriteAttention(GraphWriter& out, NodeId id);
absl::Status WritePool(GraphWriter& out, NodeId id);
absl::Status WriteQuantize(GraphWriter& out, NodeId id);
absl::Status WriteDequantize(GraphWriter& out, NodeId id);
absl::Status WriteDynamicQuantize(GraphWriter& out, NodeId id);
absl::Status WriteDequantizeByRun(GraphWriter& out, NodeId id);
absl::Status WriteIntegerProduct(GraphWriter& out, NodeId id);

// The weights of a convolution as TensorFlow's op of that kind has them; UNIMPLEMENTED where they cannot be rearranged.
struct ConvWeights {
  Source source;
  bool depthwise = false;
};
absl::StatusOr<ConvWeights> ArrangeWeights(GraphWriter& out, NodeId id);

// The node's inputs as they are, along a row. Optional inputs must be there or absent as the row says.
absl::Status WriteRow(GraphWriter& out, NodeId id, const OpRow& row);

// UNIMPLEMENTED: "...; TensorFlow has no op for it".
absl::Status Cannot(std::string_view what);

// What the parts share.
Source Int32Const(GraphWriter& out, NodeId id, std::string_view word, const std::vector<int64_t>& values);
AttrValues OneType(DataType type);
bool HasInput(const Node& node, size_t i);
std::optional<int> RankOf(const Graph& graph, ValueId value);
// Input `i` of the node is made by a helper that is written with the node: that one's id.
NodeId HelperOf(const GraphWriter& out, NodeId id, int i);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_
