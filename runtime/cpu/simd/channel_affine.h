// SPDX-License-Identifier: Apache-2.0
// Each channel of an image normalized by numbers of its own and given ones, channels next to each other: batch
// normalization whose statistics are known.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_AFFINE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_AFFINE_H_

#include <cstdint>
#include <vector>

namespace halftone::simd {

struct ChannelAffine {
  std::vector<float> means, factors, offsets;  // one per channel
  bool relu = false;
};

// y[pixel][c] = (x[pixel][c] - means[c]) * factors[c] + offsets[c], then relu where asked; y may be x. On the threads
// of the plan.
void NormalizeChannels(const ChannelAffine& affine, const float* x, int64_t pixels, float* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_AFFINE_H_
