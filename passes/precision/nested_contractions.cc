// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/nested_contractions.h"

#include "ir/nested.h"

namespace halftone {
namespace {

bool IsFloatContraction(const Graph& graph, NodeId id) {
  const OpGroup group = Info(graph.op(id)).group;
  const ValueId x = graph.input(id, 0);
  return (group == OpGroup::kContraction || group == OpGroup::kRecurrent) && x.valid() &&
         graph.type(x) == DataType::kFloat32;
}

}  // namespace

NestedContractions CountNestedContractions(const Graph& graph) {
  NestedContractions result;
  for (const Graph* part : WithNested(graph)) {
    for (const NodeId id : part->nodes()) {
      if (!IsFloatContraction(*part, id)) continue;
      ++result.all;
      if (part == &graph) continue;
      if (result.nested++ == 0) result.first = part->Label(id);
    }
  }
  return result;
}

}  // namespace halftone
