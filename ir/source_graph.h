// SPDX-License-Identifier: Apache-2.0
// How a file spelled its nodes before they became canonical ones: ops by name, type attributes, edges by port, in the
// file's order. For planners that decide node by node as the file's framework would. Importers make it (of GraphDefs);
// it is never edited, and a graph whose nodes were edited has none any more (Graph::source).
//
// Ports and types of an op are written in a small language:
//   ports   "T,N*T,Tin[],s32"   comma-separated: of type attribute T; as many of T as attribute N says; one for each
//                               type of the list attribute Tin; of a fixed type (a name of DataTypeName, or "q8",
//                               "qu8", "q16", "qu16", "q32" for quantized ones)
//   types   "T:bh Tidx=s32: Tin[]:b"   the type attributes, separated by spaces: name, "[]" for a list of types,
//                               "=" and the default, ":" and "b" if it may be bfloat16, "h" if it may be float16
#ifndef HALFTONE_IR_SOURCE_GRAPH_H_
#define HALFTONE_IR_SOURCE_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/types.h"

namespace halftone {

// Output `port` of nodes[node].
struct SourceEdge {
  int node = 0;
  int port = 0;
};

// One type of a type attribute. A quantized type (DT_QUINT8) is the plain one (u8) here, and marked.
struct SourceType {
  DataType type = DataType::kUnknown;
  bool quantized = false;
};

// A type attribute of a node as the file has it. What the file leaves out has the op's default.
struct SourceTypes {
  std::string attribute;
  bool is_list = false;
  std::vector<SourceType> types;  // one, or the list's
};

struct SourceNode {
  std::string name;
  std::string op;
  std::string device;
  std::vector<SourceEdge> inputs;  // data inputs
  std::vector<SourceTypes> types;
  std::vector<std::pair<std::string, int64_t>> counts;  // its integer attributes
  NodeId node;                                          // that stands for it; of several the first
  std::vector<ValueId> outputs;                         // its outputs by port; kNoValue where the graph has none
};

// A function of the file's library: nodes may call it by its name as if it were an op.
struct SourceFunction {
  std::string inputs;
  std::string outputs;
  std::string types;
};

struct SourceGraph {
  std::vector<SourceNode> nodes;
  std::map<std::string, SourceFunction, std::less<>> functions;
};

}  // namespace halftone

#endif  // HALFTONE_IR_SOURCE_GRAPH_H_
