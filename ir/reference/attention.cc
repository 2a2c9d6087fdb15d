// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Attention, and layer_norm of a sum.

#include "ir/attention.h"

#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {
namespace {

struct Sizes {
  int64_t batch, steps, past, total, heads, head, value_head;
};

// The addend of the scores: [batch, steps, total]. Positions with 1 in the mask are kept, those with 0 get the filter
// value.
std::vector<double> MaskOf(const Call& call, const Sizes& s) {
  std::vector<double> mask(s.batch * s.steps * s.total, 0.0);
  const double filter = call.attributes().Float("mask_filter_value", -10000.0f);
  const std::vector<int64_t> given =
      call.has(kAttentionMask) ? call.in(kAttentionMask).ToInts() : std::vector<int64_t>();
  const int rank = call.has(kAttentionMask) ? call.in(kAttentionMask).rank() : 0;
  const bool unidirectional = call.attributes().Bool("unidirectional", false);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t q = 0; q < s.steps; ++q) {
      for (int64_t k = 0; k < s.total; ++k) {
        double& element = mask[(b * s.steps + q) * s.total + k];
        bool hidden = false;
        if (rank == 1) {  // the ends of the keys, then their starts
          hidden = k >= given[b] || (static_cast<int64_t>(given.size()) == 2 * s.batch && k < given[s.batch + b]);
        } else if (rank == 2) {
          hidden = given[b * s.total + k] <= 0;
        } else if (rank == 3) {
          hidden = given[(b * s.steps + q) * s.total + k] <= 0;
        }
        if (hidden) element += filter;
        if (unidirectional && k > s.past + q) element += filter;
      }
    }
  }
  return mask;
}

}  // namespace

Outputs Attention(const Call& call) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < call.inputs.size(); ++i) shapes.push_back(call.has(i) ? call.in(i).shape() : Shape());
  HALFTONE_ASSIGN_OR_RETURN(const AttentionSizes sizes, SizesOfAttention(call.attributes(), shapes));
  const int64_t hidden = sizes.hidden.value, value_hidden = sizes.value_hidden.value;
  const Sizes s{sizes.batch.value, sizes.steps.value,    sizes.past.value,          sizes.total.value,
                sizes.heads,       hidden / sizes.heads, value_hidden / sizes.heads};
  const int64_t inputs = call.in(kAttentionX).dims()[2], columns = 2 * hidden + value_hidden;
  const Dims y_dims{s.batch, s.steps, value_hidden}, present_dims{2, s.batch, s.heads, s.total, s.value_head};
  HALFTONE_RETURN_IF_ERROR(CheckDims(y_dims));
  HALFTONE_RETURN_IF_ERROR(CheckDims({s.batch, s.heads, s.steps, s.total}));
  HALFTONE_RETURN_IF_ERROR(CheckDims({s.batch, s.steps, columns}));
  if (call.wants(1) && s.head != s.value_head) return Error("present needs keys and values of one size");

  // Queries, keys and values concatenated: [batch * steps, columns].
  const std::vector<double> x = call.in(kAttentionX).ToDoubles(), weights = call.in(kAttentionWeights).ToDoubles();
  std::vector<double> qkv(s.batch * s.steps * columns, 0.0);
  const std::vector<double> bias =
      call.has(kAttentionBias) ? call.in(kAttentionBias).ToDoubles() : std::vector<double>();
  for (int64_t row = 0; row < s.batch * s.steps; ++row) {
    for (int64_t k = 0; k < inputs; ++k) {
      for (int64_t j = 0; j < columns; ++j) qkv[row * columns + j] += x[row * inputs + k] * weights[k * columns + j];
    }
    for (size_t j = 0; j < bias.size(); ++j) qkv[row * columns + j] += bias[j];
  }
  const std::vector<double> past =
      call.has(kAttentionPast) ? call.in(kAttentionPast).ToDoubles() : std::vector<double>();
  const std::vector<double> addend =
      call.has(kAttentionAddend) ? call.in(kAttentionAddend).ToDoubles() : std::vector<double>();
  const Dims addend_strides = call.has(kAttentionAddend) ? BroadcastStrides(call.in(kAttentionAddend).dims(),
                                                                            {s.batch, s.heads, s.steps, s.total})
                                                         : Dims(4, 0);
  const std::vector<double> mask = MaskOf(call, s);
  float scale = call.attributes().Float("scale", 0);
  if (scale == 0) scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head)));

  // Element i of the key (part 0) or value (part 1) of a position, past ones first.
  const auto key_or_value = [&](int part, int64_t b, int64_t head, int64_t position, int64_t i) {
    const int64_t size = part == 0 ? s.head : s.value_head;
    if (position < s.past) return past[(((part * s.batch + b) * s.heads + head) * s.past + position) * size + i];
    const int64_t row = b * s.steps + position - s.past;
    return qkv[row * columns + hidden * (part + 1) + head * size + i];
  };
  std::vector<double> y(Count(y_dims));
  std::vector<double> scores(s.total);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t head = 0; head < s.heads; ++head) {
      for (int64_t q = 0; q < s.steps && s.total > 0; ++q) {
        for (int64_t k = 0; k < s.total; ++k) {
          double sum = 0;
          for (int64_t i = 0; i < s.head; ++i) {
            sum += qkv[(b * s.steps + q) * columns + head * s.head + i] * key_or_value(0, b, head, k, i);
          }
          scores[k] = sum * scale + mask[(b * s.steps + q) * s.total + k];
          if (!addend.empty()) {
            scores[k] += addend[b * addend_strides[0] + head * addend_strides[1] + q * addend_strides[2] +
                                k * addend_strides[3]];
          }
        }
        SoftmaxOf(scores);
        for (int64_t i = 0; i < s.value_head; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < s.total; ++k) sum += scores[k] * key_or_value(1, b, head, k, i);
          y[(b * s.steps + q) * value_hidden + head * s.value_head + i] = sum;
        }
      }
    }
  }
  std::vector<Tensor> outputs(2);
  if (call.wants(0)) outputs[0] = FromDoubles(call.types[0], y_dims, y);
  if (call.wants(1)) {
    HALFTONE_RETURN_IF_ERROR(CheckDims(present_dims));
    std::vector<double> present;
    for (int part = 0; part < 2; ++part) {
      for (int64_t b = 0; b < s.batch; ++b) {
        for (int64_t head = 0; head < s.heads; ++head) {
          for (int64_t k = 0; k < s.total; ++k) {
            for (int64_t i = 0; i < s.head; ++i) present.push_back(key_or_value(part, b, head, k, i));
          }
        }
      }
    }
    outputs[1] = FromDoubles(call.types[1], present_dims, present);
  }
  return outputs;
}

Outputs SkipLayerNorm(const Call& call) {
  const Dims& dims = call.in(0).dims();
  if (dims.empty()) return Error("x is a scalar");
  HALFTONE_ASSIGN_OR_RETURN(const Dims both, BroadcastDims(dims, call.in(1).dims()));
  if (both != dims) return Error("skip is ", call.in(1).shape().ToString(), ", which does not broadcast to x");
  const int64_t size = dims.back(), rows = size == 0 ? 0 : Count(dims) / size;
  const double epsilon = call.attributes().Float("epsilon", 1e-12f);
  for (const size_t i : {2, 3, 4}) {
    if (call.has(i) && call.in(i).dims() != Dims{size}) {
      return Error("input ", i, " is ", call.in(i).shape().ToString(), ", need [", size, "]");
    }
  }
  const auto vector = [&](size_t i) { return call.has(i) ? call.in(i).ToDoubles() : std::vector<double>(size, 0.0); };
  const std::vector<double> scale = vector(2), offset = vector(3), bias = vector(4);
  const std::vector<double> skip = call.in(1).ToDoubles();
  const std::vector<int64_t> skip_at = Offsets(dims, BroadcastStrides(call.in(1).dims(), dims));
  std::vector<double> sum = call.in(0).ToDoubles();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += skip[skip_at[i]] + bias[i % size];
  std::vector<double> y(sum.size()), means, inverses;
  for (int64_t row = 0; row < rows; ++row) {
    const double* v = sum.data() + row * size;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i) mean += v[i] / size;
    for (int64_t i = 0; i < size; ++i) variance += (v[i] - mean) * (v[i] - mean) / size;
    const double inverse = 1 / std::sqrt(variance + epsilon);
    for (int64_t i = 0; i < size; ++i) y[row * size + i] = (v[i] - mean) * inverse * scale[i] + offset[i];
    means.push_back(mean);
    inverses.push_back(inverse);
  }
  Dims statistics = dims;
  statistics.back() = 1;
  if (size == 0) {
    means.assign(Count(statistics), 0.0);
    inverses = means;
  }
  std::vector<Tensor> outputs(4);
  if (call.wants(0)) outputs[0] = FromDoubles(call.types[0], dims, y);
  if (call.wants(1)) outputs[1] = FromDoubles(call.types[1], statistics, means);
  if (call.wants(2)) outputs[2] = FromDoubles(call.types[2], statistics, inverses);
  if (call.wants(3)) outputs[3] = FromDoubles(call.types[3], dims, sum);
  return outputs;
}

}  // namespace halftone::reference
