// SPDX-License-Identifier: Apache-2.0
// Ops that keep the elements unchanged, shape, and cast.

#include <algorithm>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// The elements of x with different dims.
Outputs Under(const Tensor& x, Dims dims) {
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  if (Count(dims) != x.num_elements()) {
    return Error(x.shape().ToString(), " has ", x.num_elements(), " elements, ", Shape::Of(dims).ToString(), " has ",
                 Count(dims));
  }
  return std::vector<Tensor>{x.WithDims(std::move(dims))};
}

}  // namespace

Outputs Constant(const Call& call) {
  const AttributeValue* value = call.attributes().find("value");
  const Tensor* tensor = value == nullptr ? nullptr : std::get_if<Tensor>(value);
  if (tensor == nullptr) return Error("a constant needs its tensor as attribute 'value'");
  return std::vector<Tensor>{*tensor};
}

Outputs Identity(const Call& call) { return std::vector<Tensor>{call.in(0)}; }

// At inference all elements are kept. Training (an input that is true) would use random numbers.
Outputs Dropout(const Call& call) {
  const bool training = call.has(2) && call.in(2).num_elements() == 1 && call.in(2).ToInts()[0] != 0;
  const bool has_ratio = call.has(1) && call.in(1).num_elements() == 1;
  const double ratio = has_ratio ? call.in(1).ToDoubles()[0] : call.attributes().Float("ratio", 0.5f);
  if (training && ratio != 0) return absl::UnimplementedError("dropout in training: run the model for inference");
  std::vector<Tensor> outputs{call.in(0)};
  if (call.wants(1)) {
    const std::vector<int64_t> ones(call.in(0).num_elements(), 1);
    outputs.push_back(FromInts(call.types[1], call.in(0).dims(), ones));
  }
  return outputs;
}

Outputs Reshape(const Call& call) {
  const Tensor& x = call.in(0);
  const bool zero_copies = !call.attributes().Bool("allowzero", false);
  Dims dims = call.in(1).ToInts();
  int64_t known = 1;
  int inferred = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (inferred >= 0) return Error("the shape holds -1 twice");
      inferred = static_cast<int>(i);
      continue;
    }
    if (dims[i] == 0 && zero_copies) {
      if (i >= x.dims().size()) return Error("0 copies dimension ", i, ", x is ", x.shape().ToString());
      dims[i] = x.dims()[i];
    }
    if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) return Error("the shape holds ", dims[i]);
  }
  if (inferred >= 0) {
    if (known == 0 || x.num_elements() % known != 0) {
      return Error("x ", x.shape().ToString(), " cannot be cut by ", known, " to find what -1 stands for");
    }
    dims[inferred] = x.num_elements() / known;
  }
  return Under(x, std::move(dims));
}

Outputs Flatten(const Call& call) {
  const Tensor& x = call.in(0);
  const int64_t written = call.attributes().Int("axis", 1);
  const int64_t axis = written < 0 ? written + x.rank() : written;
  if (axis < 0 || axis > x.rank()) return Error("axis ", written, " is out of range for rank ", x.rank());
  const auto begin = x.dims().begin();
  return Under(x, {Count(Dims(begin, begin + axis)), Count(Dims(begin + axis, x.dims().end()))});
}

Outputs Squeeze(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> axes = call.has(1) ? call.in(1).ToInts() : std::vector<int64_t>{};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> marks, AxisMarks(axes, x.rank()));
  Dims dims;
  for (int i = 0; i < x.rank(); ++i) {
    const bool removed = axes.empty() ? x.dims()[i] == 1 : marks[i];
    if (!removed) dims.push_back(x.dims()[i]);
  }
  return Under(x, std::move(dims));
}

Outputs Unsqueeze(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<int64_t> axes = call.in(1).ToInts();
  const int rank = x.rank() + static_cast<int>(axes.size());
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> added, AxisMarks(axes, rank));
  Dims dims;
  int next = 0;
  for (int i = 0; i < rank; ++i) dims.push_back(added[i] ? 1 : x.dims()[next++]);
  return Under(x, std::move(dims));
}

Outputs ShapeOf(const Call& call) {
  const Dims& dims = call.in(0).dims();
  const int64_t rank = call.in(0).rank();
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(call.attributes().Int("start", 0));
  const int64_t end = std::max(start, clamp(call.attributes().Int("end", rank)));
  const std::vector<int64_t> part(dims.begin() + start, dims.begin() + end);
  return std::vector<Tensor>{FromInts(call.type(), {end - start}, part)};
}

// Between numbers and bools. Floats to integers: towards zero, saturating; integers to smaller ones: the low bits.
Outputs Cast(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.type() == call.type()) return std::vector<Tensor>{x};
  if (IsFloatingPoint(x.type()) || IsFloatingPoint(call.type())) {
    return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), x.ToDoubles())};
  }
  return std::vector<Tensor>{FromInts(call.type(), x.dims(), x.ToInts())};
}

}  // namespace halftone::reference
