// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/skinny_matmul.h"

#include "runtime/cpu/simd/skinny_matmul_kinds.h"
#include "runtime/cpu/simd/targets.h"

namespace halftone::simd {

#if defined(__x86_64__)

SkinnyMatMulFunction SkinnyMatMulFor(DataType type, DataType result) {
  constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;
  const bool avx512 = HasAvx512();
  if (type == kF32 && result == kF32) return avx512 ? SkinnyMatMulF32 : nullptr;
  if (type == DataType::kUInt8 || type == DataType::kInt8) {
    const bool finishes = result == DataType::kUInt8 || result == DataType::kInt8 || result == kF32 || result == kBf16;
    if (!avx512 || !HasAvx512Vnni() || !finishes) return nullptr;
    return type == DataType::kUInt8 ? SkinnyMatMulU8 : SkinnyMatMulS8;
  }
  if (type != kBf16 || !avx512 || !HasAvx512Bf16()) return nullptr;
  if (result == kF32) return SkinnyMatMulBf16ToF32;
  return result == kBf16 ? SkinnyMatMulBf16 : nullptr;
}

bool HasSkinnyMatMulActivation(Activation activation) {
  return activation == Activation::kNone || SkinnyMatMulActivation(activation) != nullptr;
}

void (*SkinnyMatMulActivation(Activation activation))(float*, int64_t) {
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

SkinnyMatMulFunction SkinnyMatMulFor(DataType, DataType) { return nullptr; }
bool HasSkinnyMatMulActivation(Activation activation) { return activation == Activation::kNone; }
void (*SkinnyMatMulActivation(Activation))(float*, int64_t) { return nullptr; }

#endif

}  // namespace halftone::simd
