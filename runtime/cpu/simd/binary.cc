// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two tensors, of every type that the reference computes with, but for comparisons (compare.cc).
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone::simd {
namespace {

// Integers of T as the machine computes: modulo 2^64, of which the low bits stay.
template <typename T>
HALFTONE_INLINE uint64_t Wide(T x) {
  return static_cast<uint64_t>(x);
}

#define HALFTONE_FUNCTION(Name, expression)    \
  struct Name {                                \
    template <typename T>                      \
    static HALFTONE_INLINE auto Of(T a, T b) { \
      return expression;                       \
    }                                          \
  };
HALFTONE_FUNCTION(AddOf, a + b)
HALFTONE_FUNCTION(SubOf, a - b)
HALFTONE_FUNCTION(MulOf, a* b)
HALFTONE_FUNCTION(DivOf, a / b)
HALFTONE_FUNCTION(MaximumOf, a != a || a > b ? a : b)  // NaN stays NaN
HALFTONE_FUNCTION(MinimumOf, a != a || a < b ? a : b)
HALFTONE_FUNCTION(PowOf, static_cast<T>(std::pow(a, b)))
HALFTONE_FUNCTION(SquaredDifferenceOf, (a - b) * (a - b))
HALFTONE_FUNCTION(PReluOf, a < 0 ? b * a : a)
HALFTONE_FUNCTION(FloorDivOf, std::floor(a / b))
HALFTONE_FUNCTION(DivNoNanOf, b == 0 ? T(0) : a / b)
HALFTONE_FUNCTION(Atan2Of, std::atan2(a, b))
HALFTONE_FUNCTION(FmodOf, std::fmod(a, b))
HALFTONE_FUNCTION(AndOf, a != 0 && b != 0)
HALFTONE_FUNCTION(OrOf, a != 0 || b != 0)
HALFTONE_FUNCTION(XorOf, (a != 0) != (b != 0))
HALFTONE_FUNCTION(IntegerAddOf, static_cast<T>(Wide(a) + Wide(b)))
HALFTONE_FUNCTION(IntegerSubOf, static_cast<T>(Wide(a) - Wide(b)))
HALFTONE_FUNCTION(IntegerMulOf, static_cast<T>(Wide(a) * Wide(b)))
HALFTONE_FUNCTION(IntegerSquaredDifferenceOf, static_cast<T>((Wide(a) - Wide(b)) * (Wide(a) - Wide(b))))
HALFTONE_FUNCTION(IntegerPReluOf, a < 0 ? static_cast<T>(Wide(a) * Wide(b)) : a)
HALFTONE_FUNCTION(BitwiseAndOf, static_cast<T>(a& b))
HALFTONE_FUNCTION(BitwiseOrOf, static_cast<T>(a | b))
HALFTONE_FUNCTION(BitwiseXorOf, static_cast<T>(a ^ b))
#undef HALFTONE_FUNCTION

struct FloorModOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    const T remainder = std::fmod(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  }
};
// REQUIRES of the four below: b != 0. The least number divided by -1 wraps around.
struct IntegerDivOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(uint64_t{0} - Wide(a));
    }
    return static_cast<T>(a / b);
  }
};
struct IntegerFmodOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct IntegerFloorModOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    const T remainder = IntegerFmodOf::Of(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? static_cast<T>(remainder + b) : remainder;
  }
};
struct IntegerFloorDivOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    const bool inexact = IntegerFmodOf::Of(a, b) != 0 && (a < 0) != (b < 0);
    return static_cast<T>(IntegerDivOf::Of(a, b) - (inexact ? 1 : 0));
  }
};
struct IntegerPowOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) return static_cast<T>(a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0);
    }
    uint64_t base = Wide(a), result = 1;
    for (uint64_t exponent = Wide(b); exponent > 0; exponent /= 2, base *= base) {
      if (exponent % 2 == 1) result *= base;
    }
    return static_cast<T>(result);
  }
};
struct ShiftLeftOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    return Wide(b) < 64 ? static_cast<T>(Wide(a) << Wide(b)) : T(0);
  }
};
struct ShiftRightOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    constexpr uint64_t kLast = sizeof(T) * 8 - 1;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(Wide(b), kLast));
    return Wide(b) <= kLast ? static_cast<T>(a >> Wide(b)) : T(0);
  }
};

using Choose = Row (*)(DataType type);

template <typename F>
Row Floats(DataType type) {
  Row row = nullptr;
  VisitFloats(type, [&row]<typename T>() { row = BinaryRows<F, T, T>::Choose(); });
  return row;
}
template <typename F>
Row Integers(DataType type) {
  Row row = nullptr;
  VisitIntegers(type, [&row]<typename T>() { row = BinaryRows<F, T, T>::Choose(); });
  return row;
}
template <typename F>
Row Bools(DataType type) {
  return type == DataType::kBool ? BinaryRows<F, Plain<uint8_t>, Plain<uint8_t>>::Choose() : nullptr;
}

struct Function {
  OpKind op;
  Choose floats = nullptr;
  Choose others = nullptr;  // integers and bools
  bool divides = false;     // no integer may be divided by 0
};

using enum OpKind;

constexpr Function kFunctions[] = {
    {kAdd, Floats<AddOf>, Integers<IntegerAddOf>},
    {kSub, Floats<SubOf>, Integers<IntegerSubOf>},
    {kMul, Floats<MulOf>, Integers<IntegerMulOf>},
    {kDiv, Floats<DivOf>, Integers<IntegerDivOf>, true},
    {kMaximum, Floats<MaximumOf>, Integers<MaximumOf>},
    {kMinimum, Floats<MinimumOf>, Integers<MinimumOf>},
    {kPow, Floats<PowOf>, Integers<IntegerPowOf>},
    {kSquaredDifference, Floats<SquaredDifferenceOf>, Integers<IntegerSquaredDifferenceOf>},
    {kPRelu, Floats<PReluOf>, Integers<IntegerPReluOf>},
    {kFloorDiv, Floats<FloorDivOf>, Integers<IntegerFloorDivOf>, true},
    {kDivNoNan, Floats<DivNoNanOf>},
    {kAtan2, Floats<Atan2Of>},
    {kMod, Floats<FloorModOf>, Integers<IntegerFloorModOf>, true},
    {kBitwiseAnd, nullptr, Integers<BitwiseAndOf>},
    {kBitwiseOr, nullptr, Integers<BitwiseOrOf>},
    {kBitwiseXor, nullptr, Integers<BitwiseXorOf>},
    {kAnd, nullptr, Bools<AndOf>},
    {kOr, nullptr, Bools<OrOf>},
    {kXor, nullptr, Bools<XorOf>},
};

Function FunctionOf(const Node& node) {
  if (node.op == kMod && node.attributes.Bool("fmod", false))
    return {kMod, Floats<FmodOf>, Integers<IntegerFmodOf>, true};
  if (node.op == kBitShift) {
    const bool left = node.attributes.String("direction", "") == "LEFT";
    return {kBitShift, nullptr, left ? Integers<ShiftLeftOf> : Integers<ShiftRightOf>};
  }
  for (const Function& function : kFunctions) {
    if (function.op == node.op) return function;
  }
  return {node.op};
}

// x to a power that is the same for all: the few that models are full of.
#define HALFTONE_FUNCTION(Name, expression)  \
  struct Name {                              \
    template <typename T>                    \
    static HALFTONE_INLINE T Of(T x, T, T) { \
      return expression;                     \
    }                                        \
  };
HALFTONE_FUNCTION(SquareOf, x* x)
HALFTONE_FUNCTION(CubeOf, x* x* x)
HALFTONE_FUNCTION(SqrtOf, x == -std::numeric_limits<T>::infinity() ? -x : std::sqrt(x + T(0)))  // as pow has it
HALFTONE_FUNCTION(InverseOf, T(1) / x)
#undef HALFTONE_FUNCTION

template <typename F>
Row UnaryFloats(DataType type) {
  Row row = nullptr;
  VisitFloats(type, [&row]<typename T>() { row = UnaryRows<F, T, T>::Choose(); });
  return row;
}

Row RowOfPower(double exponent, DataType type) {
  if (exponent == 2) return UnaryFloats<SquareOf>(type);
  if (exponent == 3) return UnaryFloats<CubeOf>(type);
  if (exponent == 0.5) return UnaryFloats<SqrtOf>(type);
  if (exponent == -1) return UnaryFloats<InverseOf>(type);
  return nullptr;
}

// Refuses divisors that hold 0 before it runs the other step.
class CheckedDivision final : public Step {
 public:
  CheckedDivision(std::unique_ptr<Step> step, DataType type, const std::vector<int64_t>& divisor_dims)
      : step_(std::move(step)), bytes_(ElementSize(type)) {
    for (const int64_t dim : divisor_dims) count_ *= dim;
  }
  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    divisor_ = inputs[1];
    step_->Bind(inputs, outputs, scratch);
  }
  absl::Status Run() override {
    const bool has_zero = bytes_ == 1   ? HasZero<uint8_t>()
                          : bytes_ == 2 ? HasZero<uint16_t>()
                          : bytes_ == 4 ? HasZero<uint32_t>()
                                        : HasZero<uint64_t>();
    return has_zero ? absl::InvalidArgumentError("an integer is divided by 0") : step_->Run();
  }

 private:
  template <typename T>
  bool HasZero() const {
    const T* divisor = reinterpret_cast<const T*>(divisor_);
    return std::find(divisor, divisor + count_, T(0)) != divisor + count_;
  }
  const std::unique_ptr<Step> step_;
  const size_t bytes_;
  int64_t count_ = 1;
  const std::byte* divisor_ = nullptr;
};

class BinaryKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0), result = context.OutputType();
    const size_t bytes = ElementSize(type), result_bytes = ElementSize(result);
    if (context.node().op == OpKind::kPow && IsFloatingPoint(type)) {
      const std::optional<double> exponent = context.ConstantScalar(1);
      const Row row = exponent.has_value() ? RowOfPower(*exponent, type) : nullptr;
      if (row != nullptr && result == type && context.InputDims(0) == context.OutputDims()) {
        return Prepared{.step = MakeElementwiseStep(row, context.OutputDims(), bytes, {{context.InputDims(0), bytes}}),
                        .inputs = {{0, Placement{type}}},
                        .outputs = {Placement{type}},
                        .may_overwrite = 0,
                        .kernel = "loop"};
      }
    }
    if (context.InputType(1) != type) return absl::UnimplementedError("operands of different types");
    const Function function = FunctionOf(context.node());
    const bool floats = IsFloatingPoint(type);
    if (floats && IsFloatingPoint(result) && result != type)
      return absl::UnimplementedError("a result of another type");
    const Choose choose = floats ? function.floats : function.others;
    const Row row = choose == nullptr ? nullptr : choose(type);
    if (row == nullptr) return absl::UnimplementedError("no loop for this function and type");
    Prepared prepared{
        .inputs = {{0, Placement{type}}, {1, Placement{type}}}, .outputs = {Placement{result}}, .kernel = "loop"};
    if (context.InputDims(0) == context.OutputDims() && bytes == result_bytes) prepared.may_overwrite = 0;
    prepared.step = MakeElementwiseStep(row, context.OutputDims(), result_bytes,
                                        {{context.InputDims(0), bytes}, {context.InputDims(1), bytes}});
    if (function.divides && !floats) {
      prepared.step = std::make_unique<CheckedDivision>(std::move(prepared.step), type, context.InputDims(1));
    }
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeBinaryKernel() { return std::make_unique<BinaryKernel>(); }

}  // namespace halftone::simd
