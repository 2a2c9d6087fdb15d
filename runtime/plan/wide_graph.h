// SPDX-License-Identifier: Apache-2.0
// A graph with f32 where it says f16 or bf16: what a kernel is shown that computes in f32 only. Private to
// runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_WIDE_GRAPH_H_
#define HALFTONE_RUNTIME_PLAN_WIDE_GRAPH_H_

#include <map>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

bool IsNarrowFloat(DataType type);  // f16, bf16: f32 holds every number of it

// Same ids and shapes; tensors of constants keep their type. Not thread-safe while tensors are asked for.
class WideGraph {
 public:
  explicit WideGraph(const Graph& graph);
  const Graph& graph() const { return graph_; }
  // The tensor as the wide graph types it, converted once. `value` is its key.
  const Tensor* Widened(ValueId value, const Tensor& tensor);
  // Whether the two graphs differ in an input or output of this node.
  static bool Differs(const Graph& graph, NodeId node);

 private:
  Graph graph_;
  std::map<ValueId, Tensor> tensors_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_WIDE_GRAPH_H_
