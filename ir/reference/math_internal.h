// Elementwise functions of one number, and what a contraction applies at its end.
#ifndef HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_

#include <cmath>
#include <numbers>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/ops.h"

namespace halftone::reference {

// NaN stays NaN in all of them.
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

// The activation that is fused into a conv, a matmul or a batch_norm.
struct FusedActivation {
  Activation kind = Activation::kNone;
  double alpha = 0;
  double beta = 0;

  static absl::StatusOr<FusedActivation> Of(const Attributes& attributes);
  double operator()(double x) const;
};

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_MATH_INTERNAL_H_
