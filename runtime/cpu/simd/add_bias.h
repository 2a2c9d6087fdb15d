// SPDX-License-Identifier: Apache-2.0
// A bias after a product whose channels lie last, for oneDNN's primitives that add it number by number.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ADD_BIAS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ADD_BIAS_H_

#include <cstdint>

#include "ir/types.h"

namespace halftone::simd {

// y[r][c] = sums[r][c] + bias[c], rounded once, on the threads of the plan.
// REQUIRES: `to` is kFloat32 and y is `sums`, or it is kBFloat16 or kFloat16 and they do not overlap
void AddBiasToRows(const float* sums, const float* bias, int64_t rows, int64_t channels, DataType to, void* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ADD_BIAS_H_
