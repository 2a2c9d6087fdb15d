// SPDX-License-Identifier: Apache-2.0
// The kinds of skinny_matmul.h and block_matmul.h that skinny_matmul.cc and block_matmul.cc choose among. REQUIRES: a CPU that has
// their instructions.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_KINDS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_KINDS_H_

#include "runtime/cpu/simd/block_matmul.h"
#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::simd {

void SkinnyMatMulF32(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);   // skinny_matmul_f32.cc
void SkinnyMatMulBf16(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);  // skinny_matmul_bf16.cc
void SkinnyMatMulBf16ToF32(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);
void SkinnyMatMulU8(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);  // skinny_matmul_int8.cc
void SkinnyMatMulS8(const SkinnyMatMulTask& task, int64_t first_panel, int64_t last_panel);

// As BlockMatMul::multiply.
void MultiplyF32(const BlockTask& task);   // skinny_matmul_f32.cc
void MultiplyBf16(const BlockTask& task);  // skinny_matmul_bf16.cc

void ReluOfRow(float* numbers, int64_t count);
void GeluOfRow(float* numbers, int64_t count);
void GeluTanhOfRow(float* numbers, int64_t count);
void TanhOfRow(float* numbers, int64_t count);
void SigmoidOfRow(float* numbers, int64_t count);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_SKINNY_MATMUL_KINDS_H_
