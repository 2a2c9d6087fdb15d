// SPDX-License-Identifier: Apache-2.0
// Elementwise functions over plain memory with numpy broadcasting: what all of them share. An op is a functor; a table
// in each file says which op is which functor and for which types.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ELEMENTWISE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ELEMENTWISE_H_

#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"
#include "runtime/plan/kernel.h"

namespace halftone::simd {

// ---- Element types: what lies in memory (Stored), and in what it is computed (Computed).

template <typename T>
struct Plain {
  using Stored = T;
  using Computed = T;
  static HALFTONE_INLINE T Get(T value) { return value; }
  static HALFTONE_INLINE T Put(T value) { return value; }
};
struct Bf16 {
  using Stored = uint16_t;
  using Computed = float;
  static HALFTONE_INLINE float Get(uint16_t bits) { return FromBf16(bits); }
  static HALFTONE_INLINE uint16_t Put(float value) { return ToBf16(value); }
};
struct F16 {
  using Stored = uint16_t;
  using Computed = float;
  static HALFTONE_INLINE float Get(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
  static HALFTONE_INLINE uint16_t Put(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
};

// Calls visit.operator()<Element>() for the floats or integers of this type; false for other types.
template <typename Visit>
bool VisitFloats(DataType type, const Visit& visit) {
  if (type == DataType::kFloat32)
    visit.template operator()<Plain<float>>();
  else if (type == DataType::kBFloat16)
    visit.template operator()<Bf16>();
  else if (type == DataType::kFloat16)
    visit.template operator()<F16>();
  else if (type == DataType::kFloat64)
    visit.template operator()<Plain<double>>();
  else
    return false;
  return true;
}
template <typename Visit>
bool VisitIntegers(DataType type, const Visit& visit) {
  if (type == DataType::kInt32)
    visit.template operator()<Plain<int32_t>>();
  else if (type == DataType::kInt64)
    visit.template operator()<Plain<int64_t>>();
  else if (type == DataType::kUInt8)
    visit.template operator()<Plain<uint8_t>>();
  else if (type == DataType::kInt8)
    visit.template operator()<Plain<int8_t>>();
  else if (type == DataType::kInt16)
    visit.template operator()<Plain<int16_t>>();
  else if (type == DataType::kUInt16)
    visit.template operator()<Plain<uint16_t>>();
  else if (type == DataType::kUInt32)
    visit.template operator()<Plain<uint32_t>>();
  else if (type == DataType::kUInt64)
    visit.template operator()<Plain<uint64_t>>();
  else
    return false;
  return true;
}

// ---- Rows: y[i] = f(operands at i), one operand a step of 0 (broadcast) or more elements.

inline constexpr int kMaxOperands = 3;

struct Operands {
  const std::byte* from[kMaxOperands] = {};
  int64_t step[kMaxOperands] = {};
  double p = 0, q = 0;  // parameters of the function
};
using Row = void (*)(const Operands& operands, std::byte* y, int64_t count);

// The loop of the functor F: F::Of(a, p, q) or F::Of(a, b, p, q), with F's operands of type In and its result of type
// Out.
template <typename F, typename In, typename Out>
HALFTONE_INLINE void UnaryBody(const Operands& o, std::byte* y, int64_t count) {
  using Computed = typename In::Computed;
  const auto* a = reinterpret_cast<const typename In::Stored*>(o.from[0]);
  auto* out = reinterpret_cast<typename Out::Stored*>(y);
  const Computed p = static_cast<Computed>(o.p), q = static_cast<Computed>(o.q);
  const int64_t step = o.step[0];
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(In::Get(a[i]), p, q));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(In::Get(a[i * step]), p, q));
  }
}

template <typename F, typename In, typename Out>
HALFTONE_INLINE void BinaryBody(const Operands& o, std::byte* y, int64_t count) {
  const auto* a = reinterpret_cast<const typename In::Stored*>(o.from[0]);
  const auto* b = reinterpret_cast<const typename In::Stored*>(o.from[1]);
  auto* out = reinterpret_cast<typename Out::Stored*>(y);
  const int64_t a_step = o.step[0], b_step = o.step[1];
  if (a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(In::Get(a[i]), In::Get(b[i])));
  } else if (a_step == 1 && b_step == 0) {
    const auto right = In::Get(*b);
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(In::Get(a[i]), right));
  } else if (a_step == 0 && b_step == 1) {
    const auto left = In::Get(*a);
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(left, In::Get(b[i])));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = Out::Put(F::Of(In::Get(a[i * a_step]), In::Get(b[i * b_step])));
  }
}

// Those loops, compiled for each kind of CPU where models spend time in them (one kind else: it is a lot of code).
template <typename T>
inline constexpr bool kOften = std::is_same_v<T, Plain<float>> || std::is_same_v<T, Bf16>;

template <typename F, typename In, typename Out>
struct UnaryRows {
  HALFTONE_FOR_AVX512 static void Avx512(const Operands& o, std::byte* y, int64_t n) { UnaryBody<F, In, Out>(o, y, n); }
  HALFTONE_FOR_AVX2 static void Avx2(const Operands& o, std::byte* y, int64_t n) { UnaryBody<F, In, Out>(o, y, n); }
  static void Any(const Operands& o, std::byte* y, int64_t n) { UnaryBody<F, In, Out>(o, y, n); }
  static Row Choose() {
    if constexpr (kOften<In>) return ForThisCpu<Row>(Avx512, Avx2, Any);
    return Any;
  }
};
template <typename F, typename In, typename Out>
struct BinaryRows {
  HALFTONE_FOR_AVX512 static void Avx512(const Operands& o, std::byte* y, int64_t n) {
    BinaryBody<F, In, Out>(o, y, n);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const Operands& o, std::byte* y, int64_t n) { BinaryBody<F, In, Out>(o, y, n); }
  static void Any(const Operands& o, std::byte* y, int64_t n) { BinaryBody<F, In, Out>(o, y, n); }
  static Row Choose() {
    if constexpr (kOften<In>) return ForThisCpu<Row>(Avx512, Avx2, Any);
    return Any;
  }
};

// ---- The step.

struct Operand {
  std::vector<int64_t> dims;
  size_t element_bytes = 0;
};

// Runs `row` over an array of `dims` with elements of `element_bytes`, on several threads where there is enough to do.
// Inputs in the order of Prepared::inputs, which is that of `operands`. REQUIRES: each operand broadcasts to `dims`
std::unique_ptr<Step> MakeElementwiseStep(Row row, std::vector<int64_t> dims, size_t element_bytes,
                                          const std::vector<Operand>& operands, double p = 0, double q = 0);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ELEMENTWISE_H_
