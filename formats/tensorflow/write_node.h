// How each canonical op becomes TensorFlow's: along a row of op_map.h, or as several nodes where no single op says it.
#ifndef HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_
#define HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_

#include "absl/status/status.h"
#include "formats/tensorflow/graph_writer.h"

namespace halftone::graphdef {

// Writes the node, and before it what it needs. The last node has the node's name and outputs. Errors (without the
// node's name): UNIMPLEMENTED says what TensorFlow cannot express; INTERNAL what no exporter may see.
absl::Status WriteNode(GraphWriter& out, NodeId id);

// Those of write_window.cc: convolutions and pools, with their pads and layouts of weights.
absl::Status WriteConv(GraphWriter& out, NodeId id);
absl::Status WritePool(GraphWriter& out, NodeId id);

// The row of the node's spelling if it is one of its op's, else the first.
const OpRow& SpelledRow(const Graph& graph, NodeId id);

// The node's inputs as they are, along a row. Optional inputs must all be there.
absl::Status WriteRow(GraphWriter& out, NodeId id, const OpRow& row);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_WRITE_NODE_H_
