// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention: y = softmax(scale * q k^T + mask) v.

#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {
namespace {

// q, k or v as a batch of matrices.
struct Matrices {
  Dims leading;
  int64_t rows, columns;
  std::vector<double> elements;

  const double* matrix(int64_t i) const { return elements.data() + i * rows * columns; }
};

Matrices Read(const Tensor& x) {
  const Dims& dims = x.dims();
  const size_t leading = dims.size() - 2;
  return {Dims(dims.begin(), dims.begin() + static_cast<int64_t>(leading)), dims[leading], dims[leading + 1],
          x.ToDoubles()};
}

Dims WithMatrix(Dims leading, int64_t rows, int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

// For each matrix of a batch of shape `to`, the index of its matrix in `from`.
std::vector<int64_t> Members(const Dims& from, const Dims& to) { return Offsets(to, BroadcastStrides(from, to)); }

}  // namespace

Outputs ScaledDotProductAttention(const Call& call) {
  for (const size_t i : {0, 1, 2}) {
    if (call.in(i).rank() < 2)
      return Error("q, k and v must have two dimensions or more, one is ", call.in(i).shape().ToString());
  }
  const bool transposed = call.attributes().Bool("k_transposed", false);
  const Matrices q = Read(call.in(0)), k = Read(call.in(1)), v = Read(call.in(2));
  const int64_t steps = q.rows, depth = q.columns, width = v.columns;
  const int64_t keys = transposed ? k.columns : k.rows;
  if ((transposed ? k.rows : k.columns) != depth || v.rows != keys) {
    return Error("q ", call.in(0).shape().ToString(), ", k ", call.in(1).shape().ToString(),
                 transposed ? " transposed" : "", " and v ", call.in(2).shape().ToString(), " do not multiply");
  }
  HALFTONE_ASSIGN_OR_RETURN(const Dims scored, BroadcastDims(q.leading, k.leading));
  HALFTONE_ASSIGN_OR_RETURN(const Dims leading, BroadcastDims(scored, v.leading));
  const Dims score_dims = WithMatrix(scored, steps, keys), y_dims = WithMatrix(leading, steps, width);
  HALFTONE_RETURN_IF_ERROR(CheckDims(score_dims));
  HALFTONE_RETURN_IF_ERROR(CheckDims(y_dims));
  const double scale =
      call.attributes().has("scale") ? call.attributes().Float("scale", 1) : 1 / std::sqrt(static_cast<double>(depth));

  // scores = softmax(scale * q k^T + mask), row by row.
  std::vector<double> scores(Count(score_dims), 0.0);
  if (call.has(3)) {
    const absl::StatusOr<Dims> both = BroadcastDims(call.in(3).dims(), score_dims);
    if (!both.ok() || *both != score_dims) {
      return Error("mask is ", call.in(3).shape().ToString(), ", which does not broadcast to q k^T ",
                   Shape::Of(score_dims).ToString());
    }
    const std::vector<double> mask = call.in(3).ToDoubles();
    const std::vector<int64_t> at = Offsets(score_dims, BroadcastStrides(call.in(3).dims(), score_dims));
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = mask[at[i]];
  }
  const std::vector<int64_t> q_of = Members(q.leading, scored), k_of = Members(k.leading, scored);
  for (size_t m = 0; m < q_of.size(); ++m) {
    for (int64_t s = 0; s < steps; ++s) {
      double* row = scores.data() + (static_cast<int64_t>(m) * steps + s) * keys;
      const double* query = q.matrix(q_of[m]) + s * depth;
      const double* key = k.matrix(k_of[m]);
      for (int64_t t = 0; t < keys; ++t) {
        double sum = 0;
        for (int64_t d = 0; d < depth; ++d) sum += query[d] * (transposed ? key[d * keys + t] : key[t * depth + d]);
        row[t] += scale * sum;
      }
      SoftmaxOf({row, static_cast<size_t>(keys)});
    }
  }

  std::vector<double> y(Count(y_dims), 0.0);
  const std::vector<int64_t> scores_of = Members(scored, leading), v_of = Members(v.leading, leading);
  for (size_t m = 0; m < v_of.size(); ++m) {
    for (int64_t s = 0; s < steps; ++s) {
      const double* row = scores.data() + (scores_of[m] * steps + s) * keys;
      double* out = y.data() + (static_cast<int64_t>(m) * steps + s) * width;
      for (int64_t t = 0; t < keys; ++t) {
        for (int64_t e = 0; e < width; ++e) out[e] += row[t] * v.matrix(v_of[m])[t * width + e];
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), y_dims, y)};
}

}  // namespace halftone::reference
