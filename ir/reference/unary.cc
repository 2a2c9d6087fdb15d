// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one tensor. Integers are computed in 64 bits and wrap around if the table has an integer function;
// everything else is computed in doubles.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/status.h"
#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {
namespace {

// An attribute of the function, with its default.
struct Parameter {
  std::string_view name;
  float otherwise = 0;
};

struct Row {
  OpKind op;
  double (*of)(double x, double p, double q);
  Parameter p = {};
  Parameter q = {};
};

using enum OpKind;

constexpr Row kFunctions[] = {
    {kAbs, [](double x, double, double) { return std::abs(x); }},
    {kNeg, [](double x, double, double) { return -x; }},
    {kExp, [](double x, double, double) { return std::exp(x); }},
    {kLog, [](double x, double, double) { return std::log(x); }},
    {kSqrt, [](double x, double, double) { return std::sqrt(x); }},
    {kRsqrt, [](double x, double, double) { return 1 / std::sqrt(x); }},
    {kReciprocal, [](double x, double, double) { return 1 / x; }},
    {kSquare, [](double x, double, double) { return x * x; }},
    {kFloor, [](double x, double, double) { return std::floor(x); }},
    {kErf, [](double x, double, double) { return std::erf(x); }},
    {kRelu, [](double x, double, double) { return ReluOf(x); }},
    {kRelu6, [](double x, double, double) { return ClipOf(x, 0, 6); }},
    {kTanh, [](double x, double, double) { return std::tanh(x); }},
    {kSigmoid, [](double x, double, double) { return SigmoidOf(x); }},
    {kSoftplus, [](double x, double, double) { return SoftplusOf(x); }},
    {kElu, [](double x, double alpha, double) { return EluOf(x, alpha); }, {"alpha", 1}},
    {kLeakyRelu, [](double x, double alpha, double) { return LeakyReluOf(x, alpha); }, {"alpha", 0.01f}},
    {kAcos, [](double x, double, double) { return std::acos(x); }},
    {kAcosh, [](double x, double, double) { return std::acosh(x); }},
    {kAsin, [](double x, double, double) { return std::asin(x); }},
    {kAsinh, [](double x, double, double) { return std::asinh(x); }},
    {kAtan, [](double x, double, double) { return std::atan(x); }},
    {kAtanh, [](double x, double, double) { return std::atanh(x); }},
    {kCos, [](double x, double, double) { return std::cos(x); }},
    {kCosh, [](double x, double, double) { return std::cosh(x); }},
    {kSin, [](double x, double, double) { return std::sin(x); }},
    {kSinh, [](double x, double, double) { return std::sinh(x); }},
    {kTan, [](double x, double, double) { return std::tan(x); }},
    {kCeil, [](double x, double, double) { return std::ceil(x); }},
    {kRound, [](double x, double, double) { return std::nearbyint(x); }},  // half to even
    {kSign, [](double x, double, double) { return x > 0   ? 1.0
                                                  : x < 0 ? -1.0
                                                          : x; }},
    {kLog1p, [](double x, double, double) { return std::log1p(x); }},
    {kExpm1, [](double x, double, double) { return std::expm1(x); }},
    {kErfc, [](double x, double, double) { return std::erfc(x); }},
    {kSoftsign, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {kMish, [](double x, double, double) { return MishOf(x); }},
    {kHardSwish, [](double x, double, double) { return HardSwishOf(x); }},
    {kHardSigmoid,
     [](double x, double alpha, double beta) { return HardSigmoidOf(x, alpha, beta); },
     {"alpha", 0.2f},
     {"beta", 0.5f}},
    {kSelu,
     [](double x, double alpha, double gamma) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); },
     {"alpha", 1.67326319217681884765625f},
     {"gamma", 1.05070102214813232421875f}},
    {kCelu, [](double x, double alpha, double) { return x > 0 ? x : alpha * std::expm1(x / alpha); }, {"alpha", 1}},
    {kThresholdedRelu, [](double x, double alpha, double) { return x > alpha ? x : 0; }, {"alpha", 1}},
    {kSwish, [](double x, double alpha, double) { return SwishOf(x, alpha); }, {"alpha", 1}},
    {kShrink,
     [](double x, double lambd, double bias) { return x < -lambd  ? x + bias
                                                      : x > lambd ? x - bias
                                                                  : 0; },
     {"lambd", 0.5f},
     {"bias", 0}},
    {kNot, [](double x, double, double) { return x == 0 ? 1.0 : 0.0; }},
    {kIsNaN, [](double x, double, double) { return std::isnan(x) ? 1.0 : 0.0; }},
    {kIsFinite, [](double x, double, double) { return std::isfinite(x) ? 1.0 : 0.0; }},
    {kIsInf, [](double x, double, double) { return std::isinf(x) ? 1.0 : 0.0; }},
};

double Positive(double x, double, double) { return x == std::numeric_limits<double>::infinity() ? 1 : 0; }
double Negative(double x, double, double) { return x == -std::numeric_limits<double>::infinity() ? 1 : 0; }
double Never(double, double, double) { return 0; }

// The row of the node's op, including variants by attribute.
Row FunctionOf(const Node& node) {
  if (node.op == kGelu) {
    const bool tanh = node.attributes.String("approximate", "none") == "tanh";
    return tanh ? Row{kGelu, [](double x, double, double) { return GeluTanhOf(x); }}
                : Row{kGelu, [](double x, double, double) { return GeluOf(x); }};
  }
  if (node.op == kIsInf) {
    const bool negative = node.attributes.Bool("detect_negative", true);
    const bool positive = node.attributes.Bool("detect_positive", true);
    if (!negative || !positive) return {kIsInf, negative ? Negative : positive ? Positive : Never};
  }
  for (const Row& function : kFunctions) {
    if (function.op == node.op) return function;
  }
  return {node.op, nullptr};
}

// Ops on integers that must not be converted to double; false for others.
bool IntegerUnaryOf(OpKind op, bool is_unsigned, int64_t x, int64_t& y) {
  const uint64_t u = static_cast<uint64_t>(x);
  const bool negative = !is_unsigned && x < 0;
  switch (op) {
    case kAbs:
      y = negative ? static_cast<int64_t>(-u) : x;
      return true;
    case kNeg:
      y = static_cast<int64_t>(-u);
      return true;
    case kSquare:
      y = static_cast<int64_t>(u * u);
      return true;
    case kFloor:
    case kCeil:
    case kRound:
      y = x;
      return true;
    case kRelu:
      y = negative ? 0 : x;
      return true;
    case kSign:
      y = negative ? -1 : x == 0 ? 0 : 1;
      return true;
    case kBitwiseNot:
      y = ~x;
      return true;
    default:
      return false;
  }
}

}  // namespace

Outputs Unary(const Call& call) {
  const Tensor& x = call.in(0);
  int64_t unused = 0;
  if (IsInteger(x.type()) && IntegerUnaryOf(call.node.op, false, 0, unused)) {
    const bool is_unsigned = x.type() == DataType::kUInt64;
    std::vector<int64_t> y = x.ToInts();
    for (int64_t& element : y) IntegerUnaryOf(call.node.op, is_unsigned, element, element);
    return std::vector<Tensor>{FromInts(call.type(), x.dims(), y)};
  }
  const Row function = FunctionOf(call.node);
  if (function.of == nullptr) return Error("x is ", DataTypeName(x.type()), ", need integers");
  const auto value = [&call](const Parameter& parameter) -> double {
    return parameter.name.empty() ? 0 : call.attributes().Float(parameter.name, parameter.otherwise);
  };
  const double p = value(function.p), q = value(function.q);
  std::vector<double> y = x.ToDoubles();
  for (double& element : y) element = function.of(element, p, q);
  if (call.attributes().has("activation")) {  // softplus
    HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
    for (double& element : y) element = activation(element);
  }
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

Outputs Clip(const Call& call) {
  const Tensor& x = call.in(0);
  for (size_t i = 1; i <= 2; ++i) {
    if (call.has(i) && call.in(i).num_elements() != 1)
      return Error("a bound is ", call.in(i).shape().ToString(), ", need a scalar");
  }
  if (IsInteger(x.type()) && x.type() != DataType::kUInt64) {
    const int64_t low = call.has(1) ? call.in(1).ToInts()[0] : std::numeric_limits<int64_t>::min();
    const int64_t high = call.has(2) ? call.in(2).ToInts()[0] : std::numeric_limits<int64_t>::max();
    std::vector<int64_t> y = x.ToInts();
    for (int64_t& element : y) element = std::min(std::max(element, low), high);
    return std::vector<Tensor>{FromInts(call.type(), x.dims(), y)};
  }
  const double low = call.has(1) ? call.in(1).ToDoubles()[0] : -std::numeric_limits<double>::infinity();
  const double high = call.has(2) ? call.in(2).ToDoubles()[0] : std::numeric_limits<double>::infinity();
  std::vector<double> y = x.ToDoubles();
  for (double& element : y) element = ClipOf(element, low, high);
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

Outputs FillLike(const Call& call) {
  const Tensor& x = call.in(0);
  const std::vector<double> y(x.num_elements(), call.attributes().Float("number", 0));
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

}  // namespace halftone::reference
