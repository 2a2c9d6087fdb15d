// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/wide_graph.h"

#include <algorithm>

#include "ir/editor.h"

namespace halftone {

bool IsNarrowFloat(DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }

WideGraph::WideGraph(const Graph& graph) : graph_(graph) {
  GraphEditor edit(graph_);
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (value.valid() && IsNarrowFloat(graph.type(value))) edit.SetType(value, DataType::kFloat32);
    }
  }
}

const Tensor* WideGraph::Widened(ValueId value, const Tensor& tensor) {
  if (!IsNarrowFloat(tensor.type())) return &tensor;
  const auto it = tensors_.find(value);
  if (it != tensors_.end()) return &it->second;
  absl::StatusOr<Tensor> wide = tensor.ConvertTo(DataType::kFloat32);
  if (!wide.ok()) return nullptr;
  return &tensors_.emplace(value, *std::move(wide)).first->second;
}

bool WideGraph::Differs(const Graph& graph, NodeId node) {
  const auto narrow = [&](ValueId value) { return value.valid() && IsNarrowFloat(graph.type(value)); };
  const Node& n = graph.node(node);
  return std::any_of(n.inputs.begin(), n.inputs.end(), narrow) ||
         std::any_of(n.outputs.begin(), n.outputs.end(), narrow);
}

}  // namespace halftone
