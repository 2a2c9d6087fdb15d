// SPDX-License-Identifier: Apache-2.0
// Shape rules of convolutions, matmuls and the attention that is made of two matmuls.

#include "base/status.h"
#include "ir/shape_rules_internal.h"
#include "ir/window.h"

namespace halftone::shape_rules {
namespace {

// Where a layout of weights keeps what, for weights of a certain rank.
struct WeightDims {
  Dim input;   // channels of one group
  Dim output;  // all output channels
  std::vector<Dim> spatial;
};

Dim Times(const Dim& a, const Dim& b) { return Product({a, b}); }

absl::StatusOr<WeightDims> SplitWeights(const Shape& weights, const std::string& layout) {
  const std::vector<Dim>& dims = weights.dims();
  if (layout == "OIHW") return WeightDims{dims[1], dims[0], {dims.begin() + 2, dims.end()}};
  const std::vector<Dim> spatial(dims.begin(), dims.end() - 2);
  if (layout == "HWIO") return WeightDims{weights.dim(-2), weights.dim(-1), spatial};
  if (layout == "HWCM") return WeightDims{Dim::Of(1), Times(weights.dim(-2), weights.dim(-1)), spatial};
  return Error("weights_layout is '", layout, "', need OIHW, HWIO or HWCM");
}

absl::Status CheckChannels(const Context& c, const Dim& channels, const WeightDims& weights,
                           const std::string& layout) {
  const int64_t group = c.attributes().Int("group", 1);
  if (group < 1) return Error("group is ", group, ", need at least 1");
  const auto fails = [&](const Dim& have, int64_t need) { return have.known() && have.value != need; };
  if (layout == "HWCM") {  // one group a channel, whatever the attribute says
    if (channels.known() && fails(c.shape(1).dim(-2), channels.value)) {
      return Error("weights ", c.shape(1).ToString(), " (HWCM) are for ", c.shape(1).dim(-2).value, " channels, x ",
                   c.shape(0).ToString(), " has ", channels.value);
    }
    return absl::OkStatus();
  }
  if (channels.known() && weights.input.known() &&
      (channels.value % group != 0 || channels.value / group != weights.input.value)) {
    return Error("weights ", c.shape(1).ToString(), " (", layout, ") are for ", weights.input.value,
                 " channels in each of ", group, " groups, x ", c.shape(0).ToString(), " has ", channels.value);
  }
  if (weights.output.known() && weights.output.value % group != 0) {
    return Error(weights.output.value, " output channels do not divide into ", group, " groups");
  }
  return absl::OkStatus();
}

// Those have zero points or scales where others have a bias and a residual.
bool IsOfIntegers(const Context& c) {
  const OpKind op = c.node().op;
  return op == OpKind::kConvInteger || op == OpKind::kMatMulInteger || op == OpKind::kMatMulIntegerToFloat;
}

// bias: rank 1, as long as y's last (or channel) dimension.
absl::Status CheckBias(const Context& c, int index, const Dim& channels) {
  const Shape& bias = c.shape(index);
  if (!bias.has_rank() || IsOfIntegers(c)) return absl::OkStatus();
  if (bias.rank() != 1 || (bias.dim(0).known() && channels.known() && bias.dim(0).value != channels.value)) {
    return Error("bias is ", bias.ToString(), ", need [", channels.known() ? absl::StrCat(channels.value) : "channels",
                 "]");
  }
  return absl::OkStatus();
}

// A convolution's residual has y's shape.
Shapes WithResidual(const Context& c, int index, Shape y) {
  if (!c.has(index) || IsOfIntegers(c)) return std::vector<Shape>{std::move(y)};
  absl::StatusOr<Shape> merged = Merge(y, c.shape(index));
  if (!merged.ok()) return Error("residual is ", c.shape(index).ToString(), ", need y's shape ", y.ToString());
  return std::vector<Shape>{*std::move(merged)};
}

// A matmul's residual broadcasts to y. Where y's dimension is not known, a residual of more than 1 says it.
Shapes WithBroadcastResidual(const Context& c, int index, Shape y) {
  if (!c.has(index) || IsOfIntegers(c)) return std::vector<Shape>{std::move(y)};
  const Shape& residual = c.shape(index);
  HALFTONE_RETURN_IF_ERROR(CheckBroadcastsTo("residual", residual, y));
  for (int i = 1; residual.has_rank() && i <= residual.rank(); ++i) {
    if (!y.dim(-i).known() && residual.dim(-i).value > 1) y.mutable_dim(-i) = residual.dim(-i);
  }
  return std::vector<Shape>{std::move(y)};
}

}  // namespace

Shapes Conv(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& weights = c.shape(1);
  if (!x.has_rank() && !weights.has_rank()) return std::vector<Shape>{};
  const int rank = x.has_rank() ? x.rank() : weights.rank();
  if (rank < 3) return Error("x has rank ", rank, ", need batch, channel and at least one spatial dimension");
  const Shape unknown = Shape::UnknownOfRank(rank);
  const Shape& from = x.has_rank() ? x : unknown;
  if (!weights.has_rank()) {
    Shape y = unknown;
    y.mutable_dim(0) = from.dim(0);
    return WithResidual(c, 3, std::move(y));
  }
  if (weights.rank() != rank) return Error("weights ", weights.ToString(), " and x ", x.ToString(), " differ in rank");
  const std::string layout = c.attributes().String("weights_layout", "OIHW");
  HALFTONE_ASSIGN_OR_RETURN(const WeightDims split, SplitWeights(weights, layout));
  const int channel = ChannelAxis(c.attributes(), rank);
  const int spatial = FirstSpatialAxis(c.attributes());
  HALFTONE_RETURN_IF_ERROR(CheckChannels(c, from.dim(channel), split, layout));
  HALFTONE_RETURN_IF_ERROR(CheckBias(c, 2, split.output));
  HALFTONE_ASSIGN_OR_RETURN(
      const std::vector<Dim> output,
      WindowOutputDims(c.attributes(), std::span(from.dims()).subspan(spatial, rank - 2), split.spatial));
  Shape y = unknown;
  y.mutable_dim(0) = from.dim(0);
  y.mutable_dim(channel) = split.output;
  for (int i = 0; i < rank - 2; ++i) y.mutable_dim(spatial + i) = output[i];
  return WithResidual(c, 3, std::move(y));
}

Shapes MatMul(const Context& c) {
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) return std::vector<Shape>{};
  if (a.rank() == 0 || b.rank() == 0)
    return Error("a is ", a.ToString(), " and b ", b.ToString(), ": a scalar has no product");
  const bool transpose_a = c.attributes().Bool("transpose_a", false) && a.rank() > 1;
  const bool transpose_b = c.attributes().Bool("transpose_b", false) && b.rank() > 1;
  const Dim& k_a = a.rank() == 1 || !transpose_a ? a.dim(-1) : a.dim(-2);
  const Dim& k_b = b.rank() == 1 || transpose_b ? b.dim(-1) : b.dim(-2);
  if (k_a.known() && k_b.known() && k_a.value != k_b.value) {
    return Error("a ", a.ToString(), transpose_a ? " transposed" : "", " and b ", b.ToString(),
                 transpose_b ? " transposed" : "", " do not multiply: ", k_a.value, " against ", k_b.value);
  }
  const auto batch = [](const Shape& s) {
    return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - std::min(s.rank(), 2)));
  };
  const std::optional<Shape> leading = BroadcastShapes(batch(a), batch(b));
  if (!leading.has_value())
    return Error("leading dimensions of a ", a.ToString(), " and b ", b.ToString(), " do not broadcast");
  std::vector<Dim> dims = leading->dims();
  if (a.rank() > 1) dims.push_back(transpose_a ? a.dim(-1) : a.dim(-2));
  if (b.rank() > 1) dims.push_back(transpose_b ? b.dim(-2) : b.dim(-1));
  HALFTONE_RETURN_IF_ERROR(CheckBias(c, 2, dims.empty() ? Dim::Of(1) : dims.back()));
  return WithBroadcastResidual(c, 3, Shape(std::move(dims)));
}

Shapes ScaledDotProductAttention(const Context& c) {
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  for (const Shape* shape : {&q, &k, &v}) {
    if (shape->has_rank() && shape->rank() < 2)
      return Error("q, k and v must have rank 2 or more, one is ", shape->ToString());
  }
  if (!q.has_rank() || !k.has_rank() || !v.has_rank()) return std::vector<Shape>{};
  const bool transposed = c.attributes().Bool("k_transposed", false);
  const Dim &depth = k.dim(transposed ? -2 : -1), &keys = k.dim(transposed ? -1 : -2);
  const auto differ = [](const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; };
  if (differ(q.dim(-1), depth) || differ(v.dim(-2), keys)) {
    return Error("q ", q.ToString(), ", k ", k.ToString(), transposed ? " transposed" : "", " and v ", v.ToString(),
                 " do not multiply");
  }
  const auto leading = [](const Shape& s) { return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - 2)); };
  const std::optional<Shape> scored = BroadcastShapes(leading(q), leading(k));
  const std::optional<Shape> batch = scored.has_value() ? BroadcastShapes(*scored, leading(v)) : std::nullopt;
  if (!batch.has_value()) {
    return Error("leading dimensions of q ", q.ToString(), ", k ", k.ToString(), " and v ", v.ToString(),
                 " do not broadcast");
  }
  std::vector<Dim> score_dims = scored->dims(), y_dims = batch->dims();
  score_dims.insert(score_dims.end(), {q.dim(-2), keys.known() ? keys : v.dim(-2)});
  y_dims.insert(y_dims.end(), {q.dim(-2), v.dim(-1)});
  HALFTONE_RETURN_IF_ERROR(CheckBroadcastsTo("mask", c.shape(3), Shape(std::move(score_dims))));
  return std::vector<Shape>{Shape(std::move(y_dims))};
}

Shapes Gemm(const Context& c) {
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  if ((a.has_rank() && a.rank() != 2) || (b.has_rank() && b.rank() != 2)) {
    return Error("a is ", a.ToString(), " and b ", b.ToString(), ", need two matrices");
  }
  const bool transpose_a = c.attributes().Bool("transpose_a", false);
  const bool transpose_b = c.attributes().Bool("transpose_b", false);
  Shape y = Shape::UnknownOfRank(2);
  if (a.has_rank()) y.mutable_dim(0) = a.dim(transpose_a ? 1 : 0);
  if (b.has_rank()) y.mutable_dim(1) = b.dim(transpose_b ? 0 : 1);
  if (a.has_rank() && b.has_rank()) {
    const Dim& k_a = a.dim(transpose_a ? 0 : 1);
    const Dim& k_b = b.dim(transpose_b ? 1 : 0);
    if (k_a.known() && k_b.known() && k_a.value != k_b.value) {
      return Error("a ", a.ToString(), transpose_a ? " transposed" : "", " and b ", b.ToString(),
                   transpose_b ? " transposed" : "", " do not multiply: ", k_a.value, " against ", k_b.value);
    }
  }
  if (c.shape(2).has_rank()) {
    const std::optional<Shape> sum = BroadcastShapes(y, c.shape(2));
    if (!sum.has_value() || sum->rank() != 2 || (y.fully_known() && sum->fully_known() && *sum != y)) {
      return Error("c is ", c.shape(2).ToString(), ", need a shape that broadcasts to ", y.ToString());
    }
  }
  return std::vector<Shape>{std::move(y)};
}

}  // namespace halftone::shape_rules
