// Products of some rows with 64 columns that a cache holds: what an attention of blocks is made of.
#ifndef HALFTONE_RUNTIME_HOST_BLOCK_PRODUCT_H_
#define HALFTONE_RUNTIME_HOST_BLOCK_PRODUCT_H_

#include <cstdint>

#include "ir/types.h"

namespace halftone::host {

struct BlockProduct {
  DataType type = DataType::kFloat32;  // of x and the panel
  int64_t depth = 1;                   // elements of a row of x in a step
  // to [rows][64] = x [rows][steps * depth] times the panel [steps][64][depth], in f32. Rows of x lie `stride` elements
  // apart, rows of `to` to_stride, a multiple of 16; `to` and the panel are 64-byte aligned.
  void (*multiply)(const void* x, int64_t stride, int64_t rows, const void* panel, int64_t steps, float* to,
                   int64_t to_stride) = nullptr;
};

// For elements of this type, f32 or bf16, on this CPU: bf16 without instructions for it is multiplied in f32.
BlockProduct BlockProductFor(DataType type);

}  // namespace halftone::host

#endif  // HALFTONE_RUNTIME_HOST_BLOCK_PRODUCT_H_
