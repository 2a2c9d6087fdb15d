// SPDX-License-Identifier: Apache-2.0
// Shape rules of transposed and deformable convolutions, unpooling, and normalization over some of the dimensions.

#include <algorithm>

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/transposed_window.h"
#include "ir/window.h"

namespace halftone::shape_rules {
namespace {

bool Differ(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; }

// bias: rank 1, one a channel.
absl::Status CheckVector(const Context& c, int index, const Dim& channels) {
  const Shape& vector = c.shape(index);
  if (!vector.has_rank()) return absl::OkStatus();
  if (vector.rank() != 1 || Differ(vector.dim(0), channels)) {
    return Error(InputPort(c.node().op, index, c.num_inputs())->name, " is ", vector.ToString(), ", need [",
                 channels.known() ? absl::StrCat(channels.value) : "channels", "]");
  }
  return absl::OkStatus();
}

// Dimensions that an input of shape arithmetic says; `count` unknown ones where it is not known.
absl::StatusOr<std::vector<Dim>> DimsOf(const Context& c, int index, int count) {
  std::vector<Dim> dims(count);
  const KnownTensor* known = c.known(index);
  if (known == nullptr) return dims;
  const std::string_view name = InputPort(c.node().op, index, c.num_inputs())->name;
  if (static_cast<int>(known->elements.size()) != count || known->floating) {
    return Error(name, " holds ", known->elements.size(), " numbers, need ", count, " integers");
  }
  for (int i = 0; i < count; ++i) {
    const KnownElement& element = known->elements[i];
    if (!element.known) {
      dims[i] = element.symbol.starts_with("?") ? Dim::Unknown() : Dim::Symbol(element.symbol);
      continue;
    }
    if (element.integer < 0 || element.integer > kMaxDim) return Error(name, "[", i, "] is ", element.integer);
    dims[i] = Dim::Of(element.integer);
  }
  return dims;
}

std::vector<Dim> Slice(const std::vector<Dim>& dims, int first, int count) {
  return {dims.begin() + first, dims.begin() + first + count};
}

}  // namespace

// y's whole shape may be an input; else the window says the spatial part, the weights the channels.
Shapes ConvTranspose(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& weights = c.shape(1);
  if (!x.has_rank() && !weights.has_rank()) return std::vector<Shape>{};
  const int rank = x.has_rank() ? x.rank() : weights.rank();
  if (rank < 3) return Error("x has rank ", rank, ", need batch, channel and at least one spatial dimension");
  if (x.has_rank() && weights.has_rank() && weights.rank() != rank)
    return Error("weights ", weights.ToString(), " and x ", x.ToString(), " differ in rank");
  const Shape from = x.has_rank() ? x : Shape::UnknownOfRank(rank);
  const Shape filter = weights.has_rank() ? weights : Shape::UnknownOfRank(rank);
  const std::string layout = c.attributes().String("weights_layout", "IOHW");
  if (layout != "IOHW" && layout != "HWOI") return Error("weights_layout is '", layout, "', need IOHW or HWOI");
  const bool first = layout == "IOHW";
  const Dim inputs = first ? filter.dim(0) : filter.dim(-1), outputs = first ? filter.dim(1) : filter.dim(-2);
  const int64_t group = c.attributes().Int("group", 1);
  if (group < 1) return Error("group is ", group, ", need at least 1");
  const int channel = ChannelAxis(c.attributes(), rank), spatial = FirstSpatialAxis(c.attributes());
  if (Differ(inputs, from.dim(channel)))
    return Error("weights ", weights.ToString(), " (", layout, ") are for ", inputs.value, " channels, x ",
                 x.ToString(), " has ", from.dim(channel).value);
  if (inputs.known() && inputs.value % group != 0)
    return Error(inputs.value, " input channels do not divide into ", group, " groups");
  const Dim channels = outputs.known() && outputs.value <= kMaxDim && group <= (1 << 20)
                           ? Dim::Of(outputs.value * group)
                           : (group == 1 ? outputs : Dim::Unknown());
  HALFTONE_RETURN_IF_ERROR(CheckVector(c, 2, channels));
  Shape y = Shape::UnknownOfRank(rank);
  std::vector<Dim> wanted;
  if (c.has(3)) {
    HALFTONE_ASSIGN_OR_RETURN(wanted, DimsOf(c, 3, rank));
    for (int i = 0; i < rank; ++i) y.mutable_dim(i) = wanted[i];
    if (Differ(wanted[channel], channels))
      return Error("output_shape says ", wanted[channel].value, " channels, the weights make ", channels.value);
    wanted = Slice(wanted, spatial, rank - 2);
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> output,
                            TransposedOutputDims(c.attributes(), Slice(from.dims(), spatial, rank - 2),
                                                 Slice(filter.dims(), first ? 2 : 0, rank - 2), wanted));
  y.mutable_dim(0) = from.dim(0).known() || y.dim(0) == Dim() ? from.dim(0) : y.dim(0);
  if (channels.known() || y.dim(channel) == Dim()) y.mutable_dim(channel) = channels;
  for (int i = 0; i < rank - 2; ++i) y.mutable_dim(spatial + i) = output[i];
  return std::vector<Shape>{std::move(y)};
}

// As a convolution whose taps have moved.
Shapes DeformConv(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& weights = c.shape(1);
  if (!x.has_rank() || !weights.has_rank()) return std::vector<Shape>{};
  const int rank = x.rank();
  if (rank < 3 || weights.rank() != rank)
    return Error("x is ", x.ToString(), " and the weights are ", weights.ToString(),
                 ", need the same rank of 3 or more");
  const int64_t group = c.attributes().Int("group", 1);
  if (group < 1 || (x.dim(1).known() && weights.dim(1).known() &&
                    (x.dim(1).value % group != 0 || x.dim(1).value / group != weights.dim(1).value))) {
    return Error("weights ", weights.ToString(), " do not fit ", group, " groups of x ", x.ToString());
  }
  HALFTONE_RETURN_IF_ERROR(CheckVector(c, 3, weights.dim(0)));
  HALFTONE_ASSIGN_OR_RETURN(
      const std::vector<Dim> output,
      WindowOutputDims(c.attributes(), Slice(x.dims(), 2, rank - 2), Slice(weights.dims(), 2, rank - 2)));
  std::vector<Dim> dims{x.dim(0), weights.dim(0)};
  dims.insert(dims.end(), output.begin(), output.end());
  return std::vector<Shape>{Shape(std::move(dims))};
}

// [n, channels * block size, blocks] -> [n, channels, image_shape...]
Shapes Col2Im(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& image = c.shape(1);
  if (x.has_rank() && x.rank() != 3) return Error("x is ", x.ToString(), ", need rank 3");
  if (!image.has_rank() || image.rank() != 1 || !image.dim(0).known()) return std::vector<Shape>{};
  const int spatial = static_cast<int>(std::min<int64_t>(image.dim(0).value, 64));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> sizes, DimsOf(c, 1, spatial));
  const std::optional<std::vector<int64_t>> block = c.ints(2);
  std::vector<Dim> dims(2);
  if (x.has_rank()) {
    dims[0] = x.dim(0);
    const std::optional<int64_t> taps = block.has_value() ? CheckedProduct(*block) : std::nullopt;
    if (taps.has_value() && *taps > 0 && x.dim(1).known()) {
      if (x.dim(1).value % *taps != 0)
        return Error("x is ", x.ToString(), ": ", x.dim(1).value, " is no multiple of a block's ", *taps, " elements");
      dims[1] = Dim::Of(x.dim(1).value / *taps);
    }
  }
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return std::vector<Shape>{Shape(std::move(dims))};
}

Shapes MaxUnpool(const Context& c) {
  const Shape& x = c.shape(0);
  const std::vector<int64_t> kernel = c.attributes().Ints("kernel");
  if (kernel.empty()) return Error("max_unpool needs its window as attribute 'kernel'");
  const int rank = static_cast<int>(kernel.size()) + 2;
  if (x.has_rank() && x.rank() != rank) return Error("x is ", x.ToString(), ", need rank ", rank);
  if (c.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> dims, DimsOf(c, 2, rank));
    return std::vector<Shape>{Shape(dims)};
  }
  const Shape from = x.has_rank() ? x : Shape::UnknownOfRank(rank);
  std::vector<Dim> window;
  for (const int64_t size : kernel) window.push_back(Dim::Of(size));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> output,
                            TransposedOutputDims(c.attributes(), Slice(from.dims(), 2, rank - 2), window));
  std::vector<Dim> dims{from.dim(0), from.dim(1)};
  dims.insert(dims.end(), output.begin(), output.end());
  return std::vector<Shape>{Shape(std::move(dims))};
}

// y as x; mean and inv_std as x with the normalized dimensions of size 1.
Shapes LayerNorm(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(c.attributes().Int("axis", -1), x.rank()));
  for (int i = 1; i <= 2; ++i) {
    if (!c.shape(i).has_rank()) continue;
    const std::optional<Shape> both = BroadcastShapes(x, c.shape(i));
    if (!both.has_value() || both->rank() != x.rank())
      return Error(InputPort(c.node().op, i, 3)->name, " is ", c.shape(i).ToString(),
                   ", need a shape that broadcasts to x ", x.ToString());
  }
  Shape statistics = x;
  for (int i = axis; i < x.rank(); ++i) statistics.mutable_dim(i) = Dim::Of(1);
  return std::vector<Shape>{x, statistics, statistics};
}

// scale and offset are one a channel; of group_norm with "per_group" one a group.
Shapes ChannelNorm(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  if (x.rank() < 2) return Error("x is ", x.ToString(), ", need at least rank 2");
  Dim channels = x.dim(ChannelAxis(c.attributes(), x.rank()));
  if (c.node().op == OpKind::kGroupNorm) {
    const int64_t groups = c.attributes().Int("num_groups", 1);
    if (groups < 1 || (channels.known() && channels.value % groups != 0))
      return Error("num_groups is ", groups, ", x is ", x.ToString(), ": groups must have equally many channels");
    if (c.attributes().Bool("per_group", false)) channels = Dim::Of(groups);
  }
  HALFTONE_RETURN_IF_ERROR(CheckVector(c, 1, channels));
  HALFTONE_RETURN_IF_ERROR(CheckVector(c, 2, channels));
  return std::vector<Shape>{x};
}

Shapes LpNorm(const Context& c) {
  if (c.shape(0).has_rank()) HALFTONE_RETURN_IF_ERROR(Axis(c.attributes().Int("axis", -1), c.shape(0).rank()).status());
  return std::vector<Shape>{c.shape(0)};
}

Shapes Lrn(const Context& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() < 2)
    return Error("x is ", c.shape(0).ToString(), ", need at least rank 2");
  if (c.attributes().Int("size", 0) < 1) return Error("attribute 'size' is ", c.attributes().Int("size", 0));
  return std::vector<Shape>{c.shape(0)};
}

Shapes MeanVarianceNorm(const Context& c) {
  const Shape& x = c.shape(0);
  if (x.has_rank()) HALFTONE_RETURN_IF_ERROR(AxisMarks(c.attributes().Ints("axes", {0, 2, 3}), x.rank()).status());
  return std::vector<Shape>{x};
}

}  // namespace halftone::shape_rules
