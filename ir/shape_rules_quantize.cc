// SPDX-License-Identifier: Apache-2.0
// Shape rules of quantization and of losses.

#include "base/status.h"
#include "ir/shape_rules_internal.h"

namespace halftone::shape_rules {

// scale: one element, one a position along the axis, or of x's rank, one a block along it.
Shapes Quantize(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& scale = c.shape(1);
  if (!x.has_rank() || !scale.fully_known() || scale.num_elements() == 1) return std::vector<Shape>{x};
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", 1), x.rank()));
  const int64_t block = c.attributes().Int("block_size", 0);
  if (block < 0) return Error("block_size is ", block, ", need at least 0");
  if (scale.rank() != (block == 0 ? 1 : x.rank())) {
    return Error("scale is ", scale.ToString(), ", x ", x.ToString(), block == 0 ? ": need rank 1" : ": need one rank");
  }
  Shape y = x;
  if (block == 0) {
    if (x.dim(axis).known() && x.dim(axis) != scale.dim(0)) {
      return Error("scale is ", scale.ToString(), ", x ", x.ToString(), " has ", x.dim(axis).value,
                   " positions along axis ", axis);
    }
    y.mutable_dim(axis) = scale.dim(0);
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes DynamicQuantize(const Context& c) { return std::vector<Shape>{c.shape(0), Shape::Scalar(), Shape::Scalar()}; }

Shapes Loss(const Context& c) {
  const Shape& scores = c.shape(0);
  const bool none = c.attributes().String("reduction", "mean") == "none";
  if (!none || !scores.has_rank()) return std::vector<Shape>{none ? c.shape(1) : Shape::Scalar(), scores};
  if (scores.rank() < 2) return Error("scores are ", scores.ToString(), ", need at least rank 2");
  std::vector<Dim> dims = scores.dims();
  dims.erase(dims.begin() + 1);
  const Shape losses(std::move(dims));
  const absl::StatusOr<Shape> merged = Merge(losses, c.shape(1));
  if (!merged.ok()) return Error("target is ", c.shape(1).ToString(), ", need ", losses.ToString());
  return std::vector<Shape>{*merged, scores};
}

}  // namespace halftone::shape_rules
