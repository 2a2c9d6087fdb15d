// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one number, and the activation and residual of a contraction.
#ifndef HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/ops.h"

namespace halftone::reference {

// All of them return NaN for NaN.
inline double ReluOf(double x) { return x < 0 ? 0 : x; }
inline double ClipOf(double x, double low, double high) {
  const double raised = x < low ? low : x;
  return raised > high ? high : raised;
}
inline double EluOf(double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; }
inline double LeakyReluOf(double x, double alpha) { return x < 0 ? alpha * x : x; }
inline double SigmoidOf(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double SoftplusOf(double x) { return ReluOf(x) + std::log1p(std::exp(-std::abs(x))); }
inline double SwishOf(double x, double alpha) { return x * SigmoidOf(alpha * x); }
inline double HardSigmoidOf(double x, double alpha, double beta) { return ClipOf(alpha * x + beta, 0, 1); }
inline double HardSwishOf(double x) { return x * ClipOf(x / 6 + 0.5, 0, 1); }
inline double GeluOf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
inline double GeluTanhOf(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
inline double MishOf(double x) { return x * std::tanh(SoftplusOf(x)); }

// Each number replaced by exp(number) / the sum of all of these.
inline void SoftmaxOf(std::span<double> row) {
  if (row.empty()) return;
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& number : row) sum += number = std::exp(number - largest);
  for (double& number : row) number /= sum;
}

// An activation that is fused into another op.
struct FusedActivation {
  Activation kind = Activation::kNone;
  double alpha = 0;
  double beta = 0;

  static absl::StatusOr<FusedActivation> Of(const Attributes& attributes);
  double operator()(double x) const;
};

// The last step of a contraction: y = activation(y + residual), or with activation_first activation(y) + residual.
// `residual` is empty (none) or as long as y. contraction.cc
void Finish(const Attributes& attributes, const FusedActivation& activation, const std::vector<double>& residual,
            std::vector<double>& y);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_
