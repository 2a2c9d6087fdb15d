// SPDX-License-Identifier: Apache-2.0
// Shape rules of ops that read, write, find and accumulate by index.

#include <algorithm>

#include "base/status.h"
#include "ir/shape_rules_internal.h"

namespace halftone::shape_rules {
namespace {

// The one integer of an input; nullopt if it is not known. Error: not one number.
absl::StatusOr<std::optional<int64_t>> OneInt(const Context& c, int input, std::string_view name) {
  const std::optional<std::vector<int64_t>> given = c.ints(input);
  if (!given.has_value()) return std::optional<int64_t>();
  if (given->size() != 1) return Error(name, " holds ", given->size(), " numbers, need one");
  return std::optional<int64_t>((*given)[0]);
}

// Dimension i of both, which must be the same where known.
absl::StatusOr<Dim> SameDim(const Dim& a, const Dim& b, std::string_view what) {
  if (a.known() && b.known() && a.value != b.value) return Error(what, ": ", a.value, " against ", b.value);
  return a.known() || (!b.known() && !a.symbol.empty()) ? a : b;
}

Shapes Same(const Shape& shape) { return std::vector<Shape>{shape}; }
Shapes Unknown() { return std::vector<Shape>{}; }

}  // namespace

Shapes Gather(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  if (!x.has_rank() || !indices.has_rank()) return Unknown();
  if (x.rank() == 0) return Error("x is a scalar: nothing to gather from");
  int64_t batch_dims = c.attributes().Int("batch_dims", 0);
  if (batch_dims < 0) batch_dims += indices.rank();
  if (batch_dims < 0 || batch_dims > std::min(indices.rank(), x.rank() - 1)) {
    return Error("batch_dims is ", c.attributes().Int("batch_dims", 0), ", x ", x.ToString(), ", indices ",
                 indices.ToString());
  }
  int64_t written = 0;
  if (c.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::optional<int64_t> given, OneInt(c, 2, "axis"));
    if (!given.has_value()) {
      return Same(Shape::UnknownOfRank(x.rank() - 1 + indices.rank() - static_cast<int>(batch_dims)));
    }
    written = *given;
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, x.rank()));
  if (batch_dims > axis) return Error("batch_dims is ", batch_dims, ", axis ", axis);
  std::vector<Dim> dims(x.dims().begin(), x.dims().begin() + axis);
  for (int i = 0; i < batch_dims; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(dims[i], SameDim(x.dim(i), indices.dim(i), "x and indices differ in a batch dimension"));
  }
  dims.insert(dims.end(), indices.dims().begin() + batch_dims, indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  return Same(Shape(std::move(dims)));
}

Shapes GatherElements(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  if (x.has_rank()) {
    HALFTONE_RETURN_IF_ERROR(Axis(c.attributes().Int("axis", 0), x.rank()).status());
    if (indices.has_rank() && indices.rank() != x.rank()) {
      return Error("indices is ", indices.ToString(), ", x ", x.ToString(), ": need one rank");
    }
    if (!indices.has_rank()) return Same(Shape::UnknownOfRank(x.rank()));
  }
  return Same(indices);
}

Shapes GatherNd(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  const int64_t batch_dims = c.attributes().Int("batch_dims", 0);
  if (!x.has_rank() || !indices.has_rank()) return Unknown();
  if (indices.rank() < 1) return Error("indices is a scalar, need rank 1 at least");
  if (batch_dims < 0 || batch_dims >= indices.rank() || batch_dims > x.rank()) {
    return Error("batch_dims is ", batch_dims, ", x ", x.ToString(), ", indices ", indices.ToString());
  }
  const Dim& length = indices.dim(-1);
  if (!length.known()) return Unknown();
  if (length.value > x.rank() - batch_dims) {
    return Error("indices has tuples of ", length.value, ", x ", x.ToString(), " has ", x.rank() - batch_dims,
                 " dimensions for them");
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = 0; i < batch_dims; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(dims[i], SameDim(x.dim(i), indices.dim(i), "x and indices differ in a batch dimension"));
  }
  dims.insert(dims.end(), x.dims().begin() + batch_dims + length.value, x.dims().end());
  return Same(Shape(std::move(dims)));
}

Shapes ScatterElements(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank()) {
    HALFTONE_RETURN_IF_ERROR(Axis(c.attributes().Int("axis", 0), x.rank()).status());
    for (const int i : {1, 2}) {
      if (c.shape(i).has_rank() && c.shape(i).rank() != x.rank()) {
        return Error(i == 1 ? "indices" : "updates", " is ", c.shape(i).ToString(), ", x ", x.ToString(),
                     ": need one rank");
      }
    }
  }
  if (!Merge(c.shape(1), c.shape(2)).ok()) {
    return Error("updates is ", c.shape(2).ToString(), ", indices ", c.shape(1).ToString(), ": need the same");
  }
  return Same(x);
}

namespace {

// updates is indices without its last dimension, then the dimensions of x that no index names.
absl::Status CheckUpdates(const Shape& x, const Shape& indices, const Shape& updates) {
  if (!indices.has_rank()) return absl::OkStatus();
  if (indices.rank() < 1) return Error("indices is a scalar, need rank 1 at least");
  const Dim& length = indices.dim(-1);
  if (!length.known() || !x.has_rank()) return absl::OkStatus();
  if (length.value > x.rank()) {
    return Error("indices has tuples of ", length.value, ", x ", x.ToString(), " has ", x.rank(), " dimensions");
  }
  std::vector<Dim> expected(indices.dims().begin(), indices.dims().end() - 1);
  expected.insert(expected.end(), x.dims().begin() + length.value, x.dims().end());
  const Shape shape(std::move(expected));
  if (Merge(shape, updates).ok()) return absl::OkStatus();
  return Error("updates is ", updates.ToString(), ", need ", shape.ToString());
}

// The shape that an input's elements say; of unknown dimensions where only their number is known.
absl::StatusOr<Shape> WrittenShape(const Context& c, int input) {
  const KnownTensor* known = c.known(input);
  if (known == nullptr || known->floating) {
    const Shape& count = c.shape(input);
    const bool rank_known = count.has_rank() && count.rank() == 1 && count.dim(0).known() && count.dim(0).value <= 64;
    return rank_known ? Shape::UnknownOfRank(static_cast<int>(count.dim(0).value)) : Shape();
  }
  std::vector<Dim> dims;
  for (const KnownElement& element : known->elements) {
    if (element.known && (element.integer < 0 || element.integer > kMaxDim)) {
      return Error("the shape holds ", element.integer);
    }
    dims.push_back(element.known                     ? Dim::Of(element.integer)
                   : element.symbol.starts_with('?') ? Dim::Unknown()
                                                     : Dim::Symbol(element.symbol));
  }
  return Shape(std::move(dims));
}

}  // namespace

Shapes ScatterNd(const Context& c) {
  HALFTONE_RETURN_IF_ERROR(CheckUpdates(c.shape(0), c.shape(1), c.shape(2)));
  return Same(c.shape(0));
}

Shapes ScatterNdNew(const Context& c) {
  HALFTONE_ASSIGN_OR_RETURN(const Shape y, WrittenShape(c, 2));
  HALFTONE_RETURN_IF_ERROR(CheckUpdates(y, c.shape(0), c.shape(1)));
  return Same(y);
}

Shapes Fill(const Context& c) {
  HALFTONE_ASSIGN_OR_RETURN(const Shape y, WrittenShape(c, 0));
  return Same(y);
}

Shapes OneHot(const Context& c) {
  const Shape& indices = c.shape(0);
  if (!indices.has_rank()) return Unknown();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", -1), indices.rank() + 1));
  const KnownTensor* depth = c.known(1);
  Dim dim;
  if (depth != nullptr && depth->elements.size() == 1) {
    const KnownElement& element = depth->elements[0];
    const int64_t number = depth->floating ? static_cast<int64_t>(element.real) : element.integer;
    if (element.known && (number < 0 || number > kMaxDim)) return Error("depth is ", number);
    if (element.known) dim = Dim::Of(number);
    if (!element.known && !element.symbol.starts_with('?')) dim = Dim::Symbol(element.symbol);
  }
  std::vector<Dim> dims = indices.dims();
  dims.insert(dims.begin() + axis, dim);
  return Same(Shape(std::move(dims)));
}

Shapes ArgMaxMin(const Context& c) {
  const Shape& x = c.shape(0);
  const bool keepdims = c.attributes().Bool("keepdims", true);
  if (!x.has_rank()) return Unknown();
  if (x.rank() == 0) return Same(x);
  int64_t written = 0;
  if (c.has(1)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::optional<int64_t> given, OneInt(c, 1, "axis"));
    if (!given.has_value()) return Same(Shape::UnknownOfRank(keepdims ? x.rank() : x.rank() - 1));
    written = *given;
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, x.rank()));
  std::vector<Dim> dims = x.dims();
  dims[axis] = Dim::Of(1);
  if (!keepdims) dims.erase(dims.begin() + axis);
  return Same(Shape(std::move(dims)));
}

Shapes TopK(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return Unknown();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", -1), x.rank()));
  HALFTONE_ASSIGN_OR_RETURN(const std::optional<int64_t> k, OneInt(c, 1, "k"));
  Shape y = x;
  Dim& dim = y.mutable_dim(axis);
  if (k.has_value() && (*k < 0 || (dim.known() && *k > dim.value))) {
    return Error("k is ", *k, ", x is ", x.ToString(), " with ", dim.known() ? dim.value : 0, " along axis ", axis);
  }
  dim = k.has_value() ? Dim::Of(*k) : Dim::Unknown();
  return std::vector<Shape>{y, y};
}

Shapes NonZero(const Context& c) {
  const Shape& x = c.shape(0);
  const Dim rank = x.has_rank() ? Dim::Of(x.rank()) : Dim::Unknown();
  if (c.attributes().Bool("rows", false)) return Same(Shape({Dim::Unknown(), rank}));
  return Same(Shape({rank, Dim::Unknown()}));
}

Shapes Unique(const Context& c) {
  const Shape& x = c.shape(0);
  Shape y = Shape::UnknownOfRank(1);
  Dim slices = x.has_rank() ? Product(x.dims()) : Dim::Unknown();
  if (c.attributes().has("axis")) {
    y = x;
    slices = Dim::Unknown();
    if (x.has_rank()) {
      HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", 0), x.rank()));
      slices = x.dim(axis);
      y.mutable_dim(axis) = Dim::Unknown();
    }
  }
  return std::vector<Shape>{y, Shape::UnknownOfRank(1), Shape({slices}), Shape::UnknownOfRank(1)};
}

Shapes Compress(const Context& c) {
  if (!c.attributes().has("axis")) return Same(Shape::UnknownOfRank(1));
  Shape y = c.shape(0);
  if (!y.has_rank()) return Unknown();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", 0), y.rank()));
  y.mutable_dim(axis) = Dim::Unknown();
  return Same(y);
}

// Cumulative sums and products.
Shapes AlongAxis(const Context& c) {
  const Shape& x = c.shape(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, OneInt(c, 1, "axis"));
  if (axis.has_value() && x.has_rank()) HALFTONE_RETURN_IF_ERROR(Axis(*axis, x.rank()).status());
  return Same(x);
}

Shapes SizeOrRank(const Context&) { return Same(Shape::Scalar()); }

// trilu, matrix_band_part, eye_like
Shapes OfMatrices(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank() && (x.rank() < 2 || (c.node().op == OpKind::kEyeLike && x.rank() > 2))) {
    return Error("x is ", x.ToString(), ", need rank 2", c.node().op == OpKind::kEyeLike ? "" : " at least");
  }
  return Same(x);
}

}  // namespace halftone::shape_rules
