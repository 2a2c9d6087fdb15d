// SPDX-License-Identifier: Apache-2.0
// What a file may hold of types below f32 (f16, bf16): a format's rules, as formats/ gives them to the export pipeline.
#ifndef HALFTONE_IR_FILE_TYPES_H_
#define HALFTONE_IR_FILE_TYPES_H_

#include <functional>
#include <string>

#include "ir/graph.h"

namespace halftone {

// Why a file cannot hold this node with the f16 and bf16 values that it reads and makes ("ONNX's Celu takes no bf16");
// "" where it can, or where the node has none. Asks for the graph's types as they are then.
using TypeRefusal = std::function<std::string(NodeId)>;

// Looks once at the whole graph, which says what the file can be (which opset). The graph must outlive the result; its
// nodes may be edited meanwhile, opaque nodes must stay.
using FileTypes = std::function<TypeRefusal(const Graph&)>;

inline bool IsBelowFloat32(DataType type) { return type == DataType::kBFloat16 || type == DataType::kFloat16; }

// Whether the node reads or makes a value of this type.
inline bool HasType(const Graph& graph, NodeId node, DataType type) {
  for (const std::vector<ValueId>* values : {&graph.node(node).inputs, &graph.node(node).outputs}) {
    for (const ValueId value : *values) {
      if (value.valid() && graph.type(value) == type) return true;
    }
  }
  return false;
}

// "bf16", "f16" or "bf16 and f16": the types below f32 that it reads or makes; "" if it has none.
inline std::string TypesBelowFloat32(const Graph& graph, NodeId node) {
  const bool bf16 = HasType(graph, node, DataType::kBFloat16), f16 = HasType(graph, node, DataType::kFloat16);
  return bf16 && f16 ? "bf16 and f16" : bf16 ? "bf16" : f16 ? "f16" : "";
}

}  // namespace halftone

#endif  // HALFTONE_IR_FILE_TYPES_H_
