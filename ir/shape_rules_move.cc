// SPDX-License-Identifier: Apache-2.0
// Shape rules of concat, pad, slice and shape.

#include <algorithm>
#include <limits>

#include "base/status.h"
#include "ir/shape_rules_internal.h"

namespace halftone::shape_rules {

Shapes Concat(const Context& c) {
  const int count = c.num_inputs() - 1;
  if (count < 1) return Error("concat needs at least one tensor and the axis");
  int rank = -1;
  for (int i = 0; i < count; ++i) {
    const Shape& shape = c.shape(i);
    if (!shape.has_rank()) continue;
    if (rank >= 0 && shape.rank() != rank)
      return Error("input ", i, " is ", shape.ToString(), ", others have rank ", rank);
    rank = shape.rank();
  }
  const std::optional<std::vector<int64_t>> axis_input = c.ints(count);
  if (rank < 0) return std::vector<Shape>{};
  if (!axis_input.has_value()) return std::vector<Shape>{Shape::UnknownOfRank(rank)};
  if (axis_input->size() != 1) return Error("axis holds ", axis_input->size(), " numbers, need one");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis((*axis_input)[0], rank));
  Shape y;
  Dim sum = Dim::Of(0);
  for (int i = 0; i < count; ++i) {
    Shape shape = c.shape(i).has_rank() ? c.shape(i) : Shape::UnknownOfRank(rank);
    Dim& along = shape.mutable_dim(axis);
    if (sum.value == 0) {
      sum = along;
    } else if (sum.known() && along.known()) {
      if (sum.value > kMaxDim || along.value > kMaxDim) return Error("the sum along axis ", axis, " is too large");
      sum.value += along.value;
    } else if (along.value != 0) {
      sum = Dim::Unknown();
    }
    along = Dim::Unknown();
    const absl::StatusOr<Shape> merged = Merge(y, shape);
    if (!merged.ok())
      return Error("input ", i, " is ", c.shape(i).ToString(), ", which does not fit ", c.shape(0).ToString(),
                   " along axis ", axis);
    y = *merged;
  }
  y.mutable_dim(axis) = sum;
  return std::vector<Shape>{std::move(y)};
}

Shapes Pad(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  const std::string mode = c.attributes().String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "symmetric" && mode != "edge" && mode != "wrap") {
    return Error("mode is '", mode, "', need constant, reflect, symmetric, edge or wrap");
  }
  const KnownTensor* pads = c.known(1);
  std::optional<std::vector<int64_t>> axes;
  if (c.has(3)) {
    axes = c.ints(3);
  } else {
    axes.emplace();
    for (int i = 0; i < x.rank(); ++i) axes->push_back(i);
  }
  if (pads == nullptr || pads->floating || !axes.has_value()) return std::vector<Shape>{Shape::UnknownOfRank(x.rank())};
  HALFTONE_RETURN_IF_ERROR(AxisMarks(*axes, x.rank()).status());
  const size_t count = axes->size();
  const bool pairs = pads->dims.size() == 2;  // (begin, end) a dimension
  if (pads->elements.size() != 2 * count || (pairs && pads->dims[1] != 2)) {
    return Error("pads holds ", pads->elements.size(), " numbers, need ", 2 * count, " for x ", x.ToString());
  }
  Shape y = x;
  for (size_t i = 0; i < count; ++i) {
    const KnownElement& begin = pads->elements[pairs ? 2 * i : i];
    const KnownElement& end = pads->elements[pairs ? 2 * i + 1 : i + count];
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + x.rank() : (*axes)[i];
    Dim& dim = y.mutable_dim(static_cast<int>(axis));
    if (!begin.known || !end.known) {
      dim = Dim::Unknown();
      continue;
    }
    if (std::max({begin.integer, end.integer, dim.value}) > kMaxDim ||
        std::min(begin.integer, end.integer) < -kMaxDim) {
      return Error("pads of ", begin.integer, " and ", end.integer, " for x ", x.ToString(), " are too large");
    }
    if (begin.integer + end.integer == 0) continue;
    if (!dim.known()) {
      dim = Dim::Unknown();
    } else if (dim.value + begin.integer + end.integer < 0) {
      return Error("pads of ", begin.integer, " and ", end.integer, " leave less than nothing of dimension ", axis,
                   " of x ", x.ToString());
    } else {
      dim = Dim::Of(dim.value + begin.integer + end.integer);
    }
  }
  return std::vector<Shape>{std::move(y)};
}

namespace {

// Length of dim[start:end:step], as numpy counts.
absl::StatusOr<Dim> SliceDim(const Dim& dim, const KnownElement& start, const KnownElement& end,
                             const KnownElement& step) {
  if (!start.known || !end.known || !step.known) return Dim::Unknown();
  if (step.integer == 0) return Error("a step of 0");
  if (!dim.known()) {
    const bool whole = start.integer == 0 && end.integer >= std::numeric_limits<int32_t>::max() && step.integer == 1;
    return whole ? dim : Dim::Unknown();
  }
  const int64_t size = dim.value;
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += size;
    return step.integer > 0 ? std::clamp<int64_t>(i, 0, size)
                            : std::clamp<int64_t>(i, -1, std::max<int64_t>(size - 1, -1));
  };
  const int64_t from = clamp(start.integer), to = clamp(end.integer);
  const int64_t distance = step.integer > 0 ? to - from : from - to;
  if (distance <= 0) return Dim::Of(0);
  const uint64_t stride = step.integer > 0 ? static_cast<uint64_t>(step.integer) : -static_cast<uint64_t>(step.integer);
  return Dim::Of(static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1));
}

}  // namespace

Shapes Slice(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  const KnownTensor* starts = c.known(1);
  const KnownTensor* ends = c.known(2);
  const KnownTensor* steps = c.known(4);
  std::vector<int64_t> axes;
  if (c.has(3)) {
    const std::optional<std::vector<int64_t>> given = c.ints(3);
    if (!given.has_value()) return std::vector<Shape>{Shape::UnknownOfRank(x.rank())};
    axes = *given;
  } else {
    const std::optional<int64_t> by_shape = c.shape(1).num_elements();
    const int64_t count =
        starts != nullptr ? static_cast<int64_t>(starts->elements.size()) : by_shape.value_or(x.rank());
    for (int64_t i = 0; i < std::min<int64_t>(count, x.rank() + 1); ++i) axes.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, x.rank()).status());
  for (const KnownTensor* list : {starts, ends, steps}) {
    if (list != nullptr && (list->elements.size() != axes.size() || list->floating)) {
      return Error("starts, ends and steps must hold as many integers as there are axes (", axes.size(),
                   "), one holds ", list->elements.size());
    }
  }
  const KnownElement unknown;
  const KnownElement one{.known = true, .integer = 1};
  Shape y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const KnownElement& step = steps != nullptr ? steps->elements[i] : c.has(4) ? unknown : one;
    HALFTONE_ASSIGN_OR_RETURN(y.mutable_dim(axis),
                              SliceDim(x.dim(axis), starts != nullptr ? starts->elements[i] : unknown,
                                       ends != nullptr ? ends->elements[i] : unknown, step));
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes ShapeOf(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{Shape::UnknownOfRank(1)};
  const int64_t rank = x.rank();
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(c.attributes().Int("start", 0));
  const int64_t end = clamp(c.attributes().Int("end", rank));
  return std::vector<Shape>{Shape::Of({std::max<int64_t>(end - start, 0)})};
}

}  // namespace halftone::shape_rules
