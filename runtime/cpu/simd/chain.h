// SPDX-License-Identifier: Apache-2.0
// Several elementwise functions of two, one after the other, and an activation, in one pass over memory: what lies
// between is in registers.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CHAIN_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CHAIN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/binary_chain.h"
#include "runtime/plan/kernel.h"

namespace halftone::simd {

inline constexpr int kMostChainOperands = 16;

struct ChainTask {
  DataType type = DataType::kFloat32;  // of all operands and the result: f32 or bf16
  std::vector<ChainStep> steps;        // one fewer than operands
  Activation activation = Activation::kNone;
  float alpha = 0, beta = 0;
  // Loops from the outermost to the innermost, in the order in which the result lies, which is dense; and for each
  // operand its strides in elements, 0 where it is broadcast.
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;
};

// Its inputs are the operands in their order. An operand that lies as the result does may be the result's memory.
// nullptr: there is no loop for these steps.
std::unique_ptr<Step> MakeChainStep(ChainTask task);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CHAIN_H_
