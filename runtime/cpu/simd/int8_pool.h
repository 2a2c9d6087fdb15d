// SPDX-License-Identifier: Apache-2.0
// Max and average pools of int8 images, channels last.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_POOL_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_POOL_H_

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/simd/image_pool.h"
#include "runtime/cpu/simd/int8_finish.h"

namespace halftone::simd {

struct Int8Pool {
  DataType src = DataType::kUInt8;  // u8 or s8
  bool include_pad = false;         // average: what lies in the padding counts as the number 0
  int64_t images = 1, channels = 1;
  PoolAxis rows, columns;
  // Average: of src, and what is written.
  float scale = 1;
  int32_t zero_point = 0;
  Int8Finish finish;
};

size_t Int8PoolScratch(const Int8Pool& pool, int threads);

// The largest integers, as they are: x and y have one quantization. Any number of channels; x and y are dense.
// REQUIRES: no window without elements
void MaxPoolInt8(const Int8Pool& pool, const std::byte* x, std::byte* y, std::byte* scratch);
// The average of real numbers, from exact sums. REQUIRES: as above
void AveragePoolInt8(const Int8Pool& pool, const std::byte* x, std::byte* y, std::byte* scratch);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_POOL_H_
