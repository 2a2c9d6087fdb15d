// SPDX-License-Identifier: Apache-2.0
// Shape rules of images and detection: sampling at points, regions, boxes.

#include <limits>

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/window.h"

namespace halftone::shape_rules {
namespace {

// The first dimension of an input of a given rank; `need` says what it should be.
absl::StatusOr<Dim> RowsOf(const Context& c, int index, int rank, int64_t columns, std::string_view need) {
  const Shape& shape = c.shape(index);
  if (!shape.has_rank()) return Dim::Unknown();
  const bool fits = shape.rank() == rank && (columns < 0 || !shape.dim(-1).known() || shape.dim(-1).value == columns);
  if (!fits) {
    return Error(InputPort(c.node().op, index, c.num_inputs())->name, " is ", shape.ToString(), ", need ", need);
  }
  return shape.dim(0);
}

absl::StatusOr<Dim> PositiveAttribute(const Context& c, std::string_view name, int64_t otherwise) {
  const int64_t value = c.attributes().Int(name, otherwise);
  if (value < 1 || value > std::numeric_limits<int32_t>::max())
    return Error("attribute '", name, "' is ", value, ", need at least 1");
  return Dim::Of(value);
}

Dim Merged(const Dim& a, const Dim& b) { return a.known() || !b.known() ? a : b; }

}  // namespace

// [n, c, h, w] -> [n, c b b, h / b, w / b]
Shapes SpaceToDepth(const Context& c) {
  const Shape& x = c.shape(0);
  const int64_t block = c.attributes().Int("block_size", 0);
  if (block < 1 || block > (1 << 15)) return Error("attribute 'block_size' is ", block, ", need at least 1");
  if (!x.has_rank()) return std::vector<Shape>{Shape::UnknownOfRank(4)};
  if (x.rank() != 4) return Error("x is ", x.ToString(), ", need rank 4");
  Shape y = x;
  const int channel = ChannelAxis(c.attributes(), 4), spatial = FirstSpatialAxis(c.attributes());
  Dim& channels = y.mutable_dim(channel);
  if (channels.known() && channels.value > kMaxDim) return Error("x is ", x.ToString());
  if (block > 1) channels = channels.known() ? Dim::Of(channels.value * block * block) : Dim::Unknown();
  for (int i = spatial; i < spatial + 2; ++i) {
    Dim& dim = y.mutable_dim(i);
    if (dim.known() && dim.value % block != 0)
      return Error("x is ", x.ToString(), ": ", dim.value, " is no multiple of block_size ", block);
    if (block > 1) dim = dim.known() ? Dim::Of(dim.value / block) : Dim::Unknown();
  }
  return std::vector<Shape>{std::move(y)};
}

// x [n, c, spatial...], grid [n, out..., spatial rank] -> [n, c, out...]
Shapes GridSample(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& grid = c.shape(1);
  if (!x.has_rank() && !grid.has_rank()) return std::vector<Shape>{};
  const int rank = x.has_rank() ? x.rank() : grid.rank();
  if (rank < 3) return Error("x has rank ", rank, ", need batch, channel and at least one spatial dimension");
  const bool fits =
      !grid.has_rank() || (grid.rank() == rank && (!grid.dim(-1).known() || grid.dim(-1).value == rank - 2));
  if (!fits)
    return Error("grid is ", grid.ToString(), ", x ", x.ToString(), " needs rank ", rank, " with ", rank - 2,
                 " coordinates a point");
  Shape y = Shape::UnknownOfRank(rank);
  if (x.has_rank()) {
    y.mutable_dim(0) = x.dim(0);
    y.mutable_dim(1) = x.dim(1);
  }
  if (grid.has_rank()) {
    const Dim& batch = grid.dim(0);
    if (batch.known() && y.dim(0).known() && batch.value != y.dim(0).value)
      return Error("grid is ", grid.ToString(), ", x ", x.ToString(), ": different numbers of images");
    y.mutable_dim(0) = Merged(y.dim(0), batch);
    for (int i = 2; i < rank; ++i) y.mutable_dim(i) = grid.dim(i - 1);
  }
  return std::vector<Shape>{std::move(y)};
}

// size: the whole shape of the image, [n, c, h, w] or [n, c, d, h, w] -> [n, (d,) h, w, 2 or 3]
Shapes AffineGrid(const Context& c) {
  const Shape& size = c.shape(1);
  const Shape& theta = c.shape(0);
  if (theta.has_rank() && theta.rank() != 3)
    return Error("theta is ", theta.ToString(), ", need [n, 2, 3] or [n, 3, 4]");
  if (!size.has_rank() || size.rank() != 1 || !size.dim(0).known()) return std::vector<Shape>{};
  const int64_t rank = size.dim(0).value;
  if (rank != 4 && rank != 5) return Error("size holds ", rank, " numbers, need 4 or 5");
  const KnownTensor* known = c.known(1);
  std::vector<Dim> dims(rank);
  for (int64_t i = 0; known != nullptr && i < rank && i < static_cast<int64_t>(known->elements.size()); ++i) {
    const KnownElement& element = known->elements[i];
    if (element.known && (element.integer < 0 || element.integer > kMaxDim))
      return Error("size[", i, "] is ", element.integer);
    if (element.known) dims[i] = Dim::Of(element.integer);
    if (!element.known && !element.symbol.starts_with("?")) dims[i] = Dim::Symbol(element.symbol);
  }
  if (theta.has_rank()) dims[0] = Merged(dims[0], theta.dim(0));
  dims.erase(dims.begin() + 1);
  dims.push_back(Dim::Of(rank - 2));
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes RoiAlign(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 4) return Error("x is ", x.ToString(), ", need rank 4");
  HALFTONE_ASSIGN_OR_RETURN(const Dim rois, RowsOf(c, 1, 2, 4, "[rois, 4]"));
  HALFTONE_ASSIGN_OR_RETURN(const Dim indices, RowsOf(c, 2, 1, -1, "[rois]"));
  if (rois.known() && indices.known() && rois.value != indices.value)
    return Error("rois are ", rois.value, ", batch_indices ", indices.value, ": need one each");
  HALFTONE_ASSIGN_OR_RETURN(const Dim height, PositiveAttribute(c, "output_height", 1));
  HALFTONE_ASSIGN_OR_RETURN(const Dim width, PositiveAttribute(c, "output_width", 1));
  return std::vector<Shape>{Shape({Merged(rois, indices), x.has_rank() ? x.dim(1) : Dim::Unknown(), height, width})};
}

Shapes MaxRoiPool(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 4) return Error("x is ", x.ToString(), ", need rank 4");
  HALFTONE_ASSIGN_OR_RETURN(const Dim rois, RowsOf(c, 1, 2, 5, "[rois, 5]"));
  const std::vector<int64_t> size = c.attributes().Ints("pooled_shape");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > kMaxDim || size[1] > kMaxDim)
    return Error("attribute 'pooled_shape' is ", Shape::Of(size).ToString(), ", need two numbers of at least 1");
  return std::vector<Shape>{
      Shape({rois, x.has_rank() ? x.dim(1) : Dim::Unknown(), Dim::Of(size[0]), Dim::Of(size[1])})};
}

Shapes CropAndResize(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 4) return Error("x is ", x.ToString(), ", need rank 4");
  HALFTONE_ASSIGN_OR_RETURN(const Dim boxes, RowsOf(c, 1, 2, 4, "[boxes, 4]"));
  HALFTONE_ASSIGN_OR_RETURN(const Dim indices, RowsOf(c, 2, 1, -1, "[boxes]"));
  if (boxes.known() && indices.known() && boxes.value != indices.value)
    return Error("boxes are ", boxes.value, ", box_indices ", indices.value, ": need one each");
  Shape y({Merged(boxes, indices), Dim::Unknown(), Dim::Unknown(), x.has_rank() ? x.dim(3) : Dim::Unknown()});
  const std::optional<std::vector<int64_t>> size = c.ints(3);
  if (size.has_value()) {
    if (size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1 || (*size)[0] > kMaxDim || (*size)[1] > kMaxDim)
      return Error("crop_size is ", Shape::Of(*size).ToString(), ", need two numbers of at least 1");
    y.mutable_dim(1) = Dim::Of((*size)[0]);
    y.mutable_dim(2) = Dim::Of((*size)[1]);
  }
  return std::vector<Shape>{std::move(y)};
}

// How many boxes are left depends on them. Without batch and classes: boxes [boxes, 4], scores [boxes] -> [m], as
// TensorFlow has it.
Shapes NonMaxSuppression(const Context& c) {
  const Shape& boxes = c.shape(0);
  const Shape& scores = c.shape(1);
  if ((boxes.has_rank() && boxes.rank() == 2) || (scores.has_rank() && scores.rank() == 1)) {
    HALFTONE_ASSIGN_OR_RETURN(const Dim count, RowsOf(c, 0, 2, 4, "[boxes, 4]"));
    HALFTONE_ASSIGN_OR_RETURN(const Dim scored, RowsOf(c, 1, 1, -1, "[boxes]"));
    if (count.known() && scored.known() && count.value != scored.value)
      return Error(count.value, " boxes, but scores of ", scored.value);
    return std::vector<Shape>{Shape::UnknownOfRank(1)};
  }
  if (boxes.has_rank() && (boxes.rank() != 3 || (boxes.dim(2).known() && boxes.dim(2).value != 4)))
    return Error("boxes are ", boxes.ToString(), ", need [batch, boxes, 4]");
  if (scores.has_rank() && scores.rank() != 3)
    return Error("scores are ", scores.ToString(), ", need [batch, classes, boxes]");
  if (boxes.has_rank() && scores.has_rank() && boxes.dim(1).known() && scores.dim(2).known() &&
      boxes.dim(1).value != scores.dim(2).value) {
    return Error(boxes.dim(1).value, " boxes, but scores of ", scores.dim(2).value);
  }
  return std::vector<Shape>{Shape({Dim::Unknown(), Dim::Of(3)})};
}

}  // namespace halftone::shape_rules
