// SPDX-License-Identifier: Apache-2.0
// Shape rules of ops that keep shapes: sources, elementwise ops, normalization; and what all rules share.

#include "base/status.h"
#include "ir/binary_chain.h"
#include "ir/shape_rules_internal.h"
#include "ir/window.h"

namespace halftone::shape_rules {

const Shape& Context::shape(int i) const {
  static const Shape* const kUnknown = new Shape();
  return has(i) ? graph_.shape(node_.inputs[i]) : *kUnknown;
}

Shape Context::declared(int i) const {
  const ValueId output = node_.outputs[i];
  return output.valid() ? graph_.shape(output) : Shape();
}

absl::StatusOr<int> Axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return Error("axis ", axis, " is out of range for rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<bool>> AxisMarks(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> marks(rank, false);
  for (const int64_t written : axes) {
    HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, rank));
    if (marks[axis]) return Error("axis ", written, " is given twice");
    marks[axis] = true;
  }
  return marks;
}

absl::StatusOr<Shape> Merge(const Shape& preferred, const Shape& other) {
  if (!preferred.has_rank()) return other;
  if (!other.has_rank()) return preferred;
  if (preferred.rank() != other.rank()) return Error(preferred.ToString(), " against ", other.ToString());
  Shape result = preferred;
  for (int i = 0; i < result.rank(); ++i) {
    Dim& dim = result.mutable_dim(i);
    const Dim& also = other.dim(i);
    if (dim.known() && also.known() && dim.value != also.value) {
      return Error(preferred.ToString(), " against ", other.ToString());
    }
    if (!dim.known() && (also.known() || dim.symbol.empty())) dim = also;
  }
  return result;
}

absl::Status CheckBroadcastsTo(std::string_view name, const Shape& small, const Shape& large) {
  if (!small.has_rank() || !large.has_rank()) return absl::OkStatus();
  const int missing = large.rank() - small.rank();
  bool fits = missing >= 0;
  for (int i = 0; fits && i < small.rank(); ++i) {
    const Dim &from = small.dim(i), &to = large.dim(i + missing);
    fits = !from.known() || from.value == 1 || !to.known() || from.value == to.value;
  }
  if (fits) return absl::OkStatus();
  return Error(name, " is ", small.ToString(), ", which does not broadcast to ", large.ToString());
}

Dim Product(const std::vector<Dim>& dims) {
  int64_t number = 1;
  int unknown = 0;
  Dim last;
  for (const Dim& dim : dims) {
    if (!dim.known()) {
      ++unknown;
      last = dim;
    } else if (__builtin_mul_overflow(number, dim.value, &number)) {
      return Dim::Unknown();
    }
  }
  if (unknown == 0 || number == 0) return Dim::Of(number);
  return unknown == 1 && number == 1 ? last : Dim::Unknown();
}

Shapes AsDeclared(const Context& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.node().outputs.size(); ++i) shapes.push_back(c.declared(static_cast<int>(i)));
  return shapes;
}

Shapes Nothing(const Context&) { return std::vector<Shape>{}; }

Shapes SameAsFirst(const Context& c) { return std::vector<Shape>{c.shape(0)}; }

Shapes Constant(const Context& c) {
  const AttributeValue* value = c.attributes().find("value");
  const Tensor* tensor = value == nullptr ? nullptr : std::get_if<Tensor>(value);
  if (tensor == nullptr) return Error("a constant needs its tensor as attribute 'value'");
  return std::vector<Shape>{tensor->shape()};
}

Shapes Dropout(const Context& c) { return std::vector<Shape>{c.shape(0), c.shape(0)}; }

Shapes Binary(const Context& c) {
  const std::optional<Shape> y = BroadcastShapes(c.shape(0), c.shape(1));
  if (!y.has_value()) return Error(c.shape(0).ToString(), " and ", c.shape(1).ToString(), " do not broadcast");
  return std::vector<Shape>{*y};
}

Shapes BroadcastAll(const Context& c) {
  if (c.attributes().Bool("rows", false)) {  // where: the condition is one a row of the others
    absl::StatusOr<Shape> y = Merge(c.shape(1), c.shape(2));
    if (!y.ok()) return Error("a is ", c.shape(1).ToString(), ", b ", c.shape(2).ToString(), ", need one shape");
    return std::vector<Shape>{*std::move(y)};
  }
  Shape y = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    const std::optional<Shape> next = BroadcastShapes(y, c.shape(i));
    if (!next.has_value()) return Error(y.ToString(), " and ", c.shape(i).ToString(), " do not broadcast");
    y = *next;
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes BinaryChain(const Context& c) {
  HALFTONE_RETURN_IF_ERROR(StepsOfChain(c.node()).status());
  const std::optional<Shape> y = BroadcastShapes(c.shape(0), c.shape(1));
  if (!y.has_value()) return Error(c.shape(0).ToString(), " and ", c.shape(1).ToString(), " do not broadcast");
  for (int i = 2; i < c.num_inputs(); ++i) {
    HALFTONE_RETURN_IF_ERROR(CheckBroadcastsTo(halftone::Concat("input ", i), c.shape(i), *y));
  }
  return std::vector<Shape>{*y};
}

Shapes ScalarOut(const Context&) { return std::vector<Shape>{Shape::Scalar()}; }

Shapes PRelu(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& slope = c.shape(1);
  if (x.fully_known() && slope.fully_known() && BroadcastShapes(x, slope) != x) {
    return Error("slope is ", slope.ToString(), ", which does not broadcast to x's ", x.ToString());
  }
  return std::vector<Shape>{x};
}

Shapes BiasAdd(const Context& c) {
  const Shape& x = c.shape(0);
  const Shape& b = c.shape(1);
  if (b.has_rank() && b.rank() != 1) return Error("b is ", b.ToString(), ", need rank 1");
  if (!x.has_rank()) return std::vector<Shape>{};
  if (x.rank() < 2) return Error("x is ", x.ToString(), ", need at least rank 2");
  Shape y = x;
  Dim& channels = y.mutable_dim(ChannelAxis(c.attributes(), x.rank()));
  if (b.has_rank() && b.dim(0).known()) {
    if (channels.known() && channels.value != b.dim(0).value) {
      return Error("b is ", b.ToString(), ", x ", x.ToString(), " has ", channels.value, " channels");
    }
    channels = b.dim(0);
  }
  return std::vector<Shape>{std::move(y)};
}

Shapes Softmax(const Context& c) {
  const Shape& x = c.shape(0);
  if (c.node().op == OpKind::kSoftmax) HALFTONE_RETURN_IF_ERROR(CheckBroadcastsTo("addend", c.shape(1), x));
  if (x.has_rank()) {
    const int64_t axis = c.attributes().Int("axis", -1);
    const bool whole = c.attributes().Bool("flatten", false) && axis == x.rank();  // rows of one element
    if (!whole && x.rank() > 0) HALFTONE_RETURN_IF_ERROR(Axis(axis, x.rank()).status());
  }
  return std::vector<Shape>{x};
}

Shapes BatchNorm(const Context& c) {
  const Shape& x = c.shape(0);
  const bool training = c.attributes().Bool("is_training", false);
  Dim channels;
  if (x.has_rank()) {
    if (x.rank() < 2) return Error("x is ", x.ToString(), ", need at least rank 2");
    channels = x.dim(ChannelAxis(c.attributes(), x.rank()));
  }
  for (int i = 1; i <= 4; ++i) {
    const Shape& s = c.shape(i);
    if (!s.has_rank()) continue;
    if (s.rank() != 1) return Error(InputPort(c.node().op, i, 5)->name, " is ", s.ToString(), ", need rank 1");
    const bool unread = training && i >= 3 && s.dim(0).value == 0;  // TensorFlow gives empty statistics in training
    if (unread || !s.dim(0).known()) continue;
    if (channels.known() && channels.value != s.dim(0).value) {
      return Error(InputPort(c.node().op, i, 5)->name, " is ", s.ToString(), ", x ", x.ToString(), " has ",
                   channels.value, " channels");
    }
    channels = s.dim(0);
  }
  Shape y = x;
  if (x.has_rank()) y.mutable_dim(ChannelAxis(c.attributes(), x.rank())) = channels;
  const Shape statistics(std::vector<Dim>{channels});
  return std::vector<Shape>{std::move(y), statistics, statistics, statistics, statistics};
}

}  // namespace halftone::shape_rules
