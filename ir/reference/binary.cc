// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two tensors. Integers are computed in 64 bits and wrap around; everything else in doubles.

#include <algorithm>
#include <cmath>

#include "ir/reference/elementwise_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"
#include "ir/window.h"

namespace halftone::reference {
namespace {

using enum OpKind;

// The function of an op for reals, signed integers and 64-bit unsigned integers; null: the op does not support them.
// Comparisons and logical ops return 0 and 1.
struct Row {
  OpKind op;
  double (*reals)(double a, double b);
  int64_t (*integers)(int64_t a, int64_t b);
  uint64_t (*naturals)(uint64_t a, uint64_t b);
};

// One definition for all three: `kOf` is a generic lambda.
template <auto kOf>
constexpr Row Same(OpKind op) {
  return {op, [](double a, double b) -> double { return kOf(a, b); },
          [](int64_t a, int64_t b) -> int64_t { return kOf(a, b); },
          [](uint64_t a, uint64_t b) -> uint64_t { return kOf(a, b); }};
}

// Integers modulo 2^64 (two's complement).
template <auto kOf>
constexpr Row Wrapping(OpKind op) {
  return {op, [](double a, double b) -> double { return kOf(a, b); },
          [](int64_t a, int64_t b) {
            return static_cast<int64_t>(kOf(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
          },
          [](uint64_t a, uint64_t b) -> uint64_t { return kOf(a, b); }};
}

// Bitwise ops, only for integers.
template <auto kOf>
constexpr Row Bits(OpKind op) {
  return {op, nullptr,
          [](int64_t a, int64_t b) {
            return static_cast<int64_t>(kOf(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
          },
          [](uint64_t a, uint64_t b) -> uint64_t { return kOf(a, b); }};
}

uint64_t PowerOf(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}
int64_t IntegerPowerOf(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  return static_cast<int64_t>(PowerOf(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
}

// REQUIRES: b != 0, here and in those below
int64_t QuotientOf(int64_t a, int64_t b) { return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b; }
int64_t RemainderOf(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
int64_t FloorQuotientOf(int64_t a, int64_t b) {
  const bool inexact = RemainderOf(a, b) != 0 && (a < 0) != (b < 0);
  return QuotientOf(a, b) - (inexact ? 1 : 0);
}
int64_t FloorRemainderOf(int64_t a, int64_t b) {
  const int64_t remainder = RemainderOf(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
double FloorRemainderOfReals(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

constexpr Row kFunctions[] = {
    Wrapping<[](auto a, auto b) { return a + b; }>(kAdd),
    Wrapping<[](auto a, auto b) { return a - b; }>(kSub),
    Wrapping<[](auto a, auto b) { return a * b; }>(kMul),
    Wrapping<[](auto a, auto b) { return (a - b) * (a - b); }>(kSquaredDifference),
    {kDiv, [](double a, double b) { return a / b; }, QuotientOf, [](uint64_t a, uint64_t b) { return a / b; }},
    {kMaximum, [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
     [](int64_t a, int64_t b) { return std::max(a, b); }, [](uint64_t a, uint64_t b) { return std::max(a, b); }},
    {kMinimum, [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
     [](int64_t a, int64_t b) { return std::min(a, b); }, [](uint64_t a, uint64_t b) { return std::min(a, b); }},
    {kPow, [](double a, double b) { return std::pow(a, b); }, IntegerPowerOf, PowerOf},
    {kPRelu, [](double x, double slope) { return x < 0 ? slope * x : x; },
     [](int64_t x, int64_t slope) {
       return x < 0 ? static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(slope)) : x;
     },
     [](uint64_t x, uint64_t) { return x; }},
    // The quotient is rounded to f32 before the floor, as f32 arithmetic does: see FunctionOf for f64.
    {kFloorDiv, [](double a, double b) -> double { return std::floor(static_cast<float>(a) / static_cast<float>(b)); },
     FloorQuotientOf, [](uint64_t a, uint64_t b) { return a / b; }},
    {kDivNoNan, [](double a, double b) { return b == 0 ? 0 : a / b; }, nullptr, nullptr},
    {kAtan2, [](double a, double b) { return std::atan2(a, b); }, nullptr, nullptr},
    {kMod, FloorRemainderOfReals, FloorRemainderOf, [](uint64_t a, uint64_t b) { return a % b; }},
    Bits<[](uint64_t a, uint64_t b) { return a & b; }>(kBitwiseAnd),
    Bits<[](uint64_t a, uint64_t b) { return a | b; }>(kBitwiseOr),
    Bits<[](uint64_t a, uint64_t b) { return a ^ b; }>(kBitwiseXor),
    Same<[](auto a, auto b) { return a == b ? 1 : 0; }>(kEqual),
    Same<[](auto a, auto b) { return a != b ? 1 : 0; }>(kNotEqual),
    Same<[](auto a, auto b) { return a < b ? 1 : 0; }>(kLess),
    Same<[](auto a, auto b) { return a <= b ? 1 : 0; }>(kLessEqual),
    Same<[](auto a, auto b) { return (a > b) ? 1 : 0; }>(kGreater),
    Same<[](auto a, auto b) { return (a >= b) ? 1 : 0; }>(kGreaterEqual),
    Same<[](auto a, auto b) { return a != 0 && b != 0 ? 1 : 0; }>(kAnd),
    Same<[](auto a, auto b) { return a != 0 || b != 0 ? 1 : 0; }>(kOr),
    Same<[](auto a, auto b) { return (a != 0) != (b != 0) ? 1 : 0; }>(kXor),
};

// C's remainder, with the sign of the dividend.
constexpr Row kTruncatedMod = {kMod, [](double a, double b) { return std::fmod(a, b); }, RemainderOf,
                               [](uint64_t a, uint64_t b) { return a % b; }};
constexpr Row kFloorDivF64 = {kFloorDiv, [](double a, double b) { return std::floor(a / b); }, FloorQuotientOf,
                              [](uint64_t a, uint64_t b) { return a / b; }};
// A shift by the width of the type or more gives 0; the right shift of a negative number keeps its sign.
constexpr Row kShiftLeft = Bits<[](uint64_t a, uint64_t b) { return b < 64 ? a << b : uint64_t{0}; }>(kBitShift);
constexpr Row kShiftRight = {kBitShift, nullptr, [](int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); },
                             [](uint64_t a, uint64_t b) { return b < 64 ? a >> b : uint64_t{0}; }};

absl::StatusOr<Row> FunctionOf(const Call& call) {
  const OpKind op = call.node.op;
  if (op == kMod && call.attributes().Bool("fmod", false)) return kTruncatedMod;
  if (op == kFloorDiv && call.in(0).type() == DataType::kFloat64) return kFloorDivF64;
  if (op == kBitShift) {
    const std::string direction = call.attributes().String("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") return Error("direction is '", direction, "', need LEFT or RIGHT");
    return direction == "LEFT" ? kShiftLeft : kShiftRight;
  }
  for (const Row& function : kFunctions) {
    if (function.op == op) return function;
  }
  return absl::UnimplementedError("this op has no function of two numbers");
}

}  // namespace

Outputs Binary(const Call& call) {
  const Tensor& a = call.in(0);
  const Tensor& b = call.in(1);
  const OpKind op = call.node.op;
  HALFTONE_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.dims(), b.dims()));
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  if (op == kPRelu && dims != a.dims()) {
    return Error("slope is ", b.shape().ToString(), ", which does not broadcast to x's ", a.shape().ToString());
  }
  HALFTONE_ASSIGN_OR_RETURN(const Row function, FunctionOf(call));
  if (!IsInteger(a.type()) || !IsInteger(b.type()) || function.integers == nullptr) {
    if (function.reals == nullptr) {
      return Error("a is ", DataTypeName(a.type()), " and b ", DataTypeName(b.type()), ", need integers");
    }
    const std::vector<double> y = CombineAll<double>(a, b, dims, function.reals);
    return std::vector<Tensor>{FromDoubles(call.type(), std::move(dims), y)};
  }
  if (op == kDiv || op == kFloorDiv || op == kMod) {
    const std::vector<int64_t> divisors = b.ToInts();
    if (std::find(divisors.begin(), divisors.end(), 0) != divisors.end()) return Error("an integer is divided by 0");
  }
  if (a.type() != DataType::kUInt64) {
    const std::vector<int64_t> y = CombineAll<int64_t>(a, b, dims, function.integers);
    return std::vector<Tensor>{FromInts(call.type(), std::move(dims), y)};
  }
  const std::vector<int64_t> y = CombineAll<int64_t>(a, b, dims, [&function](int64_t left, int64_t right) {
    return static_cast<int64_t>(function.naturals(static_cast<uint64_t>(left), static_cast<uint64_t>(right)));
  });
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

}  // namespace halftone::reference
