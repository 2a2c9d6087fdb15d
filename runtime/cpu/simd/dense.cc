#include "runtime/cpu/simd/dense.h"

#include "runtime/cpu/simd/dense_kinds.h"

namespace halftone::simd {

#if defined(__x86_64__) && !defined(__clang__)

DenseFunction DenseFunctionFor(DataType type, DataType result) {
  constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;
  const bool avx512 = __builtin_cpu_supports("x86-64-v4");
  if (type == kF32 && result == kF32) return avx512 ? DenseF32 : nullptr;
  if (type == DataType::kUInt8 || type == DataType::kInt8) {
    const bool finishes = result == DataType::kUInt8 || result == DataType::kInt8 || result == kF32 || result == kBf16;
    if (!avx512 || !__builtin_cpu_supports("avx512vnni") || !finishes) return nullptr;
    return type == DataType::kUInt8 ? DenseU8 : DenseS8;
  }
  if (type != kBf16 || !avx512 || !__builtin_cpu_supports("avx512bf16")) return nullptr;
  if (result == kF32) return DenseBf16ToF32;
  return result == kBf16 ? DenseBf16 : nullptr;
}

bool HasDenseActivation(Activation activation) {
  return activation == Activation::kNone || DenseActivation(activation) != nullptr;
}

void (*DenseActivation(Activation activation))(float*, int64_t) {
  switch (activation) {
    case Activation::kRelu:
      return ReluOfRow;
    case Activation::kGelu:
      return GeluOfRow;
    case Activation::kGeluTanh:
      return GeluTanhOfRow;
    case Activation::kTanh:
      return TanhOfRow;
    case Activation::kSigmoid:
      return SigmoidOfRow;
    default:
      return nullptr;
  }
}

#else

DenseFunction DenseFunctionFor(DataType, DataType) { return nullptr; }
bool HasDenseActivation(Activation activation) { return activation == Activation::kNone; }
void (*DenseActivation(Activation))(float*, int64_t) { return nullptr; }

#endif

}  // namespace halftone::simd
