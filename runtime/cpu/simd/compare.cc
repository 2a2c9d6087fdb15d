// SPDX-License-Identifier: Apache-2.0
// Comparisons of numbers and bools of every type: 1 or 0 in the type of the result, whatever that is. A loop knows the
// width of that type only; what 1 looks like in it is a parameter.
#include <bit>

#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone::simd {
namespace {

#define HALFTONE_COMPARISON(Name, expression)  \
  struct Name {                                \
    template <typename T>                      \
    static HALFTONE_INLINE bool Of(T a, T b) { \
      return expression;                       \
    }                                          \
  };
HALFTONE_COMPARISON(EqualOf, a == b)
HALFTONE_COMPARISON(NotEqualOf, a != b)
HALFTONE_COMPARISON(LessOf, a < b)
HALFTONE_COMPARISON(LessEqualOf, a <= b)
HALFTONE_COMPARISON(GreaterOf, a > b)
HALFTONE_COMPARISON(GreaterEqualOf, a >= b)
#undef HALFTONE_COMPARISON

template <typename F, typename In, typename Bits>
HALFTONE_INLINE void CompareBody(const Operands& o, std::byte* y, int64_t count) {
  const auto* a = reinterpret_cast<const typename In::Stored*>(o.from[0]);
  const auto* b = reinterpret_cast<const typename In::Stored*>(o.from[1]);
  Bits* out = reinterpret_cast<Bits*>(y);
  const Bits one = static_cast<Bits>(o.p);
  const int64_t a_step = o.step[0], b_step = o.step[1];
  if (a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = F::Of(In::Get(a[i]), In::Get(b[i])) ? one : Bits{0};
  } else if (a_step == 1 && b_step == 0) {
    const auto right = In::Get(*b);
    for (int64_t i = 0; i < count; ++i) out[i] = F::Of(In::Get(a[i]), right) ? one : Bits{0};
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = F::Of(In::Get(a[i * a_step]), In::Get(b[i * b_step])) ? one : Bits{0};
  }
}

template <typename F, typename In, typename Bits>
struct CompareRows {
  HALFTONE_FOR_AVX512 static void Avx512(const Operands& o, std::byte* y, int64_t n) {
    CompareBody<F, In, Bits>(o, y, n);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const Operands& o, std::byte* y, int64_t n) { CompareBody<F, In, Bits>(o, y, n); }
  static void Any(const Operands& o, std::byte* y, int64_t n) { CompareBody<F, In, Bits>(o, y, n); }
  static Row Choose() {
    if constexpr (kOften<In>) return ForThisCpu<Row>(Avx512, Avx2, Any);
    return Any;
  }
};

template <typename F, typename In>
Row RowOfWidth(size_t bytes) {
  switch (bytes) {
    case 1:
      return CompareRows<F, In, uint8_t>::Choose();
    case 2:
      return CompareRows<F, In, uint16_t>::Choose();
    case 4:
      return CompareRows<F, In, uint32_t>::Choose();
    case 8:
      return CompareRows<F, In, uint64_t>::Choose();
    default:
      return nullptr;
  }
}

template <typename F>
Row RowOf(DataType type, size_t bytes) {
  Row row = nullptr;
  const auto visit = [&]<typename T>() { row = RowOfWidth<F, T>(bytes); };
  if (!VisitFloats(type, visit) && !VisitIntegers(type, visit) && type == DataType::kBool) {
    visit.template operator()<Plain<uint8_t>>();
  }
  return row;
}

Row RowOf(OpKind op, DataType type, size_t bytes) {
  switch (op) {
    case OpKind::kEqual:
      return RowOf<EqualOf>(type, bytes);
    case OpKind::kNotEqual:
      return RowOf<NotEqualOf>(type, bytes);
    case OpKind::kLess:
      return RowOf<LessOf>(type, bytes);
    case OpKind::kLessEqual:
      return RowOf<LessEqualOf>(type, bytes);
    case OpKind::kGreater:
      return RowOf<GreaterOf>(type, bytes);
    case OpKind::kGreaterEqual:
      return RowOf<GreaterEqualOf>(type, bytes);
    default:
      return nullptr;
  }
}

// What 1 looks like, as an integer, which a parameter holds exactly.
double BitsOfOne(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return static_cast<double>(std::bit_cast<uint64_t>(1.0));
    case DataType::kFloat32:
      return std::bit_cast<uint32_t>(1.0f);
    case DataType::kBFloat16:
      return Bf16::Put(1.0f);
    case DataType::kFloat16:
      return F16::Put(1.0f);
    default:
      return 1;
  }
}

class CompareKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0), result = context.OutputType();
    if (context.InputType(1) != type) return absl::UnimplementedError("operands of different types");
    const size_t bytes = ElementSize(type), result_bytes = ElementSize(result);
    const Row row = RowOf(context.node().op, type, result_bytes);
    if (row == nullptr || !(IsFloatingPoint(result) || IsInteger(result) || result == DataType::kBool))
      return absl::UnimplementedError("no loop for these types");
    Prepared prepared{
        .inputs = {{0, Placement{type}}, {1, Placement{type}}}, .outputs = {Placement{result}}, .kernel = "loop"};
    if (context.InputDims(0) == context.OutputDims() && bytes == result_bytes) prepared.may_overwrite = 0;
    prepared.step =
        MakeElementwiseStep(row, context.OutputDims(), result_bytes,
                            {{context.InputDims(0), bytes}, {context.InputDims(1), bytes}}, BitsOfOne(result));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCompareKernel() { return std::make_unique<CompareKernel>(); }

}  // namespace halftone::simd
