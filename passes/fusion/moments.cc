// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/moments.h"

#include <algorithm>
#include <utility>

#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/views.h"

namespace halftone {
namespace {

// value = x^exponent, of x's shape
std::optional<WithNumber> PowerOf(const Graph& g, ValueId value, double exponent) {
  auto power = NumberOperand(g, value, OpKind::kPow, /*swap=*/false);
  if (power.has_value() && (power->number != exponent || g.shape(power->x) != g.shape(value))) power.reset();
  return power;
}

// value = variance + epsilon, of its shape
std::optional<Deviation> ReadSum(const Graph& g, ValueId value) {
  const auto sum = NumberOperand(g, value, OpKind::kAdd);
  if (!sum.has_value() || g.shape(sum->x) != g.shape(value)) return std::nullopt;
  return Deviation{sum->x, sum->number, kNoValue, {sum->node}};
}

std::optional<Deviation> Prepended(NodeId node, std::optional<Deviation> inner) {
  if (inner.has_value()) inner->nodes.insert(inner->nodes.begin(), node);
  return inner;
}

std::optional<Deviation> ReadInverse(const Graph& g, ValueId value) {
  const NodeId node = g.producer(value);
  const auto [a, b] = g.inputs<2>(node);
  if (g.op(node) == OpKind::kRsqrt && a.valid()) return Prepended(node, ReadSum(g, a));
  if (g.op(node) == OpKind::kReciprocal && a.valid()) return Prepended(node, ReadRoot(g, a));
  if (g.op(node) == OpKind::kDiv && a.valid() && b.valid() && g.ConstantScalar(a) == 1.0 &&
      g.shape(b) == g.shape(value))
    return Prepended(node, ReadRoot(g, b));
  const std::optional<WithNumber> power = PowerOf(g, value, -0.5);
  return power.has_value() ? Prepended(node, ReadSum(g, power->x)) : std::nullopt;
}

// The axes of a mean with kept dimensions, ascending; empty if it is a different op or the axes are unknown.
std::vector<int64_t> MeanAxes(const Graph& g, NodeId mean) {
  if (g.op(mean) != OpKind::kReduceMean || !g.node(mean).attributes.Bool("keepdims", true)) return {};
  const Shape& shape = g.shape(g.input(mean, 0));
  const ValueId axes = g.input(mean, 1);
  if (!shape.has_rank() || !axes.valid()) return {};
  std::vector<int64_t> numbers = g.ConstantInts(axes).value_or(std::vector<int64_t>());
  for (int64_t& axis : numbers) axis += axis < 0 ? shape.rank() : 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// The value whose square is `value`; kNoValue if `value` is not a square.
ValueId RootOf(const Graph& g, ValueId value) {
  const NodeId node = g.producer(value);
  if (g.op(node) == OpKind::kSquare) return g.input(node, 0);
  if (g.op(node) == OpKind::kMul && g.input(node, 0) == g.input(node, 1)) return g.input(node, 0);
  const std::optional<WithNumber> power = PowerOf(g, value, 2);
  return power.has_value() ? power->x : kNoValue;
}

// The nodes that compute `square` = (x - mean)^2; empty if it is computed differently.
std::vector<NodeId> SquareNodes(const Graph& g, ValueId square, ValueId x, ValueId mean) {
  const NodeId node = g.producer(square);
  const auto [a, b] = g.inputs<2>(node);
  if (g.op(node) == OpKind::kSquaredDifference)
    return (a == x && b == mean) || (a == mean && b == x) ? std::vector{node} : std::vector<NodeId>();
  const ValueId root = RootOf(g, square);
  if (!root.valid() || g.op(root) != OpKind::kSub) return {};
  const NodeId sub = g.producer(root);
  if (g.input(sub, 0) != x || g.input(sub, 1) != mean) return {};
  return {node, sub};
}

// Whether every element of `value` is `number`.
bool IsFilledWith(const Graph& g, ValueId value, double number) {
  if (!value.valid()) return false;
  if (g.op(value) == OpKind::kFill) return g.ConstantScalar(g.input(g.producer(value), 1)) == number;
  const Tensor* tensor = g.ConstantTensor(value);
  if (tensor == nullptr || !IsFloatingPoint(tensor->type())) return false;
  const std::vector<double> elements = tensor->ToDoubles();
  return std::all_of(elements.begin(), elements.end(), [&](double element) { return element == number; });
}

}  // namespace

std::optional<Deviation> ReadRoot(const Graph& g, ValueId value) {
  const NodeId node = g.producer(value);
  if (g.op(node) == OpKind::kSqrt) return Prepended(node, ReadSum(g, g.input(node, 0)));
  const std::optional<WithNumber> power = PowerOf(g, value, 0.5);
  return power.has_value() ? Prepended(node, ReadSum(g, power->x)) : std::nullopt;
}

std::optional<Deviation> ReadScaledInverse(const Graph& g, ValueId value) {
  if (auto inverse = ReadInverse(g, value)) return inverse;
  if (g.op(value) != OpKind::kMul) return std::nullopt;
  const NodeId mul = g.producer(value);
  for (const int i : {0, 1}) {
    const ValueId factor = g.input(mul, i), scale = g.input(mul, 1 - i);
    if (!factor.valid() || !scale.valid()) continue;
    if (auto inverse = ReadInverse(g, factor)) {
      inverse->scale = scale;
      return Prepended(mul, std::move(inverse));
    }
  }
  return std::nullopt;
}

absl::StatusOr<Moments> ReadMoments(const Graph& g, ValueId x, ValueId mean, ValueId variance) {
  const NodeId inner = g.producer(mean), outer = g.producer(variance);
  if (g.op(inner) != OpKind::kReduceMean || g.op(outer) != OpKind::kReduceMean)
    return absl::NotFoundError("it has no means");
  if (g.input(inner, 0) != x) return absl::FailedPreconditionError("the mean is of a different value");
  Moments moments{MeanAxes(g, inner), {outer, inner}};
  if (moments.axes.empty() || moments.axes != MeanAxes(g, outer))
    return absl::FailedPreconditionError("mean and variance are not over the same constant axes with kept dimensions");
  const std::vector<NodeId> square = SquareNodes(g, g.input(outer, 0), x, mean);
  if (square.empty()) return absl::FailedPreconditionError("the variance is of a different value");
  moments.nodes.insert(moments.nodes.end(), square.begin(), square.end());
  return moments;
}

std::optional<Normalization> ReadReshapedBatchNorm(const Graph& g, NodeId reshape) {
  const ValueId back = g.input(reshape, 0);
  if (!back.valid() || g.op(back) != OpKind::kBatchNorm) return std::nullopt;
  const NodeId norm = g.producer(back);
  const Attributes& attributes = g.node(norm).attributes;
  if (back != g.output(norm) || !attributes.Bool("is_training", false) || HasActivation(g, norm)) return std::nullopt;
  if (attributes.String("layout", "NCHW") != "NCHW" || StatisticsAreRead(g, norm)) return std::nullopt;
  if (!IsFilledWith(g, g.input(norm, 1), 1) || !IsFilledWith(g, g.input(norm, 2), 0)) return std::nullopt;
  const ValueId image = g.input(norm, 0);
  if (!image.valid() || g.op(image) != OpKind::kReshape) return std::nullopt;
  const NodeId there = g.producer(image);
  const ValueId x = g.input(there, 0);
  const Shape &whole = g.shape(x), &rows = g.shape(image);
  if (!SameShape(whole, g.shape(g.output(reshape))) || !rows.has_rank() || rows.rank() < 3) return std::nullopt;
  // A row is one channel of a batch of one, [1, rows, row..]; it must be the last dimensions of x.
  const std::optional<int64_t> row = ElementsAfter(rows, 1);
  if (rows.dim(0).value != 1 || !row.has_value()) return std::nullopt;
  for (int axis = whole.rank() - 1; axis >= 0; --axis) {
    const std::optional<int64_t> after = ElementsAfter(whole, axis - 1);
    if (!after.has_value() || *after > *row) return std::nullopt;
    if (*after != *row) continue;
    Normalization result;
    result.x = x;
    for (int i = axis; i < whole.rank(); ++i) result.axes.push_back(i);
    result.epsilon = attributes.Float("epsilon", 1e-5f);
    result.nodes = {reshape, norm, there};
    return result;
  }
  return std::nullopt;
}

}  // namespace halftone
