// SPDX-License-Identifier: Apache-2.0
// Shape rules of ops that repeat, cut and join: expand, tile, split, stack, strided_slice, range, blocks.

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/strided_slice.h"

namespace halftone::shape_rules {
namespace {

// A dimension that an element of a shape tensor says. Error: negative or too large.
absl::StatusOr<Dim> DimOf(const KnownElement& element, std::string_view tensor = "the shape") {
  if (!element.known) return element.symbol.starts_with('?') ? Dim::Unknown() : Dim::Symbol(element.symbol);
  if (element.integer < 0 || element.integer > kMaxDim) return Error(tensor, " holds ", element.integer);
  return Dim::Of(element.integer);
}

// The number of elements of a vector, if it is known and small.
std::optional<int> Length(const Shape& shape) {
  const bool known = shape.has_rank() && shape.rank() == 1 && shape.dim(0).known() && shape.dim(0).value <= 64;
  return known ? std::optional<int>(static_cast<int>(shape.dim(0).value)) : std::nullopt;
}

}  // namespace

Shapes Expand(const Context& c) {
  const Shape& x = c.shape(0);
  const KnownTensor* shape = c.known(1);
  if (shape == nullptr || shape->floating) {
    const std::optional<int> length = Length(c.shape(1));
    if (!length.has_value() || !x.has_rank()) return std::vector<Shape>{};
    return std::vector<Shape>{Shape::UnknownOfRank(std::max(*length, x.rank()))};
  }
  std::vector<Dim> dims;
  for (const KnownElement& element : shape->elements) {
    HALFTONE_ASSIGN_OR_RETURN(dims.emplace_back(), DimOf(element));
  }
  const Shape asked(std::move(dims));
  const std::optional<Shape> y = BroadcastShapes(x, asked);
  if (!y.has_value()) return Error("x ", x.ToString(), " and the shape ", asked.ToString(), " do not broadcast");
  return std::vector<Shape>{*y};
}

Shapes Tile(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    const std::optional<int> length = Length(c.shape(1));
    return std::vector<Shape>{length.has_value() ? Shape::UnknownOfRank(*length) : Shape()};
  }
  const KnownTensor* repeats = c.known(1);
  if (repeats == nullptr || repeats->floating) return std::vector<Shape>{Shape::UnknownOfRank(x.rank())};
  if (static_cast<int>(repeats->elements.size()) != x.rank()) {
    return Error("repeats holds ", repeats->elements.size(), " numbers, x is ", x.ToString());
  }
  Shape y = x;
  for (int i = 0; i < x.rank(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const Dim repeat, DimOf(repeats->elements[i], "repeats"));
    y.mutable_dim(i) = Product({x.dim(i), repeat});
  }
  return std::vector<Shape>{std::move(y)};
}

namespace {

absl::Status FillSizes(const std::vector<int64_t>& sizes, const Dim& whole, std::vector<Dim>& parts) {
  if (sizes.size() != parts.size())
    return Error("sizes holds ", sizes.size(), " numbers for ", parts.size(), " outputs");
  int64_t sum = 0;
  int inferred = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && inferred < 0) {
      inferred = static_cast<int>(i);
    } else if (sizes[i] < 0 || sizes[i] > kMaxDim) {
      return Error("sizes holds ", sizes[i]);
    } else {
      sum += sizes[i];
      parts[i] = Dim::Of(sizes[i]);
    }
  }
  if (!whole.known()) return absl::OkStatus();
  if (inferred < 0 ? sum != whole.value : sum > whole.value)
    return Error("sizes sum up to ", sum, ", need ", whole.value);
  if (inferred >= 0) parts[inferred] = Dim::Of(whole.value - sum);
  return absl::OkStatus();
}

}  // namespace

Shapes Split(const Context& c) {
  const Shape& x = c.shape(0);
  const size_t count = c.node().outputs.size();
  if (!x.has_rank()) return std::vector<Shape>{};
  int64_t written = 0;
  if (c.has(2)) {
    const std::optional<std::vector<int64_t>> given = c.ints(2);
    if (!given.has_value()) return std::vector<Shape>(count, Shape::UnknownOfRank(x.rank()));
    if (given->size() != 1) return Error("axis holds ", given->size(), " numbers, need one");
    written = (*given)[0];
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, x.rank()));
  const Dim& whole = x.dim(axis);
  std::vector<Dim> parts(count);
  if (c.has(1)) {
    const std::optional<std::vector<int64_t>> sizes = c.ints(1);
    if (sizes.has_value()) HALFTONE_RETURN_IF_ERROR(FillSizes(*sizes, whole, parts));
  } else if (count == 1) {
    parts[0] = whole;
  } else if (whole.known() && count > 1) {
    const int64_t outputs = static_cast<int64_t>(count), part = (whole.value + outputs - 1) / outputs;
    const int64_t last = whole.value - part * (outputs - 1);
    if (last < 0) return Error(whole.value, " elements cannot be split into ", count, " parts");
    parts.assign(count, Dim::Of(part));
    parts.back() = Dim::Of(last);
  }
  std::vector<Shape> shapes;
  for (Dim& part : parts) {
    shapes.push_back(x);
    shapes.back().mutable_dim(axis) = std::move(part);
  }
  return shapes;
}

Shapes Stack(const Context& c) {
  Shape y;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const absl::StatusOr<Shape> merged = Merge(y, c.shape(i));
    if (!merged.ok()) return Error("input ", i, " is ", c.shape(i).ToString(), ", others ", y.ToString());
    y = *merged;
  }
  if (!y.has_rank()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", 0), y.rank() + 1));
  std::vector<Dim> dims = y.dims();
  dims.insert(dims.begin() + axis, Dim::Of(c.num_inputs()));
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Unstack(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", 0), x.rank()));
  const size_t count = c.node().outputs.size();
  if (x.dim(axis).known() && x.dim(axis).value != static_cast<int64_t>(count)) {
    return Error("x ", x.ToString(), " has ", x.dim(axis).value, " slices along axis ", axis, ", the node ", count,
                 " outputs");
  }
  std::vector<Dim> dims = x.dims();
  dims.erase(dims.begin() + axis);
  return std::vector<Shape>(count, Shape(std::move(dims)));
}

namespace {

// Length of what begin, end and stride leave of a dimension.
absl::StatusOr<Dim> StridedDim(const StridedSliceEntry& entry, const Dim& dim, const KnownElement& begin,
                               const KnownElement& end, const KnownElement& stride) {
  const bool begins_at_0 = entry.begin_masked || (begin.known && begin.integer == 0);
  if (!entry.shrink && begins_at_0 && entry.end_masked && stride.known && stride.integer == 1) return dim;
  const bool all =
      stride.known && (entry.begin_masked || begin.known) && (entry.end_masked || end.known || entry.shrink);
  if (all && dim.known()) {
    HALFTONE_ASSIGN_OR_RETURN(const SliceRange range,
                              RangeOf(entry, dim.value, begin.integer, end.integer, stride.integer));
    return Dim::Of(range.size);
  }
  // x[0:N] and x[k:k+n] of an unknown dimension may be cut short: nothing is sure.
  return Dim::Unknown();
}

}  // namespace

Shapes StridedSlice(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  const KnownTensor* lists[3] = {c.known(1), c.known(2), c.known(3)};
  std::optional<int> count;
  for (int i = 0; i < 3; ++i) {
    std::optional<int> length = Length(c.shape(i + 1));
    if (lists[i] != nullptr) length = static_cast<int>(lists[i]->elements.size());
    if (length.has_value() && count.has_value() && *length != *count) {
      return Error("begin, end and strides hold ", *count, " and ", *length, " numbers: need the same");
    }
    if (length.has_value()) count = length;
  }
  if (!count.has_value()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StridedSliceEntry> entries,
                            StridedSliceEntries(c.attributes(), *count, x.rank()));
  const KnownElement unknown;
  const auto element = [&](int list, int i) -> const KnownElement& {
    return lists[list] == nullptr || lists[list]->floating ? unknown : lists[list]->elements[i];
  };
  std::vector<Dim> dims;
  for (const StridedSliceEntry& entry : entries) {
    Dim dim = entry.dim >= 0 ? x.dim(entry.dim) : Dim::Of(1);
    if (entry.index >= 0 && !entry.shrink) {
      HALFTONE_ASSIGN_OR_RETURN(
          dim, StridedDim(entry, dim, element(0, entry.index), element(1, entry.index), element(2, entry.index)));
    } else if (entry.shrink && dim.known() && element(0, entry.index).known && element(2, entry.index).known) {
      HALFTONE_RETURN_IF_ERROR(
          RangeOf(entry, dim.value, element(0, entry.index).integer, 0, element(2, entry.index).integer).status());
    }
    if (!entry.shrink) dims.push_back(std::move(dim));
  }
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes Range(const Context& c) {
  const KnownTensor* numbers[3] = {c.known(0), c.known(1), c.known(2)};
  for (const KnownTensor* number : numbers) {
    if (number == nullptr || number->elements.size() != 1) return std::vector<Shape>{Shape::UnknownOfRank(1)};
  }
  const KnownElement& start = numbers[0]->elements[0];
  const KnownElement& limit = numbers[1]->elements[0];
  const KnownElement& delta = numbers[2]->elements[0];
  const bool floating = numbers[0]->floating;
  if (start.known && limit.known && delta.known) {
    if (floating ? delta.real == 0 : delta.integer == 0) return Error("delta is 0");
    if (floating) {
      const double count = std::ceil((limit.real - start.real) / delta.real);
      if (!(count < static_cast<double>(kMaxDim))) return Error("a range of ", count, " numbers is too large");
      return std::vector<Shape>{Shape::Of({count > 0 ? static_cast<int64_t>(count) : 0})};
    }
    const bool empty = delta.integer > 0 ? start.integer >= limit.integer : start.integer <= limit.integer;
    const uint64_t from = static_cast<uint64_t>(start.integer), to = static_cast<uint64_t>(limit.integer);
    const uint64_t step = static_cast<uint64_t>(delta.integer);
    const uint64_t count = empty               ? 0
                           : delta.integer > 0 ? (to - from - 1) / step + 1
                                               : (from - to - 1) / (uint64_t{0} - step) + 1;
    if (count > static_cast<uint64_t>(kMaxDim)) return Error("a range of ", count, " numbers is too large");
    return std::vector<Shape>{Shape::Of({static_cast<int64_t>(count)})};
  }
  // range(0, N, 1) has N elements.
  const bool from_0_by_1 = !floating && start.known && start.integer == 0 && delta.known && delta.integer == 1;
  if (from_0_by_1 && !limit.symbol.empty() && !limit.symbol.starts_with('?')) {
    return std::vector<Shape>{Shape({Dim::Symbol(limit.symbol)})};
  }
  return std::vector<Shape>{Shape::UnknownOfRank(1)};
}

Shapes LinSpace(const Context& c) {
  const KnownTensor* counts = c.known(2);
  if (counts == nullptr || counts->elements.size() != 1) return std::vector<Shape>{Shape::UnknownOfRank(1)};
  const KnownElement& count = counts->elements[0];
  if (!count.known) return std::vector<Shape>{Shape::UnknownOfRank(1)};
  if (count.integer < 1 || count.integer > kMaxDim) return Error("count is ", count.integer, ", need 1 to ", kMaxDim);
  return std::vector<Shape>{Shape::Of({count.integer})};
}

Shapes Reverse(const Context& c) {
  const Shape& x = c.shape(0);
  const std::optional<std::vector<int64_t>> axes = c.ints(1);
  if (x.has_rank() && axes.has_value()) HALFTONE_RETURN_IF_ERROR(AxisMarks(*axes, x.rank()).status());
  return std::vector<Shape>{x};
}

Shapes ReverseSequence(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank()) {
    HALFTONE_ASSIGN_OR_RETURN(const int batch, Axis(c.attributes().Int("batch_axis", 1), x.rank()));
    HALFTONE_ASSIGN_OR_RETURN(const int time, Axis(c.attributes().Int("time_axis", 0), x.rank()));
    if (batch == time) return Error("batch_axis and time_axis are both ", batch);
  }
  return std::vector<Shape>{x};
}

Shapes SpaceBatch(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  const std::optional<std::vector<int64_t>> blocks = c.ints(1), pads = c.ints(2);
  const bool to_batch = c.node().op == OpKind::kSpaceToBatch;
  if (!blocks.has_value() || !pads.has_value()) return std::vector<Shape>{Shape::UnknownOfRank(x.rank())};
  const size_t count = blocks->size();
  if (count + 1 > x.dims().size() || pads->size() != 2 * count) {
    return Error("block_shape holds ", count, " numbers, pads ", pads->size(), ", x is ", x.ToString());
  }
  Shape y = x;
  std::vector<Dim> batch{x.dim(0)};
  int64_t product = 1;
  for (size_t i = 0; i < count; ++i) {
    const int64_t block = (*blocks)[i], begin = (*pads)[2 * i], end = (*pads)[2 * i + 1];
    if (block < 1 || __builtin_mul_overflow(product, block, &product) || product > kMaxDim) {
      return Error("block_shape holds ", block);
    }
    if (std::min(begin, end) < 0 || std::max(begin, end) > kMaxDim) return Error("pads holds ", begin, " and ", end);
    Dim& dim = y.mutable_dim(static_cast<int>(i) + 1);
    if (!dim.known()) {
      if (block != 1 || begin + end != 0) dim = Dim::Unknown();
      continue;
    }
    int64_t size = 0;
    if (to_batch ? dim.value > kMaxDim || (dim.value + begin + end) % block != 0
                 : __builtin_mul_overflow(dim.value, block, &size) || size - begin - end < 0) {
      return Error("dimension ", i + 1, " of x ", x.ToString(), " with ", begin, " and ", end,
                   " does not fit blocks of ", block);
    }
    dim = Dim::Of(to_batch ? (dim.value + begin + end) / block : size - begin - end);
  }
  Dim& first = y.mutable_dim(0);
  if (to_batch) {
    first = Product({first, Dim::Of(product)});
  } else if (first.known()) {
    if (first.value % product != 0) return Error("the batch is ", first.value, ": no multiple of ", product);
    first = Dim::Of(first.value / product);
  } else if (product != 1) {
    first = Dim::Unknown();
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes CenterCropPad(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  std::vector<int64_t> axes = c.attributes().Ints("axes");
  if (!c.attributes().has("axes")) {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  HALFTONE_RETURN_IF_ERROR(AxisMarks(axes, x.rank()).status());
  const KnownTensor* shape = c.known(1);
  if (shape != nullptr && shape->elements.size() != axes.size()) {
    return Error("shape holds ", shape->elements.size(), " numbers for ", axes.size(), " axes");
  }
  Shape y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim dim;
    if (shape != nullptr && !shape->floating) {
      HALFTONE_ASSIGN_OR_RETURN(dim, DimOf(shape->elements[i]));
    }
    y.mutable_dim(static_cast<int>(axes[i] < 0 ? axes[i] + x.rank() : axes[i])) = dim;
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes DynamicStitch(const Context& c) {
  const int count = c.num_inputs() / 2;
  if (c.num_inputs() % 2 != 0) return Error("it has ", c.num_inputs(), " inputs, need as many indices as data");
  for (int k = 0; k < count; ++k) {
    const Shape& indices = c.shape(k);
    const Shape& data = c.shape(count + k);
    if (!indices.has_rank() || !data.has_rank()) continue;
    if (data.rank() < indices.rank())
      return Error("data ", k, " is ", data.ToString(), ", its indices ", indices.ToString());
    std::vector<Dim> dims(data.dims().begin() + indices.rank(), data.dims().end());
    dims.insert(dims.begin(), Dim::Unknown());
    int64_t rows = 0;
    for (int i = 0; i < count && rows >= 0; ++i) {
      const std::optional<std::vector<int64_t>> known = c.ints(i);
      if (!known.has_value()) {
        rows = -1;
        break;
      }
      for (const int64_t index : *known) rows = std::max(rows, std::min(index, kMaxDim) + 1);
    }
    if (rows >= 0) dims[0] = Dim::Of(rows);
    return std::vector<Shape>{Shape(std::move(dims))};
  }
  return std::vector<Shape>{};
}

Shapes DynamicPartition(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& partitions = c.shape(1);
  if (!x.has_rank() || !partitions.has_rank()) return std::vector<Shape>{};
  if (partitions.rank() > x.rank()) return Error("partitions is ", partitions.ToString(), ", x ", x.ToString());
  std::vector<Dim> dims(x.dims().begin() + partitions.rank(), x.dims().end());
  dims.insert(dims.begin(), Dim::Unknown());
  return std::vector<Shape>(c.node().outputs.size(), Shape(std::move(dims)));
}

}  // namespace halftone::shape_rules
