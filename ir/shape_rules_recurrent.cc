// SPDX-License-Identifier: Apache-2.0
// Shape rules of recurrent ops, einsum, det and attention.

#include "base/status.h"
#include "ir/attention.h"
#include "ir/einsum.h"
#include "ir/recurrent.h"
#include "ir/shape_rules_internal.h"

namespace halftone::shape_rules {
namespace {

std::vector<Shape> InputShapes(const Context& c) {
  std::vector<Shape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) shapes.push_back(c.has(i) ? c.shape(i) : Shape());
  return shapes;
}

}  // namespace

Shapes Recurrent(const Context& c) {
  HALFTONE_ASSIGN_OR_RETURN(const RecurrentOptions options, ResolveRecurrent(c.node().op, c.attributes()));
  HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(options, c.attributes(), InputShapes(c)));
  const Dim directions = Dim::Of(options.directions());
  const Shape state = options.batch_first ? Shape({sizes.batch, directions, sizes.hidden})
                                          : Shape({directions, sizes.batch, sizes.hidden});
  const Shape y = options.batch_first ? Shape({sizes.batch, sizes.steps, directions, sizes.hidden})
                                      : Shape({sizes.steps, directions, sizes.batch, sizes.hidden});
  return std::vector<Shape>{y, state, state};
}

Shapes Einsum(const Context& c) {
  std::vector<int> ranks;
  const std::vector<Shape> shapes = InputShapes(c);
  for (const Shape& shape : shapes) {
    if (!shape.has_rank()) return std::vector<Shape>{};
    ranks.push_back(shape.rank());
  }
  HALFTONE_ASSIGN_OR_RETURN(const EinsumPlan plan, ParseEinsum(c.attributes().String("equation", ""), ranks));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> sizes, EinsumSizes(plan, shapes));
  std::vector<Dim> dims;
  for (const int index : plan.output) dims.push_back(sizes[index]);
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Det(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  const bool square = x.rank() >= 2 && (!x.dim(-1).known() || !x.dim(-2).known() || x.dim(-1) == x.dim(-2));
  if (!square) return Error("x is ", x.ToString(), ", need square matrices in the last two dimensions");
  return std::vector<Shape>{Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2))};
}

Shapes Attention(const Context& c) {
  HALFTONE_ASSIGN_OR_RETURN(const AttentionSizes sizes, SizesOfAttention(c.attributes(), InputShapes(c)));
  const Shape y({sizes.batch, sizes.steps, sizes.value_hidden});
  Dim head = Dim::Unknown();
  if (sizes.value_hidden.known()) head = Dim::Of(sizes.value_hidden.value / sizes.heads);
  return std::vector<Shape>{y, Shape({Dim::Of(2), sizes.batch, Dim::Of(sizes.heads), sizes.total, head})};
}

Shapes SkipLayerNorm(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  if (x.rank() < 1) return Error("x is a scalar");
  const std::optional<Shape> sum = BroadcastShapes(x, c.shape(1));
  if (c.shape(1).has_rank() && (!sum.has_value() || sum->rank() != x.rank())) {
    return Error("skip is ", c.shape(1).ToString(), ", which does not broadcast to x ", x.ToString());
  }
  for (const int i : {2, 3, 4}) {
    if (!c.has(i) || !c.shape(i).has_rank()) continue;
    const Shape& vector = c.shape(i);
    const bool fits =
        vector.rank() == 1 && (!vector.dim(0).known() || !x.dim(-1).known() || vector.dim(0) == x.dim(-1));
    if (!fits) return Error("input ", i, " is ", vector.ToString(), ", need a vector as long as x's last dimension");
  }
  Shape statistics = x;
  statistics.mutable_dim(-1) = Dim::Of(1);
  return std::vector<Shape>{x, statistics, statistics, x};
}

}  // namespace halftone::shape_rules
