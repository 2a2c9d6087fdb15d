// SPDX-License-Identifier: Apache-2.0
// What the loops of chain.cc and chain_bf16.cc have in common with those who call them.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CHAIN_KINDS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CHAIN_KINDS_H_

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/simd/chain.h"
#include "runtime/cpu/simd/row_activation.h"

namespace halftone::simd {

enum class ChainFunction : uint8_t { kAdd, kSub, kReverseSub, kMul, kDiv, kReverseDiv, kMax, kMin };

// What the loops know of a chain.
struct ChainCode {
  int operands = 0;
  ChainFunction functions[kMostChainOperands] = {};  // of operand i: with what stands before it
  bool clamps = false;                               // the activation is a clamp
  float low = 0, high = 0;
  ActivateRow activate = nullptr;  // else
  float alpha = 0, beta = 0;
};

// Rows of `count` elements. Of an operand: from element to element, 0 or more; from row to row.
struct ChainPieces {
  int64_t rows = 0, count = 0;
  const std::byte* from[kMostChainOperands] = {};
  int64_t step[kMostChainOperands] = {}, row_step[kMostChainOperands] = {};
  std::byte* y = nullptr;
};

using ChainRows = void (*)(const ChainCode& chain, const ChainPieces& pieces);

// bf16 by AVX-512 BF16; nullptr: not on this CPU (chain_bf16.cc).
ChainRows NativeBf16Chain();

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CHAIN_KINDS_H_
