// SPDX-License-Identifier: Apache-2.0
// binary_chain: a sequence of elementwise binary ops and an activation; rounded once, at the end.

#include "ir/binary_chain.h"

#include <cmath>

#include "ir/reference/elementwise_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {
namespace {

double Apply(OpKind op, double a, double b) {
  switch (op) {
    case OpKind::kSub:
      return a - b;
    case OpKind::kMul:
      return a * b;
    case OpKind::kDiv:
      return a / b;
    case OpKind::kMaximum:
      return std::isnan(a) || a > b ? a : b;
    case OpKind::kMinimum:
      return std::isnan(a) || a < b ? a : b;
    default:
      return a + b;
  }
}

}  // namespace

Outputs BinaryChain(const Call& call) {
  if (!IsFloatingPoint(call.in(0).type())) return Error("x is ", DataTypeName(call.in(0).type()), ", need floats");
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<ChainStep> steps, StepsOfChain(call.node));
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  HALFTONE_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(call.in(0).dims(), call.in(1).dims()));
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  std::vector<double> y = BroadcastElements<double>(call.in(0), dims);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Tensor& x = call.in(i + 1);
    const absl::StatusOr<Dims> both = BroadcastDims(x.dims(), dims);
    if (!both.ok() || *both != dims) {
      return Error("input ", i + 1, " is ", x.shape().ToString(), ", which does not broadcast to y's ",
                   Shape::Of(dims).ToString());
    }
    const std::vector<double> next = BroadcastElements<double>(x, dims);
    for (size_t j = 0; j < y.size(); ++j) {
      y[j] = steps[i].reversed ? Apply(steps[i].op, next[j], y[j]) : Apply(steps[i].op, y[j], next[j]);
    }
  }
  for (double& element : y) element = activation(element);
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
