// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of int8 values with scales, one after the other, computed in f32: a few hundred elements at a
// time, which stay in the nearest cache.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_CHAIN_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_CHAIN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/binary_chain.h"
#include "runtime/cpu/simd/int8_finish.h"
#include "runtime/plan/kernel.h"

namespace halftone::simd {

struct Int8ChainOperand {
  DataType type = DataType::kUInt8;  // u8, s8, f32 or bf16
  float scale = 1;                   // of u8 and s8
  int32_t zero_point = 0;
  std::vector<int64_t> strides;  // in elements, one for each of the task's dims; 0 where it is broadcast
};

struct Int8ChainTask {
  std::vector<Int8ChainOperand> operands;
  std::vector<ChainStep> steps;  // one fewer than operands; none: a copy with another quantization
  Int8Finish finish;
  std::vector<int64_t> dims;  // from the outermost to the innermost, in the order in which the dense result lies
};

// Its inputs are the operands in their order; none is the result's memory. nullptr: there is no loop for these steps.
std::unique_ptr<Step> MakeInt8ChainStep(Int8ChainTask task);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_CHAIN_H_
