// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/type_variables.h"

namespace halftone {

char InputVariable(const Graph& graph, NodeId node, int index) {
  const OpKind op = graph.op(node);
  if (op == OpKind::kOpaque || op == OpKind::kShape || op == OpKind::kPow) return kData;
  if (op == OpKind::kCast) return 'S';
  const Port* port = InputPort(op, index, static_cast<int>(graph.node(node).inputs.size()));
  return port == nullptr ? kFree : port->type_variable;
}

char OutputVariable(const Graph& graph, NodeId node, int index) {
  const OpKind op = graph.op(node);
  if (op == OpKind::kOpaque) return kData;
  if (op == OpKind::kCast) return kCastResult;
  const Port* port = OutputPort(op, index);
  return port == nullptr ? kFree : port->type_variable;
}

bool IsFloat32(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const char variable = PlannedVariable(node.op);
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid() || InputVariable(graph, id, static_cast<int>(i)) != variable) continue;
    if (graph.type(node.inputs[i]) != DataType::kFloat32) return false;
    any = true;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid() || OutputVariable(graph, id, static_cast<int>(i)) != variable) continue;
    if (graph.type(node.outputs[i]) != DataType::kFloat32) return false;
    any = true;
  }
  return any;
}

}  // namespace halftone
