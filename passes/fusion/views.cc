// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/views.h"

namespace halftone {

bool IsView(const Graph& g, NodeId id) {
  switch (g.op(id)) {
    case OpKind::kReshape:
    case OpKind::kFlatten:
    case OpKind::kSqueeze:
    case OpKind::kUnsqueeze:
      return true;
    default:
      return false;
  }
}

std::optional<int64_t> ElementsAfter(const Shape& shape, int axis) {
  int64_t product = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) {
    if (!shape.dim(i).known()) return std::nullopt;
    const std::optional<int64_t> next = CheckedProduct(std::vector<int64_t>{product, shape.dim(i).value});
    if (!next.has_value()) return std::nullopt;
    product = *next;
  }
  return product;
}

std::optional<int> AxisAfterView(const Graph& g, NodeId view, int axis, int64_t size) {
  const Shape& before = g.shape(g.input(view, 0));
  const Shape& after = g.shape(g.output(view));
  if (!before.has_rank() || !after.has_rank() || axis >= before.rank()) return std::nullopt;
  const std::optional<int64_t> distance = ElementsAfter(before, axis);
  if (!distance.has_value()) return std::nullopt;
  for (int i = after.rank() - 1; i >= 0; --i) {
    const std::optional<int64_t> here = ElementsAfter(after, i);
    if (!here.has_value() || *here > *distance) return std::nullopt;
    if (*here == *distance && after.dim(i).known() && after.dim(i).value == size) return i;
  }
  return std::nullopt;
}

void PutViewLast(GraphEditor& edit, NodeId view, NodeId last) {
  const NodeId copy = edit.Clone(view);
  edit.SetShape(edit.graph().output(copy), edit.graph().shape(edit.graph().output(last)));
  edit.ReplaceNode(last, copy);
}

}  // namespace halftone
