// SPDX-License-Identifier: Apache-2.0
// Max and average pools of images whose channels lie next to each other, f32 and bf16.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_IMAGE_POOL_H_
#define HALFTONE_RUNTIME_CPU_SIMD_IMAGE_POOL_H_

#include <cstddef>
#include <cstdint>

#include "ir/types.h"

namespace halftone::simd {

// One dimension of the window.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, pad_begin = 0, pad_end = 0;
};

struct ImagePool {
  bool max = false;
  bool include_pad = false;  // average: what lies in the padding counts as 0
  int64_t images = 1, channels = 1;
  PoolAxis rows, columns;
  int64_t image_step = 0, row_step = 0;  // of x, in elements; pixels are dense, and y is
};

// So many channels are worked on at once.
int64_t PoolLanes(DataType type);

size_t PoolScratch(const ImagePool& pool, int threads);

// REQUIRES: channels >= PoolLanes; f32 or bf16; no window without elements. A NaN may be lost, as it is in oneDNN's.
void PoolImages(const ImagePool& pool, DataType type, const std::byte* x, std::byte* y, std::byte* scratch);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_IMAGE_POOL_H_
