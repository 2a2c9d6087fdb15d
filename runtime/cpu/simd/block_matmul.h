// SPDX-License-Identifier: Apache-2.0
// Products of some rows with up to 64 columns that a cache holds: what an attention of blocks is made of.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_BLOCK_MATMUL_H_
#define HALFTONE_RUNTIME_CPU_SIMD_BLOCK_MATMUL_H_

#include <cstdint>

#include "ir/types.h"

namespace halftone::simd {

// to [rows][columns], in f32, = x [rows][steps * depth] times the panel [steps][columns][depth]. `to` and the steps of
// the panel are 64-byte aligned and have room for whole vectors of 16 columns.
struct BlockTask {
  const void* x = nullptr;
  int64_t x_stride = 0;  // elements from row to row
  int64_t rows = 0;
  const void* panel = nullptr;
  int64_t step_bytes = 0;  // from step to step
  int64_t steps = 0;
  int64_t columns = 0;  // 1 to 64
  float* to = nullptr;
  int64_t to_stride = 0;  // a multiple of 16
};

struct BlockMatMul {
  DataType type = DataType::kFloat32;  // of x and the panel
  int64_t depth = 1;                   // elements of a row of x in a step
  void (*multiply)(const BlockTask& task) = nullptr;
  int lanes = 4;  // of a vector: 16 of AVX-512 and 8 of AVX2 are as fast as oneDNN's
};

// For elements of this type, f32 or bf16, on this CPU: bf16 without instructions for it is multiplied in f32.
BlockMatMul BlockMatMulFor(DataType type);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_BLOCK_MATMUL_H_
