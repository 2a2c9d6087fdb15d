// SPDX-License-Identifier: Apache-2.0
// Resize in SIMD loops: one pass an axis, each output position a weighted sum of input positions.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_RESIZE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_RESIZE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/resize_taps.h"
#include "runtime/plan/kernel.h"

namespace halftone::simd {

// x's dimensions in the order in which they lie in memory, densely; `axes` count in that order. The result lies in the
// same order. type: f32 or bf16. Writes the bytes of scratch memory that it needs to `scratch_bytes`.
std::unique_ptr<Step> MakeResizeStep(DataType type, std::vector<int64_t> dims, const std::vector<ResizedAxis>& axes,
                                     double extrapolation, size_t& scratch_bytes);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_RESIZE_H_
