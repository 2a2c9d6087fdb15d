// SPDX-License-Identifier: Apache-2.0
// Softmax and batch normalization.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/elementwise_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"
#include "ir/window.h"

namespace halftone::reference {

namespace {

// `size` numbers with stride `step`, replaced by their softmax: exp(x - max) / sum of exp(x - max).
void SoftmaxAlong(double* row, int64_t size, int64_t step, double max) {
  double sum = 0;
  for (int64_t k = 0; k < size; ++k) sum += row[k * step] = std::exp(row[k * step] - max);
  for (int64_t k = 0; k < size; ++k) row[k * step] /= sum;
}

void LogSoftmaxOf(double* row, int64_t size, int64_t step, double max) {
  double sum = 0;
  for (int64_t k = 0; k < size; ++k) sum += std::exp(row[k * step] - max);
  const double log_sum = std::log(sum);
  for (int64_t k = 0; k < size; ++k) row[k * step] = row[k * step] - max - log_sum;
}

// 1 at the first largest element, else 0.
void HardmaxOf(double* row, int64_t size, int64_t step, double max) {
  bool found = false;
  for (int64_t k = 0; k < size; ++k) {
    const bool here = !found && row[k * step] == max;
    row[k * step] = here ? 1 : 0;
    found = found || here;
  }
}

}  // namespace

// softmax, log_softmax, hardmax along one axis; with "flatten" along all dimensions from the axis on. softmax: of
// scale * x + addend.
Outputs Softmax(const Call& call) {
  const Tensor& x = call.in(0);
  const bool flatten = call.attributes().Bool("flatten", false);
  const int64_t written = call.attributes().Int("axis", -1);
  const Dims& dims = x.dims();
  int axis = 0;
  if (!(flatten && written == x.rank()) && x.rank() > 0) {
    HALFTONE_ASSIGN_OR_RETURN(axis, Axis(written, x.rank()));
  } else if (flatten) {
    axis = x.rank();
  }
  const auto begin = dims.begin();
  const int next = std::min(axis + 1, x.rank());
  const int64_t outer = Count(Dims(begin, begin + axis));
  const int64_t size = flatten ? Count(Dims(begin + axis, dims.end())) : Count(Dims(begin + axis, begin + next));
  const int64_t inner = flatten ? 1 : Count(Dims(begin + next, dims.end()));
  std::vector<double> y = x.ToDoubles();
  if (const float scale = call.attributes().Float("scale", 1); scale != 1) {
    for (double& number : y) number *= scale;
  }
  if (call.has(1)) {
    const std::vector<double> addend = BroadcastElements<double>(call.in(1), dims);
    for (size_t i = 0; i < y.size(); ++i) y[i] += addend[i];
  }
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      double* row = y.data() + o * size * inner + i;
      double max = -std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < size; ++k) max = std::max(max, row[k * inner]);
      if (call.node.op == OpKind::kLogSoftmax) {
        LogSoftmaxOf(row, size, inner, max);
      } else if (call.node.op == OpKind::kHardmax) {
        HardmaxOf(row, size, inner, max);
      } else {
        SoftmaxAlong(row, size, inner, max);
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

namespace {

struct Statistics {
  std::vector<double> mean, variance;  // of the batch; variance divided by the count
  int64_t count = 0;                   // elements per channel
};

// x as [outer, channels, inner].
struct ByChannel {
  int64_t outer, channels, inner;
  int64_t at(int64_t o, int64_t c, int64_t i) const { return (o * channels + c) * inner + i; }
};

Statistics BatchStatistics(const std::vector<double>& x, const ByChannel& view) {
  Statistics s;
  s.count = view.outer * view.inner;
  for (int64_t c = 0; c < view.channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) sum += x[view.at(o, c, i)];
    }
    const double mean = sum / static_cast<double>(s.count);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        const double difference = x[view.at(o, c, i)] - mean;
        squares += difference * difference;
      }
    }
    s.mean.push_back(mean);
    s.variance.push_back(squares / static_cast<double>(s.count));
  }
  return s;
}

// The further outputs. The first two are the running statistics, updated with those of the batch, or with
// statistics="batch" the mean and the unbiased variance of the batch. The last two are those of the batch, biased.
std::vector<std::vector<double>> FurtherOutputs(const Call& call, const Statistics& used, bool training) {
  if (!training) return {used.mean, used.variance, used.mean, used.variance};
  std::vector<double> mean = used.mean, variance = used.variance;
  if (call.attributes().String("statistics", "running") == "batch") {
    const double bessel = static_cast<double>(used.count) / static_cast<double>(std::max<int64_t>(used.count - 1, 1));
    for (double& v : variance) v *= bessel;
  } else {
    const double keep = call.attributes().Float("momentum", 0.9f);
    const std::vector<double> old_mean = call.in(3).ToDoubles(), old_variance = call.in(4).ToDoubles();
    for (size_t c = 0; c < mean.size(); ++c) {
      mean[c] = (c < old_mean.size() ? old_mean[c] : 0) * keep + mean[c] * (1 - keep);
      variance[c] = (c < old_variance.size() ? old_variance[c] : 0) * keep + variance[c] * (1 - keep);
    }
  }
  return {mean, variance, used.mean, used.variance};
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * scale + offset, channel by channel.
Outputs BatchNorm(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() < 2) return Error("x is ", x.shape().ToString(), ", need at least rank 2");
  const bool training = call.attributes().Bool("is_training", false);
  const int axis = ChannelAxis(call.attributes(), x.rank());
  const auto begin = x.dims().begin();
  const ByChannel view{Count(Dims(begin, begin + axis)), x.dims()[axis], Count(Dims(begin + axis + 1, x.dims().end()))};
  for (size_t i = 1; i <= (training ? 2 : 4); ++i) {
    if (call.in(i).num_elements() != view.channels) {
      return Error("a parameter is ", call.in(i).shape().ToString(), ", x ", x.shape().ToString(), " has ",
                   view.channels, " channels");
    }
  }
  const std::vector<double> scale = call.in(1).ToDoubles(), offset = call.in(2).ToDoubles();
  std::vector<double> y = x.ToDoubles();
  const Statistics used = training
                              ? BatchStatistics(y, view)
                              : Statistics{call.in(3).ToDoubles(), call.in(4).ToDoubles(), view.outer * view.inner};
  const double epsilon = call.attributes().Float("epsilon", 1e-5f);
  for (int64_t c = 0; c < view.channels; ++c) {
    const double factor = scale[c] / std::sqrt(used.variance[c] + epsilon);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        double& element = y[view.at(o, c, i)];
        element = (element - used.mean[c]) * factor + offset[c];
      }
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  for (double& element : y) element = activation(element);
  std::vector<Tensor> outputs{FromDoubles(call.type(), x.dims(), y)};
  const std::vector<std::vector<double>> further = FurtherOutputs(call, used, training);
  for (size_t i = 1; i < call.types.size(); ++i) {
    if (!call.wants(i)) {
      outputs.emplace_back();
    } else if (i <= further.size()) {
      outputs.push_back(FromDoubles(call.types[i], {view.channels}, further[i - 1]));
    } else {
      outputs.emplace_back(call.types[i], Dims{});  // TensorFlow's sixth output: empty on a CPU
    }
  }
  return outputs;
}

}  // namespace halftone::reference
