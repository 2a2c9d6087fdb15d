// SPDX-License-Identifier: Apache-2.0
// What the instruction set that oneDNN uses can do.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_ISA_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_ISA_H_

#include <string_view>

namespace halftone {

struct Isa {
  const char* name = "other";  // as oneDNN spells it: "avx512_core_bf16"
  int vector_bits = 0;         // 0: not known
  bool native_int8 = false;    // VNNI: products of 8-bit integers are summed in 32 bits
  bool native_bf16 = false;    // multiplies bf16
  bool native_f16 = false;
  bool tiles = false;  // AMX: multiplies tiles of a matrix in bf16 and int8, eight times as fast as vectors
};

// Of dnnl::get_effective_cpu_isa(), which ONEDNN_MAX_CPU_ISA lowers. Thread-safe; the same all the time.
const Isa& CurrentIsa();

// The width of the vectors of oneDNN's implementation "brgconv:avx512_core_bf16"; 0: its name does not say it.
int VectorBitsOf(std::string_view implementation);

// Whether there is VNNI. Without it products of u8 and s8 are summed in pairs of 16 bits, which saturate
// (ir/pair_sums.h).
inline bool HasNativeInt8() { return CurrentIsa().native_int8; }
inline bool HasTiles() { return CurrentIsa().tiles; }

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_ISA_H_
