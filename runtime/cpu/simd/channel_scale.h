// SPDX-License-Identifier: Apache-2.0
// Each channel of an image multiplied by a number of its own (squeeze and excitation), channels next to each other.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_SCALE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_SCALE_H_

#include <cstddef>
#include <cstdint>

#include "ir/types.h"

namespace halftone::simd {

// y[pixel][c] = x[pixel][c] * scale[c]; y may be x. REQUIRES: f32 or bf16; channels >= 32
void ScaleChannels(DataType type, const std::byte* x, const std::byte* scale, int64_t channels, int64_t pixels,
                   std::byte* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_SCALE_H_
