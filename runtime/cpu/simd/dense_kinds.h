// The kinds of dense.h and block_product.h that dense.cc and block_product.cc choose among. REQUIRES: a CPU that has
// their instructions.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_DENSE_KINDS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_DENSE_KINDS_H_

#include "runtime/cpu/simd/block_product.h"
#include "runtime/cpu/simd/dense.h"

namespace halftone::simd {

void DenseF32(const DenseTask& task, int64_t first_panel, int64_t last_panel);   // dense_f32.cc
void DenseBf16(const DenseTask& task, int64_t first_panel, int64_t last_panel);  // dense_bf16.cc
void DenseBf16ToF32(const DenseTask& task, int64_t first_panel, int64_t last_panel);
void DenseU8(const DenseTask& task, int64_t first_panel, int64_t last_panel);  // dense_int8.cc
void DenseS8(const DenseTask& task, int64_t first_panel, int64_t last_panel);

// As BlockProduct::multiply.
void MultiplyF32(const BlockTask& task);   // dense_f32.cc
void MultiplyBf16(const BlockTask& task);  // dense_bf16.cc

void ReluOfRow(float* numbers, int64_t count);
void GeluOfRow(float* numbers, int64_t count);
void GeluTanhOfRow(float* numbers, int64_t count);
void TanhOfRow(float* numbers, int64_t count);
void SigmoidOfRow(float* numbers, int64_t count);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_DENSE_KINDS_H_
