// SPDX-License-Identifier: Apache-2.0
// ONNX's Resize: nearest, linear and cubic, dimension by dimension. See ir/resize_taps.h.

#include <algorithm>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/resize_taps.h"

namespace halftone::reference {
namespace {

// Resizes every line along the axis.
std::vector<double> ResizeAxis(const std::vector<double>& x, const Dims& dims, const ResizedAxis& axis,
                               double extrapolation) {
  const int64_t outer = Count(std::span(dims).first(axis.axis)), inner = Count(std::span(dims).subspan(axis.axis + 1));
  const int64_t size = static_cast<int64_t>(axis.taps.size());
  std::vector<double> y(outer * size * inner, 0.0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < size; ++i) {
      const ResizeTaps& taps = axis.taps[i];
      double* out = y.data() + (o * size + i) * inner;
      if (taps.outside) {
        std::fill(out, out + inner, extrapolation);
        continue;
      }
      for (size_t t = 0; t < taps.from.size(); ++t) {
        const double* in = x.data() + (o * axis.in + taps.from[t]) * inner;
        const double weight = taps.weights[t];
        if (weight == 0) continue;  // a NaN with weight 0 must not propagate
        for (int64_t k = 0; k < inner; ++k) out[k] += weight * in[k];
      }
    }
  }
  return y;
}

}  // namespace

Outputs Resize(const Call& call) {
  const auto given = [&call](size_t i) { return call.has(i) ? &call.in(i) : nullptr; };
  Dims dims = call.in(0).dims();
  HALFTONE_ASSIGN_OR_RETURN(const ResizePlan plan, PlanResize(call.attributes(), dims, given(1), given(2), given(3)));
  if (Count(plan.dims) == 0) return std::vector<Tensor>{Tensor(call.type(), plan.dims)};
  std::vector<double> y = call.in(0).ToDoubles();
  for (const ResizedAxis& axis : plan.axes) {
    y = ResizeAxis(y, dims, axis, plan.extrapolation);
    dims[axis.axis] = static_cast<int64_t>(axis.taps.size());
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
}

}  // namespace halftone::reference
