// SPDX-License-Identifier: Apache-2.0
// Normalization by the mean and variance, the root mean square or the norm of some of the dimensions.

#include <algorithm>
#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;  // divided by the count
};

// The moments of `count` numbers with stride `step`.
Moments MomentsOf(const double* x, int64_t count, int64_t step) {
  Moments m;
  for (int64_t i = 0; i < count; ++i) m.mean += x[i * step];
  m.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) m.variance += (x[i * step] - m.mean) * (x[i * step] - m.mean);
  m.variance /= static_cast<double>(count);
  return m;
}

// A parameter broadcast to the shape of x.
absl::StatusOr<std::vector<double>> Spread(const Call& call, size_t index, const Dims& to) {
  const Tensor& parameter = call.in(index);
  const absl::StatusOr<Dims> both = BroadcastDims(parameter.dims(), to);
  if (!both.ok() || *both != to) {
    return Error("a parameter is ", parameter.shape().ToString(), ", need a shape that broadcasts to x ",
                 Shape::Of(to).ToString());
  }
  const std::vector<double> elements = parameter.ToDoubles();
  std::vector<double> result;
  for (const int64_t offset : Offsets(to, BroadcastStrides(parameter.dims(), to))) result.push_back(elements[offset]);
  return result;
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * scale + offset over the dimensions from the axis on. rms_norm: no mean is
// subtracted, and the variance is the mean of the squares.
Outputs LayerNorm(const Call& call) {
  const Tensor& x = call.in(0);
  const bool rms = call.node.op == OpKind::kRmsNorm;
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", -1), x.rank()));
  const double epsilon = call.attributes().Float("epsilon", 1e-5f);
  const Dims& dims = x.dims();
  const int64_t rows = Count(std::span(dims).first(axis)), size = Count(std::span(dims).subspan(axis));
  std::vector<double> y = x.ToDoubles(), means, inverses;
  for (int64_t r = 0; r < rows; ++r) {
    double* row = y.data() + r * size;
    Moments m = MomentsOf(row, size, 1);
    if (rms) m = {0, m.variance + m.mean * m.mean};
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (int64_t i = 0; i < size; ++i) row[i] = (row[i] - m.mean) * inverse;
    means.push_back(m.mean);
    inverses.push_back(inverse);
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<double> scale, Spread(call, 1, dims));
  for (size_t i = 0; i < y.size(); ++i) y[i] *= scale[i];
  if (call.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<double> offset, Spread(call, 2, dims));
    for (size_t i = 0; i < y.size(); ++i) y[i] += offset[i];
  }
  Dims kept = dims;
  std::fill(kept.begin() + axis, kept.end(), 1);
  std::vector<Tensor> outputs{FromDoubles(call.type(), dims, y)};
  if (!rms) outputs.push_back(call.wants(1) ? FromDoubles(call.types[1], kept, means) : Tensor());
  const size_t last = outputs.size();
  outputs.push_back(call.wants(last) ? FromDoubles(call.types[last], kept, inverses) : Tensor());
  return outputs;
}

// instance_norm: mean and variance of each channel of each image, then its activation; group_norm: of each group of
// channels of each image.
Outputs ChannelNorm(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() < 2) return Error("x is ", x.shape().ToString(), ", need at least rank 2");
  const bool channels_last = IsChannelsLast(call.attributes()) && x.rank() > 2;
  const Dims dims = channels_last ? PermuteDims(x.dims(), ToChannelsFirst(x.rank())) : x.dims();
  const int64_t channels = dims[1], plane = Count(std::span(dims).subspan(2));
  const bool instance = call.node.op == OpKind::kInstanceNorm;
  const int64_t groups = instance ? channels : call.attributes().Int("num_groups", 1);
  if (groups < (channels == 0 ? 0 : 1) || (groups > 0 && channels % groups != 0))
    return Error("num_groups is ", groups, ", x has ", channels, " channels");
  const bool per_group = call.attributes().Bool("per_group", false);
  for (const size_t i : {1, 2}) {
    if (call.in(i).num_elements() != (per_group ? groups : channels))
      return Error("a parameter is ", call.in(i).shape().ToString(), ", need ", per_group ? groups : channels,
                   " numbers");
  }
  const std::vector<double> scale = call.in(1).ToDoubles(), offset = call.in(2).ToDoubles();
  const double epsilon = call.attributes().Float("epsilon", 1e-5f);
  const int64_t members = groups == 0 ? 0 : channels / groups;
  std::vector<double> y = x.ToDoubles();
  if (channels_last) y = Permute(y, x.dims(), ToChannelsFirst(x.rank()));
  for (int64_t ng = 0; ng < dims[0] * groups; ++ng) {
    double* block = y.data() + ng * members * plane;
    const Moments m = MomentsOf(block, members * plane, 1);
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (int64_t c = 0; c < members; ++c) {
      const int64_t parameter = per_group ? ng % groups : ng % groups * members + c;
      for (int64_t i = 0; i < plane; ++i) {
        double& element = block[c * plane + i];
        element = (element - m.mean) * inverse * scale[parameter] + offset[parameter];
      }
    }
  }
  if (channels_last) y = Permute(y, dims, ToChannelsLast(x.rank()));
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  for (double& element : y) element = activation(element);
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

// x divided by its p-norm along the axis; 0 if the norm is 0.
Outputs LpNorm(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", -1), x.rank()));
  const int64_t p = call.attributes().Int("p", 2);
  if (p != 1 && p != 2) return Error("p is ", p, ", need 1 or 2");
  const Dims& dims = x.dims();
  const int64_t outer = Count(std::span(dims).first(axis)), size = dims[axis];
  const int64_t inner = Count(std::span(dims).subspan(axis + 1));
  std::vector<double> y = x.ToDoubles();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      double* row = y.data() + o * size * inner + i;
      double sum = 0;
      for (int64_t k = 0; k < size; ++k) sum += p == 1 ? std::abs(row[k * inner]) : row[k * inner] * row[k * inner];
      const double norm = p == 1 ? sum : std::sqrt(sum);
      for (int64_t k = 0; k < size; ++k) row[k * inner] = norm == 0 ? 0 : row[k * inner] / norm;
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta.
Outputs Lrn(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() < 2) return Error("x is ", x.shape().ToString(), ", need at least rank 2");
  const int64_t size = call.attributes().Int("size", 0);
  if (size < 1) return Error("attribute 'size' is ", size, ", need at least 1");
  const double alpha = call.attributes().Float("alpha", 1e-4f), beta = call.attributes().Float("beta", 0.75f);
  const double bias = call.attributes().Float("bias", 1);
  const int axis = ChannelAxis(call.attributes(), x.rank());
  const Dims& dims = x.dims();
  const int64_t outer = Count(std::span(dims).first(axis)), channels = dims[axis];
  const int64_t inner = Count(std::span(dims).subspan(axis + 1));
  const std::vector<double> in = x.ToDoubles();
  std::vector<double> y(in.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      // (size - 1) / 2 channels before, the others after.
      const int64_t first = (size - 1) / 2 > c ? 0 : c - (size - 1) / 2;
      const int64_t last = size / 2 >= channels - c ? channels - 1 : c + size / 2;
      for (int64_t i = 0; i < inner; ++i) {
        double squares = 0;
        for (int64_t k = first; k <= last; ++k) {
          const double element = in[(o * channels + k) * inner + i];
          squares += element * element;
        }
        const int64_t at = (o * channels + c) * inner + i;
        y[at] = in[at] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// (x - mean) / (sqrt(variance) + 1e-9) over the axes.
Outputs MeanVarianceNorm(const Call& call) {
  const Tensor& x = call.in(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> marks,
                            AxisMarks(call.attributes().Ints("axes", {0, 2, 3}), x.rank()));
  Dims kept = x.dims();
  for (int i = 0; i < x.rank(); ++i) kept[i] = marks[i] ? 1 : kept[i];
  const std::vector<int64_t> into = Offsets(x.dims(), BroadcastStrides(kept, x.dims()));
  std::vector<double> y = x.ToDoubles();
  std::vector<Moments> moments(Count(kept));
  const double count = moments.empty() ? 1 : static_cast<double>(y.size()) / static_cast<double>(moments.size());
  for (size_t i = 0; i < y.size(); ++i) moments[into[i]].mean += y[i] / count;
  for (size_t i = 0; i < y.size(); ++i) {
    Moments& m = moments[into[i]];
    m.variance += (y[i] - m.mean) * (y[i] - m.mean) / count;
  }
  for (size_t i = 0; i < y.size(); ++i) {
    const Moments& m = moments[into[i]];
    y[i] = (y[i] - m.mean) / (std::sqrt(m.variance) + 1e-9);
  }
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

}  // namespace halftone::reference
