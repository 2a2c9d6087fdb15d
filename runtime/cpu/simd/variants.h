// SPDX-License-Identifier: Apache-2.0
// For which instructions this build has compiled loops: a compiler that does not honour the attributes of targets.h is
// noticed by variants_test.cc instead of by slow loops.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_VARIANTS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_VARIANTS_H_

#include <span>
#include <string_view>

namespace halftone::simd {

struct Variant {
  std::string_view instructions;  // "AVX-512 VNNI"
  std::string_view loops;         // which are compiled for them
  bool (*has)();                  // whether this CPU has them
  int (*probe)();                 // a function compiled in this way; REQUIRES: has()
};

// Empty where the build's CPU is none with such instructions.
std::span<const Variant> CompiledVariants();

// What each probe gives.
inline constexpr int kProbe = 136;

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_VARIANTS_H_
