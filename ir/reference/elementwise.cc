// Elementwise ops of one or two tensors. Integers are computed in 64 bits and wrap around; everything else in doubles.

#include <algorithm>
#include <limits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

// --- Two tensors.

double BinaryOf(OpKind op, double a, double b) {
  switch (op) {
    case OpKind::kAdd:
      return a + b;
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
    case OpKind::kPow:
      return std::pow(a, b);
    default:
      return (a - b) * (a - b);  // kSquaredDifference, the last one in the table
  }
}

uint64_t PowerOf(uint64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == static_cast<uint64_t>(-1) ? (exponent % 2 == 0 ? 1 : base) : 0;
  uint64_t result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

// Modulo 2^64, as the machine computes. REQUIRES: b != 0 for kDiv
int64_t IntegerOf(OpKind op, int64_t a, int64_t b, bool is_unsigned) {
  const uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool less = is_unsigned ? ua < ub : a < b;
  switch (op) {
    case OpKind::kAdd:
      return static_cast<int64_t>(ua + ub);
    case OpKind::kSub:
      return static_cast<int64_t>(ua - ub);
    case OpKind::kMul:
      return static_cast<int64_t>(ua * ub);
    case OpKind::kDiv:
      return is_unsigned ? static_cast<int64_t>(ua / ub) : b == -1 ? static_cast<int64_t>(-ua) : a / b;
    case OpKind::kMaximum:
      return less ? b : a;
    case OpKind::kMinimum:
      return less ? a : b;
    case OpKind::kPow:
      return static_cast<int64_t>(PowerOf(ua, b));
    default:
      return static_cast<int64_t>((ua - ub) * (ua - ub));
  }
}

// combine(a, b) over the broadcast dims.
template <typename T, typename Combine>
std::vector<T> CombineAll(const Tensor& a, const Tensor& b, const Dims& dims, Combine combine) {
  const std::vector<T> left = Elements<T>(a), right = Elements<T>(b);
  std::vector<T> y(Count(dims));
  if (a.dims() == b.dims()) {
    for (size_t i = 0; i < y.size(); ++i) y[i] = combine(left[i], right[i]);
    return y;
  }
  const std::vector<int64_t> left_at = Offsets(dims, BroadcastStrides(a.dims(), dims));
  const std::vector<int64_t> right_at = Offsets(dims, BroadcastStrides(b.dims(), dims));
  for (size_t i = 0; i < y.size(); ++i) y[i] = combine(left[left_at[i]], right[right_at[i]]);
  return y;
}

}  // namespace

Outputs Binary(const Call& call) {
  const Tensor& a = call.in(0);
  const Tensor& b = call.in(1);
  const OpKind op = call.node.op;
  HALFTONE_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.dims(), b.dims()));
  if (!IsInteger(a.type()) || !IsInteger(b.type())) {
    const std::vector<double> y =
        CombineAll<double>(a, b, dims, [op](double left, double right) { return BinaryOf(op, left, right); });
    return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
  }
  if (op == OpKind::kDiv) {
    const std::vector<int64_t> divisors = b.ToInts();
    if (std::find(divisors.begin(), divisors.end(), 0) != divisors.end()) return Error("an integer is divided by 0");
  }
  const bool is_unsigned = a.type() == DataType::kUInt64;
  const std::vector<int64_t> y = CombineAll<int64_t>(
      a, b, dims, [op, is_unsigned](int64_t left, int64_t right) { return IntegerOf(op, left, right, is_unsigned); });
  return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
}

Outputs BiasAdd(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& b = call.in(1);
  if (x.rank() < 2) return Error("x is ", x.shape().ToString(), ", need at least rank 2");
  const int axis = ChannelAxis(call.attributes(), x.rank());
  if (b.rank() != 1 || b.dims()[0] != x.dims()[axis]) {
    return Error("b is ", b.shape().ToString(), ", x ", x.shape().ToString(), " has ", x.dims()[axis], " channels");
  }
  Dims along(x.rank(), 1);
  along[axis] = b.dims()[0];
  const Tensor bias = b.WithDims(along);
  if (IsInteger(x.type())) {
    return std::vector<Tensor>{
        FromInts(call.type(), x.dims(), CombineAll<int64_t>(x, bias, x.dims(), [](int64_t p, int64_t q) {
                   return static_cast<int64_t>(static_cast<uint64_t>(p) + static_cast<uint64_t>(q));
                 }))};
  }
  return std::vector<Tensor>{FromDoubles(
      call.type(), x.dims(), CombineAll<double>(x, bias, x.dims(), [](double p, double q) { return p + q; }))};
}

// --- One tensor.

namespace {

double UnaryOf(OpKind op, double x, double alpha) {
  switch (op) {
    case OpKind::kAbs:
      return std::abs(x);
    case OpKind::kNeg:
      return -x;
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kLog:
      return std::log(x);
    case OpKind::kSqrt:
      return std::sqrt(x);
    case OpKind::kRsqrt:
      return 1 / std::sqrt(x);
    case OpKind::kReciprocal:
      return 1 / x;
    case OpKind::kSquare:
      return x * x;
    case OpKind::kFloor:
      return std::floor(x);
    case OpKind::kErf:
      return std::erf(x);
    case OpKind::kRelu:
      return ReluOf(x);
    case OpKind::kRelu6:
      return ClipOf(x, 0, 6);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kSigmoid:
      return SigmoidOf(x);
    case OpKind::kSoftplus:
      return SoftplusOf(x);
    case OpKind::kElu:
      return EluOf(x, alpha);
    default:
      return LeakyReluOf(x, alpha);  // kLeakyRelu, the last one in the table
  }
}

// Ops on integers that must not go through a double; false for others.
bool IntegerUnaryOf(OpKind op, bool is_unsigned, int64_t x, int64_t& y) {
  const uint64_t u = static_cast<uint64_t>(x);
  const bool negative = !is_unsigned && x < 0;
  switch (op) {
    case OpKind::kAbs:
      y = negative ? static_cast<int64_t>(-u) : x;
      return true;
    case OpKind::kNeg:
      y = static_cast<int64_t>(-u);
      return true;
    case OpKind::kSquare:
      y = static_cast<int64_t>(u * u);
      return true;
    case OpKind::kFloor:
      y = x;
      return true;
    case OpKind::kRelu:
      y = negative ? 0 : x;
      return true;
    default:
      return false;
  }
}

}  // namespace

Outputs Unary(const Call& call) {
  const Tensor& x = call.in(0);
  const OpKind op = call.node.op;
  int64_t unused = 0;
  if (IsInteger(x.type()) && IntegerUnaryOf(op, false, 0, unused)) {
    const bool is_unsigned = x.type() == DataType::kUInt64;
    std::vector<int64_t> y = x.ToInts();
    for (int64_t& element : y) IntegerUnaryOf(op, is_unsigned, element, element);
    return std::vector<Tensor>{FromInts(call.type(), x.dims(), y)};
  }
  const double alpha = call.attributes().Float("alpha", op == OpKind::kElu ? 1.0f : 0.01f);
  std::vector<double> y = x.ToDoubles();
  for (double& element : y) element = UnaryOf(op, element, alpha);
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

}  // namespace halftone::reference
