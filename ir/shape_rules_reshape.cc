// SPDX-License-Identifier: Apache-2.0
// Shape rules of ops that see the same elements under other dimensions.

#include <algorithm>

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/window.h"

namespace halftone::shape_rules {
namespace {

// A product of dimensions: a number times names of unknown ones. `countable` is false if an unknown one has no name.
struct Factors {
  int64_t number = 1;
  std::vector<std::string> names;
  bool countable = true;

  void Multiply(const Dim& dim) {
    if (dim.known()) {
      if (__builtin_mul_overflow(number, dim.value, &number)) countable = false;
    } else if (dim.symbol.empty()) {
      countable = false;
    } else {
      names.push_back(dim.symbol);
    }
  }
};

// x's dimensions, the unnamed ones under the names that ShapeValues gives them, so that they can be cancelled.
std::vector<Dim> NamedDims(const Context& c) {
  std::vector<Dim> dims = c.shape(0).dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].known() && dims[i].symbol.empty()) dims[i].symbol = UnnamedDimension(c.input(0), static_cast<int>(i));
  }
  return dims;
}

// What -1 stands for: input / target, as far as it can be told.
absl::StatusOr<Dim> InferDimension(const Context& c, Factors input, Factors target) {
  for (size_t i = 0; i < target.names.size();) {
    const auto same = std::find(input.names.begin(), input.names.end(), target.names[i]);
    if (same == input.names.end()) {
      ++i;
      continue;
    }
    input.names.erase(same);
    target.names.erase(target.names.begin() + static_cast<int64_t>(i));
  }
  if (!input.countable || !target.countable || !target.names.empty()) return Dim::Unknown();
  if (target.number == 0) return Error("-1 beside a dimension of 0 can be anything");
  if (input.names.size() == 1 && input.number == target.number) return Dim::Symbol(input.names[0]);
  if (!input.names.empty()) return Dim::Unknown();
  if (input.number % target.number != 0) {
    return Error(c.shape(0).ToString(), " has ", input.number, " elements: no multiple of ", target.number);
  }
  return Dim::Of(input.number / target.number);
}

}  // namespace

Shapes Reshape(const Context& c) {
  const Shape& x = c.shape(0);
  const KnownTensor* target = c.known(1);
  if (target == nullptr || target->floating) {
    const Shape& count = c.shape(1);
    const bool rank_known = count.has_rank() && count.rank() == 1 && count.dim(0).known() && count.dim(0).value <= 64;
    return std::vector<Shape>{rank_known ? Shape::UnknownOfRank(static_cast<int>(count.dim(0).value)) : Shape()};
  }
  const bool zero_copies = !c.attributes().Bool("allowzero", false);
  const std::vector<Dim> from = x.has_rank() ? NamedDims(c) : std::vector<Dim>{};
  std::vector<Dim> dims;
  Factors named;
  int inferred = -1;
  for (size_t i = 0; i < target->elements.size(); ++i) {
    const KnownElement& element = target->elements[i];
    Dim dim = element.known ? Dim::Of(element.integer) : Dim::Symbol(element.symbol);
    if (element.known && element.integer == -1) {
      if (inferred >= 0) return Error("the shape holds -1 twice");
      inferred = static_cast<int>(i);
      dims.push_back(Dim::Unknown());
      continue;
    }
    if (element.known && element.integer < 0) return Error("the shape holds ", element.integer);
    if (element.known && element.integer == 0 && zero_copies) {
      if (x.has_rank() && i >= from.size()) return Error("0 copies dimension ", i, ", x is ", x.ToString());
      dim = x.has_rank() ? from[i] : Dim::Unknown();
    }
    named.Multiply(dim);
    dims.push_back(dim);
  }
  if (x.has_rank()) {
    Factors all;
    for (const Dim& dim : from) all.Multiply(dim);
    if (inferred >= 0) {
      HALFTONE_ASSIGN_OR_RETURN(dims[inferred], InferDimension(c, all, named));
    } else if (all.countable && named.countable && all.names.empty() && named.names.empty() &&
               all.number != named.number) {
      return Error(x.ToString(), " has ", all.number, " elements, the shape ", named.number);
    }
  }
  for (Dim& dim : dims) {
    if (dim.symbol.starts_with('?')) dim.symbol.clear();
  }
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Flatten(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{Shape::UnknownOfRank(2)};
  const int64_t written = c.attributes().Int("axis", 1);
  const int64_t axis = written < 0 ? written + x.rank() : written;
  if (axis < 0 || axis > x.rank()) return Error("axis ", written, " is out of range for x ", x.ToString());
  const std::vector<Dim>& dims = x.dims();
  return std::vector<Shape>{
      Shape({Product({dims.begin(), dims.begin() + axis}), Product({dims.begin() + axis, dims.end()})})};
}

Shapes Transpose(const Context& c) {
  const Shape& x = c.shape(0);
  std::optional<std::vector<int64_t>> perm = c.ints(1);
  if (!perm.has_value() && c.has(1)) {
    return std::vector<Shape>{x.has_rank() ? Shape::UnknownOfRank(x.rank()) : Shape()};
  }
  if (!x.has_rank())
    return std::vector<Shape>{perm.has_value() ? Shape::UnknownOfRank(static_cast<int>(perm->size())) : Shape()};
  if (!perm.has_value()) {  // absent: backwards
    perm.emplace();
    for (int i = x.rank() - 1; i >= 0; --i) perm->push_back(i);
  }
  if (static_cast<int>(perm->size()) != x.rank())
    return Error("perm holds ", perm->size(), " numbers, x is ", x.ToString());
  HALFTONE_RETURN_IF_ERROR(AxisMarks(*perm, x.rank()).status());
  std::vector<Dim> dims;
  for (const int64_t axis : *perm) dims.push_back(x.dim(static_cast<int>(axis)));
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Squeeze(const Context& c) {
  const Shape& x = c.shape(0);
  std::optional<std::vector<int64_t>> axes = c.has(1) ? c.ints(1) : std::vector<int64_t>{};
  if (!x.has_rank() || !axes.has_value()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> marks, AxisMarks(*axes, x.rank()));
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (marks[i] && x.dim(i).known() && x.dim(i).value != 1)
      return Error("dimension ", i, " of x ", x.ToString(), " is not 1");
    if (axes->empty() && !x.dim(i).known()) return std::vector<Shape>{};
    const bool removed = axes->empty() ? x.dim(i).value == 1 : marks[i];
    if (!removed) dims.push_back(x.dim(i));
  }
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Unsqueeze(const Context& c) {
  const Shape& x = c.shape(0);
  const std::optional<std::vector<int64_t>> axes = c.ints(1);
  if (!x.has_rank()) return std::vector<Shape>{};
  if (!axes.has_value()) {
    const std::optional<int64_t> count = c.shape(1).num_elements();
    return std::vector<Shape>{
        count.has_value() && *count <= 64 ? Shape::UnknownOfRank(x.rank() + static_cast<int>(*count)) : Shape()};
  }
  const int rank = x.rank() + static_cast<int>(axes->size());
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> added, AxisMarks(*axes, rank));
  std::vector<Dim> dims;
  int next = 0;
  for (int i = 0; i < rank; ++i) dims.push_back(added[i] ? Dim::Of(1) : x.dim(next++));
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes DepthToSpace(const Context& c) {
  const Shape& x = c.shape(0);
  const int64_t block = c.attributes().Int("block_size", 0);
  if (block < 1 || block > (1 << 15)) return Error("block_size is ", block, ", need at least 1");
  const std::string mode = c.attributes().String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return Error("mode is '", mode, "', need DCR or CRD");
  if (!x.has_rank()) return std::vector<Shape>{Shape::UnknownOfRank(4)};
  if (x.rank() != 4) return Error("x is ", x.ToString(), ", need rank 4");
  Shape y = x;
  Dim& channels = y.mutable_dim(ChannelAxis(c.attributes(), 4));
  if (channels.known() && channels.value % (block * block) != 0) {
    return Error("x ", x.ToString(), " has ", channels.value, " channels: no multiple of ", block * block);
  }
  if (block > 1) channels = channels.known() ? Dim::Of(channels.value / (block * block)) : Dim::Unknown();
  for (int i = 0; i < 2; ++i) {
    Dim& dim = y.mutable_dim(FirstSpatialAxis(c.attributes()) + i);
    dim = Product({dim, Dim::Of(block)});
  }
  return std::vector<Shape>{std::move(y)};
}

}  // namespace halftone::shape_rules
