// SPDX-License-Identifier: Apache-2.0
// In which opset a graph is written, and which types below f32 it may have there.
//
// bf16 came to ONNX op by op: most in opset 13, LeakyRelu, Where and control flow in 16, convolutions, pools and
// recurrent ops in 22. Where all operators are known, the file is raised to the lowest opset that has all of them. A
// node that is passed through unchanged (of an unknown domain, of an operator without a row) or a function of the model
// might mean something else there: these pin the opset. Values whose type the opset lacks are f32 in the file
// (passes/export/widen_types.h).
#ifndef HALFTONE_FORMATS_ONNX_OPSETS_H_
#define HALFTONE_FORMATS_ONNX_OPSETS_H_

#include <string>

#include "formats/onnx/op_map.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

// The opset of the imported model; 17 for a graph that was not imported.
int OwnOpset(const Graph& graph);

// The newest opset in which types below f32 may be written.
struct HighestOpset {
  int opset = 0;
  std::string why;  // why it is not kMaxOpset: "node 'magic' (com.acme.Magic) is passed through unchanged"
};
HighestOpset HighestOpsetOf(const Graph& graph);

// Why the file cannot hold the node with its types below f32; "" where it can.
std::string RefuseTypes(const Graph& graph, NodeId id, const HighestOpset& highest);

// The operator as which the node is written: "Conv", "com.microsoft.Gelu"; the canonical name of an op that becomes
// several nodes.
std::string OperatorName(const Graph& graph, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OPSETS_H_
