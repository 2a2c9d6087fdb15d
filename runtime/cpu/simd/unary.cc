// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one tensor: every function that the reference has, in loops over plain memory. Functions that real
// models spend time in are polynomials that compilers vectorize; the rest is the C library's.
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone::simd {
namespace {

// erf(x) for |x| < 1, by a polynomial in x^2.
HALFTONE_INLINE float SmallErf(float x) {
  const float t = x * x;
  float p = 7.875874871388078e-05f;
  p = p * t - 0.000801686430349946f;
  p = p * t + 0.005189087241888046f;
  p = p * t - 0.02685421146452427f;
  p = p * t + 0.11283594369888306f;
  p = p * t - 0.3761262595653534f;
  p = p * t + 1.1283791065216064f;
  return x * p;
}
// 1 - erf(x) for x >= 1: the exponential of a polynomial; from 4 on what it is at 4, 1.5e-8; from 10 on 0.
HALFTONE_INLINE float LargeErfc(float x) {
  const bool vanishes = x > 10.0f;
  x = x > 4.0f ? 4.0f : x;
  float p = -1.6371513993362896e-06f;
  p = p * x + 4.605804497259669e-05f;
  p = p * x - 0.0005968056502752006f;
  p = p * x + 0.004759596195071936f;
  p = p * x - 0.026421135291457176f;
  p = p * x + 0.11008008569478989f;
  p = p * x + 0.6318260431289673f;
  p = p * x + 1.1302334070205688f;
  p = p * x - 0.0003201380604878068f;
  return vanishes ? 0.0f : ExpOf(-p);
}
HALFTONE_INLINE float ErfF32(float x) {
  const float size = std::fabs(x);
  const float large = 1.0f - LargeErfc(size);
  return size < 1.0f ? SmallErf(x) : std::copysign(large, x);
}
HALFTONE_INLINE float ErfcF32(float x) {
  const float size = std::fabs(x);
  const float large = LargeErfc(size);
  return size < 1.0f ? 1.0f - SmallErf(x) : x < 0 ? 2.0f - large : large;
}

template <typename T>
constexpr bool kIsF32 = std::is_same_v<T, float>;
template <typename T>
HALFTONE_INLINE T Clip01(T x) {
  const T raised = x < 0 ? T(0) : x;
  return raised > 1 ? T(1) : raised;
}

// y = Of(x, p, q) for floats.
#define HALFTONE_FUNCTION(Name, expression)                                                            \
  struct Name {                                                                                        \
    template <typename T>                                                                              \
    static HALFTONE_INLINE auto Of([[maybe_unused]] T x, [[maybe_unused]] T p, [[maybe_unused]] T q) { \
      return expression;                                                                               \
    }                                                                                                  \
  };
HALFTONE_FUNCTION(AbsOf, std::abs(x))
HALFTONE_FUNCTION(NegOf, -x)
HALFTONE_FUNCTION(ExpOfX, std::exp(x))
HALFTONE_FUNCTION(LogOf, std::log(x))
HALFTONE_FUNCTION(SqrtOf, std::sqrt(x))
HALFTONE_FUNCTION(RsqrtOf, T(1) / std::sqrt(x))
HALFTONE_FUNCTION(ReciprocalOf, T(1) / x)
HALFTONE_FUNCTION(SquareOf, x* x)
HALFTONE_FUNCTION(FloorOf, std::floor(x))
HALFTONE_FUNCTION(CeilOf, std::ceil(x))
HALFTONE_FUNCTION(RoundOf, std::nearbyint(x))
HALFTONE_FUNCTION(SignOf, x > 0 ? T(1) : x < 0 ? T(-1) : x)
HALFTONE_FUNCTION(ReluOf, x < 0 ? T(0) : x)
HALFTONE_FUNCTION(Relu6Of, x < 0 ? T(0) : x > 6 ? T(6) : x)
HALFTONE_FUNCTION(TanhOfX, std::tanh(x))
HALFTONE_FUNCTION(LogisticOf, T(1) / (T(1) + std::exp(-x)))
HALFTONE_FUNCTION(SoftplusOf, (x < 0 ? T(0) : x) + std::log1p(std::exp(-std::abs(x))))
HALFTONE_FUNCTION(EluOf, x < 0 ? p * std::expm1(x) : x)
HALFTONE_FUNCTION(LeakyReluOf, x < 0 ? p * x : x)
HALFTONE_FUNCTION(AcosOf, std::acos(x))
HALFTONE_FUNCTION(AcoshOf, std::acosh(x))
HALFTONE_FUNCTION(AsinOf, std::asin(x))
HALFTONE_FUNCTION(AsinhOf, std::asinh(x))
HALFTONE_FUNCTION(AtanOf, std::atan(x))
HALFTONE_FUNCTION(AtanhOf, std::atanh(x))
HALFTONE_FUNCTION(CosOf, std::cos(x))
HALFTONE_FUNCTION(CoshOf, std::cosh(x))
HALFTONE_FUNCTION(SinOf, std::sin(x))
HALFTONE_FUNCTION(SinhOf, std::sinh(x))
HALFTONE_FUNCTION(TanOf, std::tan(x))
HALFTONE_FUNCTION(Log1pOf, std::log1p(x))
HALFTONE_FUNCTION(Expm1Of, std::expm1(x))
HALFTONE_FUNCTION(ErfcOfX, std::erfc(x))
HALFTONE_FUNCTION(SoftsignOf, x / (T(1) + std::abs(x)))
HALFTONE_FUNCTION(HardSwishOf, x* Clip01(x / T(6) + T(0.5)))
HALFTONE_FUNCTION(HardSigmoidOf, Clip01(p* x + q))
HALFTONE_FUNCTION(SeluOf, q*(x > 0 ? x : p * std::expm1(x)))
HALFTONE_FUNCTION(CeluOf, x > 0 ? x : p * std::expm1(x / p))
HALFTONE_FUNCTION(ThresholdedReluOf, x > p ? x : T(0))
HALFTONE_FUNCTION(SwishOf, x / (T(1) + std::exp(-p * x)))
HALFTONE_FUNCTION(ShrinkOf, x<-p ? x + q : x> p ? x - q : T(0))
HALFTONE_FUNCTION(NotOf, x == 0)
HALFTONE_FUNCTION(IsNaNOf, x != x)
HALFTONE_FUNCTION(IsFiniteOf, std::abs(x) <= std::numeric_limits<T>::max())
HALFTONE_FUNCTION(IsInfOf, std::abs(x) > std::numeric_limits<T>::max())
HALFTONE_FUNCTION(IsPositiveInfOf, x > std::numeric_limits<T>::max())
HALFTONE_FUNCTION(IsNegativeInfOf, x < std::numeric_limits<T>::lowest())
HALFTONE_FUNCTION(NeverOf, false)
HALFTONE_FUNCTION(SameOf, x)
HALFTONE_FUNCTION(BitwiseNotOf, static_cast<T>(~x))
// Integers wrap around.
HALFTONE_FUNCTION(IntegerNegOf, static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)))
HALFTONE_FUNCTION(IntegerAbsOf,
                  static_cast<T>(x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x)))
HALFTONE_FUNCTION(IntegerSquareOf, static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x)))
HALFTONE_FUNCTION(IntegerSignOf, static_cast<T>(x < 0 ? -1 : x == 0 ? 0 : 1))
#undef HALFTONE_FUNCTION

struct ErfOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T x, T, T) {
    if constexpr (kIsF32<T>) return ErfF32(x);
    return static_cast<T>(std::erf(x));
  }
};
struct GeluOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T x, T, T) {
    const T z = x * T(-1 / std::numbers::sqrt2);
    if constexpr (kIsF32<T>) return 0.5f * x * ErfcF32(z);
    return static_cast<T>(0.5 * x * std::erfc(z));
  }
};
// x / (1 + exp(-2 z)) is x (1 + tanh(z)) / 2.
struct TanhGeluOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T x, T, T) {
    const T z = T(-2 * 0.7978845608028653558798921198687637) * (x + T(0.044715) * x * x * x);
    if constexpr (kIsF32<T>) return x / (1.0f + (z > 88.0f ? std::numeric_limits<float>::infinity() : ExpOf(z)));
    return x / (T(1) + std::exp(z));
  }
};
// tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2).
struct MishOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T x, T, T) {
    T e;
    if constexpr (kIsF32<T>)
      e = x < -87.0f ? 0.0f : ExpOf(x > 20.0f ? 20.0f : x);
    else
      e = std::exp(x > 20 ? T(20) : x);
    const T n = e * (e + 2);
    return x * (n / (n + 2));
  }
};

// An attribute of the function, with its default.
struct Parameter {
  std::string_view name;
  float otherwise = 0;
};

using Choose = Row (*)(DataType type);

// Floats to the same type or to bools; integers likewise.
template <typename F>
Row Floats(DataType type) {
  Row row = nullptr;
  VisitFloats(type, [&row]<typename T>() { row = UnaryRows<F, T, T>::Choose(); });
  return row;
}
template <typename F>
Row FloatsToBool(DataType type) {
  Row row = nullptr;
  VisitFloats(type, [&row]<typename T>() { row = UnaryRows<F, T, Plain<uint8_t>>::Choose(); });
  return row;
}
template <typename F>
Row Integers(DataType type) {
  Row row = nullptr;
  VisitIntegers(type, [&row]<typename T>() { row = UnaryRows<F, T, T>::Choose(); });
  return row;
}
template <typename F>
Row Bools(DataType type) {
  return type == DataType::kBool ? UnaryRows<F, Plain<uint8_t>, Plain<uint8_t>>::Choose() : nullptr;
}

struct Function {
  OpKind op;
  Choose floats = nullptr;
  Choose others = nullptr;  // integers and bools
  Parameter p = {};
  Parameter q = {};
};

using enum OpKind;

constexpr Function kFunctions[] = {
    {kAbs, Floats<AbsOf>, Integers<IntegerAbsOf>},
    {kNeg, Floats<NegOf>, Integers<IntegerNegOf>},
    {kExp, Floats<ExpOfX>},
    {kLog, Floats<LogOf>},  // oneDNN's is off by more than an ulp or two near 0.5
    {kSqrt, Floats<SqrtOf>},
    {kRsqrt, Floats<RsqrtOf>},
    {kReciprocal, Floats<ReciprocalOf>},
    {kSquare, Floats<SquareOf>, Integers<IntegerSquareOf>},
    {kFloor, Floats<FloorOf>, Integers<SameOf>},
    {kErf, Floats<ErfOf>},
    {kRelu, Floats<ReluOf>, Integers<ReluOf>},
    {kRelu6, Floats<Relu6Of>},
    {kTanh, Floats<TanhOfX>},
    {kSigmoid, Floats<LogisticOf>},
    {kSoftplus, Floats<SoftplusOf>},
    {kElu, Floats<EluOf>, nullptr, {"alpha", 1}},
    {kLeakyRelu, Floats<LeakyReluOf>, nullptr, {"alpha", 0.01f}},
    {kAcos, Floats<AcosOf>},
    {kAcosh, Floats<AcoshOf>},
    {kAsin, Floats<AsinOf>},
    {kAsinh, Floats<AsinhOf>},
    {kAtan, Floats<AtanOf>},
    {kAtanh, Floats<AtanhOf>},
    {kCos, Floats<CosOf>},
    {kCosh, Floats<CoshOf>},
    {kSin, Floats<SinOf>},
    {kSinh, Floats<SinhOf>},
    {kTan, Floats<TanOf>},
    {kCeil, Floats<CeilOf>, Integers<SameOf>},
    {kRound, Floats<RoundOf>, Integers<SameOf>},
    {kSign, Floats<SignOf>, Integers<IntegerSignOf>},
    {kLog1p, Floats<Log1pOf>},
    {kExpm1, Floats<Expm1Of>},
    {kErfc, Floats<ErfcOfX>},
    {kSoftsign, Floats<SoftsignOf>},
    {kMish, Floats<MishOf>},
    {kHardSwish, Floats<HardSwishOf>},
    {kBitwiseNot, nullptr, Integers<BitwiseNotOf>},
    {kNot, nullptr, Bools<NotOf>},
    {kHardSigmoid, Floats<HardSigmoidOf>, nullptr, {"alpha", 0.2f}, {"beta", 0.5f}},
    {kSelu, Floats<SeluOf>, nullptr, {"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}},
    {kCelu, Floats<CeluOf>, nullptr, {"alpha", 1}},
    {kThresholdedRelu, Floats<ThresholdedReluOf>, nullptr, {"alpha", 1}},
    {kSwish, Floats<SwishOf>, nullptr, {"alpha", 1}},
    {kShrink, Floats<ShrinkOf>, nullptr, {"lambd", 0.5f}, {"bias", 0}},
    {kIsNaN, FloatsToBool<IsNaNOf>},
    {kIsFinite, FloatsToBool<IsFiniteOf>},
};

// The node's row; those with variants by attribute are chosen here.
Function FunctionOf(const Node& node) {
  if (node.attributes.has("activation")) return {node.op};  // softplus.cc
  if (node.op == kGelu) {
    const bool tanh = node.attributes.String("approximate", "none") == "tanh";
    return {kGelu, tanh ? Floats<TanhGeluOf> : Floats<GeluOf>};
  }
  if (node.op == kIsInf) {
    const bool negative = node.attributes.Bool("detect_negative", true);
    const bool positive = node.attributes.Bool("detect_positive", true);
    return {kIsInf, negative && positive ? FloatsToBool<IsInfOf>
                    : positive           ? FloatsToBool<IsPositiveInfOf>
                    : negative           ? FloatsToBool<IsNegativeInfOf>
                                         : FloatsToBool<NeverOf>};
  }
  for (const Function& function : kFunctions) {
    if (function.op == node.op) return function;
  }
  return {node.op};
}

class UnaryKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    const Function function = FunctionOf(context.node());
    const Choose choose = IsFloatingPoint(type) ? function.floats : function.others;
    const Row row = choose == nullptr ? nullptr : choose(type);
    if (row == nullptr) return absl::UnimplementedError("no loop for this function and type");
    const DataType result = context.OutputType();
    const auto value = [&context](const Parameter& parameter) -> double {
      if (parameter.name.empty()) return 0;
      return context.node().attributes.Float(parameter.name, parameter.otherwise);
    };
    Prepared prepared{.inputs = {{0, Placement{type}}}, .outputs = {Placement{result}}, .kernel = "loop"};
    if (ElementSize(type) == ElementSize(result)) prepared.may_overwrite = 0;
    prepared.step =
        MakeElementwiseStep(row, context.OutputDims(), ElementSize(result), {{context.InputDims(0), ElementSize(type)}},
                            value(function.p), value(function.q));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeUnaryKernel() { return std::make_unique<UnaryKernel>(); }

}  // namespace halftone::simd
