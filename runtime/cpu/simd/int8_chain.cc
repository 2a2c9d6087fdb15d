// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_chain.h"

#include <algorithm>
#include <utility>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int64_t kPiece = 512;    // elements that are worked on at once

// acc[i] = acc[i] op x[i], or x[i] op acc[i].
using Combine = void (*)(float* acc, const float* x, int64_t count);

#define HALFTONE_FUNCTION(Name, expression)                                  \
  struct Name {                                                              \
    static HALFTONE_INLINE float Of(float a, float b) { return expression; } \
  };
HALFTONE_FUNCTION(AddOf, a + b)
HALFTONE_FUNCTION(SubOf, a - b)
HALFTONE_FUNCTION(ReverseSubOf, b - a)
HALFTONE_FUNCTION(MulOf, a* b)
HALFTONE_FUNCTION(DivOf, a / b)
HALFTONE_FUNCTION(ReverseDivOf, b / a)
HALFTONE_FUNCTION(MaxOf, a > b ? a : b)
HALFTONE_FUNCTION(MinOf, a < b ? a : b)
#undef HALFTONE_FUNCTION

template <typename F>
HALFTONE_INLINE void CombineBody(float* __restrict acc, const float* __restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) acc[i] = F::Of(acc[i], x[i]);
}
template <typename F>
struct Rows {
  HALFTONE_FOR_AVX512 static void Avx512(float* a, const float* x, int64_t n) { CombineBody<F>(a, x, n); }
  HALFTONE_FOR_AVX2 static void Avx2(float* a, const float* x, int64_t n) { CombineBody<F>(a, x, n); }
  static void Any(float* a, const float* x, int64_t n) { CombineBody<F>(a, x, n); }
  static Combine Choose() { return ForThisCpu<Combine>(Avx512, Avx2, Any); }
};

Combine CombineFor(const ChainStep& step) {
  switch (step.op) {
    case OpKind::kAdd:
      return Rows<AddOf>::Choose();
    case OpKind::kSub:
      return step.reversed ? Rows<ReverseSubOf>::Choose() : Rows<SubOf>::Choose();
    case OpKind::kMul:
      return Rows<MulOf>::Choose();
    case OpKind::kDiv:
      return step.reversed ? Rows<ReverseDivOf>::Choose() : Rows<DivOf>::Choose();
    case OpKind::kMaximum:
      return Rows<MaxOf>::Choose();
    case OpKind::kMinimum:
      return Rows<MinOf>::Choose();
    default:
      return nullptr;
  }
}

// Elements of x, `stride` apart, as numbers.
void Load(const Int8ChainOperand& operand, const std::byte* x, int64_t stride, int64_t count, float* numbers) {
  const int64_t bytes = static_cast<int64_t>(ElementSize(operand.type));
  if (stride != 1) {
    for (int64_t i = 0; i < (stride == 0 ? 1 : count); ++i) Load(operand, x + i * stride * bytes, 1, 1, numbers + i);
    if (stride == 0) std::fill(numbers + 1, numbers + count, numbers[0]);
  } else {
    DequantizeRow(x, operand.type, operand.scale, operand.zero_point, count, numbers);
  }
}

class Int8Chain final : public Step {
 public:
  Int8Chain(Int8ChainTask task, std::vector<Combine> steps) : task_(std::move(task)), steps_(std::move(steps)) {
    for (size_t i = task_.dims.size(); i-- > 1;) {  // rows as long as possible
      if (task_.dims[i] != 1 && task_.dims[i - 1] != 1 && !CanMerge(i)) continue;
      const bool inner = task_.dims[i] != 1;
      task_.dims[i - 1] *= task_.dims[i];
      task_.dims.erase(task_.dims.begin() + i);
      for (Int8ChainOperand& operand : task_.operands)
        operand.strides.erase(operand.strides.begin() + (inner ? i - 1 : i));
    }
    if (task_.dims.empty()) {
      task_.dims = {1};
      for (Int8ChainOperand& operand : task_.operands) operand.strides = {1};
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_.assign(inputs.begin(), inputs.end());
    y_ = outputs[0];
  }

  absl::Status Run() override {
    const int64_t count = task_.dims.back(), pieces = (count + kPiece - 1) / kPiece;
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < task_.dims.size(); ++i) rows *= task_.dims[i];
    ParallelFor(rows * pieces, kGrain / std::min(count, kPiece) + 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i % pieces * kPiece;
        Piece(i / pieces, begin, std::min(kPiece, count - begin));
      }
    });
    return absl::OkStatus();
  }

 private:
  // Whether dimension i of every operand follows i - 1 as the result's does.
  bool CanMerge(size_t i) const {
    return std::ranges::all_of(task_.operands, [&](const Int8ChainOperand& operand) {
      return operand.strides[i - 1] == operand.strides[i] * task_.dims[i];
    });
  }

  // `count` elements of a row from `begin` on.
  void Piece(int64_t row, int64_t begin, int64_t count) const {
    float acc[kPiece], numbers[kPiece];
    for (size_t o = 0; o < task_.operands.size(); ++o) {
      const Int8ChainOperand& operand = task_.operands[o];
      int64_t at = begin * operand.strides.back(), rest = row;
      for (size_t d = task_.dims.size() - 1; d-- > 0;) {
        at += rest % task_.dims[d] * operand.strides[d];
        rest /= task_.dims[d];
      }
      const std::byte* x = from_[o] + at * static_cast<int64_t>(ElementSize(operand.type));
      Load(operand, x, operand.strides.back(), count, o == 0 ? acc : numbers);
      if (o > 0) steps_[o - 1](acc, numbers, count);
    }
    const int64_t to = row * task_.dims.back() + begin;
    FinishRow(task_.finish, acc, count, y_ + to * static_cast<int64_t>(ElementSize(task_.finish.type)));
  }

  Int8ChainTask task_;
  const std::vector<Combine> steps_;
  std::vector<const std::byte*> from_;
  std::byte* y_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> MakeInt8ChainStep(Int8ChainTask task) {
  std::vector<Combine> steps;
  for (const ChainStep& step : task.steps) {
    steps.push_back(CombineFor(step));
    if (steps.back() == nullptr) return nullptr;
  }
  return std::make_unique<Int8Chain>(std::move(task), std::move(steps));
}

}  // namespace halftone::simd
