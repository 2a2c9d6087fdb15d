// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/channel_affine.h"

#include <algorithm>
#include <limits>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

HALFTONE_SIMD void Rows(const float* means, const float* factors, const float* offsets, float low, int64_t channels,
                        const float* x, int64_t pixels, float* y) {
  for (int64_t pixel = 0; pixel < pixels; ++pixel, x += channels, y += channels) {
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const float v = (x[c] - means[c]) * factors[c] + offsets[c];
      y[c] = v < low ? low : v;
    }
  }
}

}  // namespace

void NormalizeChannels(const ChannelAffine& affine, const float* x, int64_t pixels, float* y) {
  const int64_t channels = static_cast<int64_t>(affine.means.size());
  const float low = affine.relu ? 0.0f : -std::numeric_limits<float>::infinity();
  ParallelFor(pixels, std::max<int64_t>(1, kGrain / channels), [&](int64_t first, int64_t last) {
    Rows(affine.means.data(), affine.factors.data(), affine.offsets.data(), low, channels, x + first * channels,
         last - first, y + first * channels);
  });
}

}  // namespace halftone::simd
