// SPDX-License-Identifier: Apache-2.0
// Shape rules of pooling, reductions and resize.

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/window.h"

namespace halftone::shape_rules {

Shapes Pool(const Context& c) {
  const Shape& x = c.shape(0);
  const std::vector<int64_t> kernel = c.attributes().Ints("kernel");
  if (kernel.empty()) return Error("a pool needs its window as attribute 'kernel'");
  const int spatial_rank = static_cast<int>(kernel.size());
  if (x.has_rank() && x.rank() != spatial_rank + 2) {
    return Error("x is ", x.ToString(), ", a window of ", spatial_rank, " dimensions needs rank ", spatial_rank + 2);
  }
  const Shape unknown = Shape::UnknownOfRank(spatial_rank + 2);
  Shape y = x.has_rank() ? x : unknown;
  std::vector<Dim> window;
  for (const int64_t size : kernel) window.push_back(Dim::Of(size));
  const int spatial = FirstSpatialAxis(c.attributes());
  HALFTONE_ASSIGN_OR_RETURN(
      const std::vector<Dim> output,
      WindowOutputDims(c.attributes(), std::span(y.dims()).subspan(spatial, spatial_rank), window));
  for (int i = 0; i < spatial_rank; ++i) y.mutable_dim(spatial + i) = output[i];
  return std::vector<Shape>{y, y};
}

Shapes GlobalPool(const Context& c) {
  Shape y = c.shape(0);
  if (!y.has_rank()) return std::vector<Shape>{};
  if (y.rank() < 3) return Error("x is ", y.ToString(), ", need batch, channel and at least one spatial dimension");
  const int spatial = FirstSpatialAxis(c.attributes());
  for (int i = 0; i < y.rank() - 2; ++i) y.mutable_dim(spatial + i) = Dim::Of(1);
  return std::vector<Shape>{std::move(y)};
}

Shapes Reduce(const Context& c) {
  const Shape& x = c.shape(0);
  const bool keepdims = c.attributes().Bool("keepdims", true);
  if (!x.has_rank()) return std::vector<Shape>{};
  std::vector<bool> reduced(x.rank(), false);
  if (c.has(1)) {
    const std::optional<std::vector<int64_t>> axes = c.ints(1);
    if (!axes.has_value()) return std::vector<Shape>{keepdims ? Shape::UnknownOfRank(x.rank()) : Shape()};
    HALFTONE_ASSIGN_OR_RETURN(reduced, AxisMarks(*axes, x.rank()));
  }
  if (std::find(reduced.begin(), reduced.end(), true) == reduced.end()) {
    // No axes are all axes, unless the attribute says none.
    reduced.assign(x.rank(), !c.attributes().Bool("noop_with_empty_axes", false));
  }
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) dims.push_back(x.dim(i));
    if (reduced[i] && keepdims) dims.push_back(Dim::Of(1));
  }
  return std::vector<Shape>{Shape(std::move(dims))};
}

namespace {

// Sizes under a policy that keeps the ratio of the dimensions: one scale for all of them.
absl::Status KeepAspectRatio(const Shape& x, const std::vector<int>& axes, const std::string& policy,
                             std::vector<Dim>& sizes) {
  if (policy == "stretch") return absl::OkStatus();
  if (policy != "not_larger" && policy != "not_smaller") {
    return Error("keep_aspect_ratio_policy is '", policy, "', need stretch, not_larger or not_smaller");
  }
  float scale = 0;
  bool known = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = x.dim(axes[i]);
    known = known && dim.value > 0 && sizes[i].known();
    const float here = static_cast<float>(sizes[i].value) / static_cast<float>(dim.value);
    if (i == 0) scale = here;
    scale = policy == "not_larger" ? std::min(scale, here) : std::max(scale, here);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const float size = std::floor(scale * static_cast<float>(x.dim(axes[i]).value) + 0.5f);
    sizes[i] = known && size < 1e15f ? Dim::Of(static_cast<int64_t>(size)) : Dim::Unknown();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> ResizeAxes(const Context& c, int rank) {
  std::vector<int64_t> written = c.attributes().Ints("axes");
  if (written.empty()) {
    for (int i = 0; i < rank; ++i) written.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(written, rank).status());
  std::vector<int> axes;
  for (const int64_t axis : written) axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  return axes;
}

// Whether input `i` is there and not an empty tensor, which counts as absent.
bool IsGiven(const Context& c, int i) {
  if (!c.has(i)) return false;
  const Shape& shape = c.shape(i);
  return !(shape.has_rank() && shape.rank() == 1 && shape.dim(0).value == 0);
}

}  // namespace

Shapes Resize(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int> axes, ResizeAxes(c, x.rank()));
  const bool by_sizes = IsGiven(c, 3);
  if (!by_sizes && !IsGiven(c, 2)) return Error("resize needs scales or sizes");
  const KnownTensor* target = c.known(by_sizes ? 3 : 2);
  if (target == nullptr) return std::vector<Shape>{Shape::UnknownOfRank(x.rank())};
  if (target->elements.size() != axes.size() || target->floating == by_sizes) {
    return Error(by_sizes ? "sizes" : "scales", " holds ", target->elements.size(), " numbers, need ", axes.size());
  }
  std::vector<Dim> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const KnownElement& element = target->elements[i];
    const Dim& dim = x.dim(axes[i]);
    if (!element.known) {
      sizes.push_back(Dim::Unknown());
    } else if (by_sizes) {
      if (element.integer < 0 || element.integer > kMaxDim) return Error("sizes[", i, "] is ", element.integer);
      sizes.push_back(Dim::Of(element.integer));
    } else {
      if (!(element.real > 0)) return Error("scales[", i, "] is ", element.real, ", need more than 0");
      if (!dim.known()) {
        sizes.push_back(element.real == 1 ? dim : Dim::Unknown());
        continue;
      }
      // In f32, as runtimes multiply.
      const float size = std::floor(static_cast<float>(element.real) * static_cast<float>(dim.value));
      if (!(size < 1e14f))
        return Error("scales[", i, "] is ", element.real, " over ", dim.value, " elements: too large");
      sizes.push_back(Dim::Of(static_cast<int64_t>(size)));
    }
  }
  if (by_sizes) {
    HALFTONE_RETURN_IF_ERROR(
        KeepAspectRatio(x, axes, c.attributes().String("keep_aspect_ratio_policy", "stretch"), sizes));
  }
  Shape y = x;
  for (size_t i = 0; i < axes.size(); ++i) y.mutable_dim(axes[i]) = sizes[i];
  return std::vector<Shape>{std::move(y)};
}

}  // namespace halftone::shape_rules
