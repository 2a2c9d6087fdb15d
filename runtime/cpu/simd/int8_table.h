// SPDX-License-Identifier: Apache-2.0
// y[i] = table[x[i]], for int8.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_TABLE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace halftone::simd {

// 256 entries of 1, 2 or 4 bytes, by the byte's bits. Elements may be written over where entries have 1 byte. On the
// threads of the plan.
void LookUp(const std::byte* table, size_t entry_bytes, const std::byte* x, int64_t count, std::byte* y);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_TABLE_H_
