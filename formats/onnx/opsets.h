// In which opset a graph is written, and what it may hold there of types below f32.
//
// bf16 came to ONNX op by op: most in opset 13, LeakyRelu, Where and control flow in 16, convolutions, pools and
// recurrent ops in 22. Where every node is one that we know, the file is raised to the least opset that has all of
// them; a node kept as it is (of a domain that we do not know, of an operator without a row) or a function of the model
// would perhaps mean something else there, so these pin the opset. What the opset has not, is f32 in the file
// (passes/export/widen_types.h).
#ifndef HALFTONE_FORMATS_ONNX_OPSETS_H_
#define HALFTONE_FORMATS_ONNX_OPSETS_H_

#include <string>

#include "formats/onnx/op_map.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

// The opset that the graph came in; 17 for one that came from no file.
int OwnOpset(const Graph& graph);

// The newest opset in which types below f32 may be written.
struct HighestOpset {
  int opset = 0;
  std::string why;  // why it is not the newest that we write: "node 'magic' (com.acme.Magic) is kept as it is"
};
HighestOpset HighestOpsetOf(const Graph& graph);

// Why the file cannot hold the node with its types below f32; "" where it can.
std::string RefuseTypes(const Graph& graph, NodeId id, const HighestOpset& highest);

// The operator as the file will have it: "Conv", "com.microsoft.Gelu"; of an op that becomes several nodes its own
// name.
std::string OperatorName(const Graph& graph, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OPSETS_H_
