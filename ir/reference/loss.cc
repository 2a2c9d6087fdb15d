// SPDX-License-Identifier: Apache-2.0
// Losses of classifiers: scores [N, C, d...], target [N, d...] of class numbers, weights [C]. And half the sum of
// squares.

#include <cmath>
#include <optional>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

struct Classes {
  int64_t batch = 0, classes = 0, positions = 0;  // positions: the product of d...
};

absl::StatusOr<Classes> Describe(const Call& call) {
  const Tensor& scores = call.in(0);
  const Tensor& target = call.in(1);
  if (scores.rank() < 2) return Error("scores are ", scores.shape().ToString(), ", need at least rank 2");
  Dims dims = scores.dims();
  const Classes shape{dims[0], dims[1], Count(std::span(dims).subspan(2))};
  dims.erase(dims.begin() + 1);
  if (target.dims() != dims) {
    return Error("target is ", target.shape().ToString(), ", need ", Shape::Of(dims).ToString());
  }
  if (!IsInteger(target.type())) return Error("target is ", DataTypeName(target.type()), ", need integers");
  if (call.has(2) && (call.in(2).rank() != 1 || call.in(2).dims()[0] != shape.classes)) {
    return Error("weights are ", call.in(2).shape().ToString(), ", need [", shape.classes, "]");
  }
  return shape;
}

// Of log probabilities in the layout of the scores.
absl::StatusOr<Tensor> Loss(const Call& call, const Classes& shape, const std::vector<double>& log_probabilities) {
  const std::vector<int64_t> target = call.in(1).ToInts();
  const std::vector<double> weights =
      call.has(2) ? call.in(2).ToDoubles() : std::vector<double>(static_cast<size_t>(shape.classes), 1.0);
  const bool ignores = call.attributes().has("ignore_index");
  const int64_t ignored = call.attributes().Int("ignore_index", 0);
  std::vector<double> losses(target.size(), 0.0);
  double sum = 0, total_weight = 0;
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t i = 0; i < shape.positions; ++i) {
      const int64_t at = n * shape.positions + i, label = target[at];
      if (ignores && label == ignored) continue;
      if (label < 0 || label >= shape.classes) {
        return Error("target holds ", label, ", need 0 to ", shape.classes - 1);
      }
      losses[at] = -weights[label] * log_probabilities[(n * shape.classes + label) * shape.positions + i];
      sum += losses[at];
      total_weight += weights[label];
    }
  }
  const std::string reduction = call.attributes().String("reduction", "mean");
  if (reduction == "none") return FromDoubles(call.type(), call.in(1).dims(), losses);
  if (reduction == "sum") return FromDoubles(call.type(), {}, {sum});
  if (reduction == "mean") return FromDoubles(call.type(), {}, {sum / total_weight});
  return Error("reduction is '", reduction, "', need mean, sum or none");
}

}  // namespace

Outputs NegativeLogLikelihood(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Classes shape, Describe(call));
  HALFTONE_ASSIGN_OR_RETURN(Tensor loss, Loss(call, shape, call.in(0).ToDoubles()));
  return std::vector<Tensor>{std::move(loss)};
}

Outputs SoftmaxCrossEntropy(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Classes shape, Describe(call));
  std::vector<double> y = call.in(0).ToDoubles();  // becomes log(softmax) over the classes
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t i = 0; i < shape.positions; ++i) {
      double* const first = y.data() + n * shape.classes * shape.positions + i;
      double highest = -INFINITY, sum = 0;
      for (int64_t c = 0; c < shape.classes; ++c) highest = std::max(highest, first[c * shape.positions]);
      for (int64_t c = 0; c < shape.classes; ++c) sum += std::exp(first[c * shape.positions] - highest);
      for (int64_t c = 0; c < shape.classes; ++c) first[c * shape.positions] -= highest + std::log(sum);
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor loss, Loss(call, shape, y));
  std::vector<Tensor> outputs{std::move(loss)};
  if (call.wants(1)) outputs.push_back(FromDoubles(call.types[1], call.in(0).dims(), y));
  return outputs;
}

Outputs L2Loss(const Call& call) {
  double sum = 0;
  for (const Tensor& x : call.inputs) {
    for (const double number : x.ToDoubles()) sum += number * number;
  }
  return std::vector<Tensor>{FromDoubles(call.type(), {}, {sum / 2})};
}

}  // namespace halftone::reference
