#include "passes/lowering/split_integer_product.h"

#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/parts.h"

namespace halftone {

absl::Status SplitIntegerProduct::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kMatMulIntegerToFloat) continue;
    const ValueId a_scale = g.input(id, 2), b_scale = g.input(id, 3), bias = g.input(id, 6);
    std::vector<ValueId> operands = {g.input(id, 0), g.input(id, 1), g.input(id, 4), g.input(id, 5)};
    while (!operands.back().valid()) operands.pop_back();
    const DataType type = g.type(g.output(id));
    const Shape shape = g.shape(g.output(id));
    Parts parts(edit, id, GraphFormat::kOnnx);
    const ValueId sums = parts.Apply(OpKind::kMatMulInteger, std::move(operands), {DataType::kInt32, shape, ""});
    const ValueId numbers = parts.Apply(OpKind::kCast, {sums}, {type, shape, ""});
    const std::optional<Shape> scales = BroadcastShapes(g.shape(a_scale), g.shape(b_scale));
    const ValueId scale = parts.Apply(OpKind::kMul, {a_scale, b_scale}, {type, scales.value_or(Shape()), ""});
    ValueId y = parts.Apply(OpKind::kMul, {numbers, scale}, {type, shape, ""});
    if (bias.valid()) y = parts.Apply(OpKind::kAdd, {y, bias}, {type, shape, ""});
    parts.Finish(parts.Activate(y));
  }
  return absl::OkStatus();
}

}  // namespace halftone
