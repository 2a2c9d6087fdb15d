// SPDX-License-Identifier: Apache-2.0
// Copies between tensors whose channels lie next to each other (channels last): concatenation and its inverse, and two
// tensors whose channels take turns (the channel shuffle of ShuffleNet). A pixel is a run of channels.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_COPY_H_
#define HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/types.h"

namespace halftone::simd {

// Some channels of all pixels.
struct ChannelPart {
  const std::byte* from = nullptr;
  int64_t from_step = 0;  // bytes from pixel to pixel
  int64_t bytes = 0;      // of one pixel
  int64_t to = 0;         // where they go in a pixel of the result, in bytes
};

// Pixels [first, last) of a result; addresses are those of pixel 0.
struct Pixels {
  std::byte* to = nullptr;
  int64_t to_step = 0;  // bytes from pixel to pixel
  int64_t first = 0, last = 0;
};

void CopyChannels(std::span<const ChannelPart> parts, const Pixels& pixels);

// a0 b0 a1 b1 ... in each pixel, of elements of 1, 2 or 4 bytes. REQUIRES: a.bytes == b.bytes; `to` is not looked at
void InterleaveChannels(const ChannelPart& a, const ChannelPart& b, size_t element_bytes, const Pixels& pixels);

// Planes of f32, one per channel, as pixels: y[pixel][channel] = x[channel][pixel], in f32 or bf16.
// REQUIRES: 2 to 4 channels
void InterleavePlanes(const float* x, int64_t channels, int64_t pixels, DataType to, std::byte* y);
// The same for int8, unchanged. REQUIRES: 2 to 4 channels
void InterleaveBytePlanes(const std::byte* x, int64_t channels, int64_t pixels, std::byte* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_CHANNEL_COPY_H_
